import { request } from '../api/request.ts';
import { token } from '../api/session-token.ts';

/** More would not fit into the memory of the page. */
const maxBlobBytes = 200_000_000;

/** Lets the browser save what is at a path of the server. A link carries no token: then the file goes through the page. */
export async function downloadFile(path: string): Promise<void> {
  if (token.peek() === undefined) {
    followLink(path);
    return;
  }
  const response = await request(path);
  const length = Number(response.headers.get('content-length') ?? 0);
  if (length > maxBlobBytes) {
    await response.body?.cancel();
    throw new Error('the file is too large for the browser to take with a token: use curl');
  }
  const url = URL.createObjectURL(await response.blob());
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  followLink(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function followLink(href: string, name = ''): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
}
