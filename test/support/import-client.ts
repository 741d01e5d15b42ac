import { type OutgoingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { anonymous } from '../../src/auth/identify.ts';
import type { Framehold } from './framehold.ts';
import { type Answer, ask } from './http-client.ts';
import { privateFiles } from './private-files.ts';

export type Parts = Readonly<
  Record<string, string | { readonly bytes: string | Uint8Array; readonly fileName: string }>
>;

/** Sends a file as the body. */
export function importRaw(
  { url }: Pick<Framehold, 'url'>,
  query: string,
  body: string | Uint8Array,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> {
  return ask(`${url}/imp?${query}`, { method: 'POST', body, headers });
}

/** Sends a form as browsers do. */
export async function importForm({ url }: Pick<Framehold, 'url'>, query: string, parts: Parts): Promise<Answer> {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') form.append(name, part);
    else form.append(name, new Blob([Buffer.from(part.bytes)]), part.fileName);
  }
  const encoded = new Response(form);
  const body = Buffer.from(await encoded.arrayBuffer());
  return importRaw({ url }, query, body, { 'content-type': encoded.headers.get('content-type') ?? '' });
}

/** Sends the beginning of a body and goes away. Resolves when the connection is closed. */
export function breakOff(url: string, query: string, begin: Uint8Array, headers: OutgoingHttpHeaders): Promise<void> {
  return new Promise((resolve) => {
    const outgoing = request(`${url}/imp?${query}`, { method: 'POST', agent: false, headers });
    outgoing.on('error', () => {});
    outgoing.on('close', resolve);
    outgoing.write(begin, () => outgoing.destroy());
  });
}

/** Every handle, and every file on its way in or out: possible leftovers. */
export async function leftBehind({ frames, dataDir }: Framehold): Promise<{ handles: string[]; files: string[] }> {
  const handles: string[] = [];
  for await (const { handle } of frames.list(anonymous)) handles.push(handle);
  const files = privateFiles(join(dataDir, 'cold'), 'tmp');
  return { handles, files };
}
