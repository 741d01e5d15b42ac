import type { FileHandle } from 'node:fs/promises';
import { AppError } from '../../core/errors/app-error.ts';
import { matchesEntityTag, sendNotModified } from '../exchange/entity-tag.ts';
import type { Exchange } from '../exchange/exchange.ts';

export interface SentFile {
  /** Open, so that its bytes stay the same also when its name is given to others. Closed when it is sent. */
  readonly file: FileHandle;
  readonly bytes: number;
}

const readBytes = 512 * 1024;

/**
 * Sends a file with its length. With `etag`, which must change with its bytes, clients may request a range of them and resume a
 * broken download.
 */
export async function sendFile(
  exchange: Exchange,
  { file, bytes }: SentFile,
  described: readonly string[],
  etag?: string,
): Promise<void> {
  const { requestHeaders, headers } = exchange;
  if (etag !== undefined && matchesEntityTag(requestHeaders['if-none-match'], etag)) {
    return sendNotModified(exchange, etag);
  }
  const range = etag === undefined ? undefined : wantedRange(exchange, bytes, etag);
  if (etag !== undefined) headers.push('accept-ranges', 'bytes');
  if (range === 'unsatisfiable') {
    headers.push('content-range', `bytes */${bytes}`, 'content-length', '0');
    return exchange.send(416);
  }
  if (etag !== undefined) headers.push('etag', etag, 'last-modified', (await file.stat()).mtime.toUTCString());
  const { from, to } = range ?? { from: 0, to: bytes };
  headers.push(...described, 'content-length', String(to - from));
  if (range !== undefined) headers.push('content-range', `bytes ${from}-${to - 1}/${bytes}`);
  const status = range === undefined ? 200 : 206;
  if (exchange.method === 'HEAD' || from === to) return exchange.send(status);
  await exchange.sendPieces(status, piecesOf(file, { from, to }, exchange.signal));
}

async function* piecesOf(file: FileHandle, { from, to }: ByteRange, signal: AbortSignal): AsyncGenerator<Buffer> {
  let sent = 0;
  for await (const piece of file.createReadStream({ start: from, end: to - 1, highWaterMark: readBytes })) {
    signal.throwIfAborted();
    yield piece as Buffer;
    sent += (piece as Buffer).length;
  }
  if (sent !== to - from) throw new AppError('internal', 'a file became shorter while it was sent');
}

/** Bytes [from, to). */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

function wantedRange(
  { method, requestHeaders }: Exchange,
  bytes: number,
  etag: string,
): ByteRange | 'unsatisfiable' | undefined {
  const ifRange = requestHeaders['if-range'];
  if (method !== 'GET' || (ifRange !== undefined && ifRange !== etag)) return undefined;
  return parseRange(requestHeaders.range, bytes);
}

/** One range of bytes (RFC 9110). Several ranges, other units and malformed ones are ignored. */
function parseRange(text: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes\s*=\s*(\d*)-(\d*)\s*$/i.exec(text ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const from = Math.max(0, bytes - Number(last));
    return from < bytes ? { from, to: bytes } : 'unsatisfiable';
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return undefined;
  if (from >= bytes) return 'unsatisfiable';
  return { from, to: last === '' ? bytes : Math.min(bytes, Number(last) + 1) };
}
