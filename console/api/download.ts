import { call } from './request.ts';
import { token } from './session-token.ts';

/** Lets the browser save the result of a path of /exp or /exec. A link carries no token: a ticket replaces it, once. */
export async function downloadFile(path: string): Promise<void> {
  let href = path;
  if (token.peek() !== undefined) {
    const { ticket } = await call('POST /tickets', { body: { path } });
    href = `${path}&ticket=${encodeURIComponent(ticket)}`;
  }
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  link.click();
}
