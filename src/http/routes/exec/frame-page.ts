import type { CacheSpace } from '../../../cache/byte-cache.ts';
import { AppError } from '../../../core/app-error.ts';
import type { ChunkForm } from '../../../core/frame-engine.ts';
import { execJsonHead, execJsonTail } from '../../../encoding/rows/exec-json.ts';
import type { FrameReader } from '../../../frames/read/frame-reader.ts';
import type { FrameStore } from '../../../frames/store.ts';
import { type ContentCoding, chooseCoding, compress, minCompressedBytes } from '../../exchange/content-coding.ts';
import { entityTag, matchesEntityTag, notModified } from '../../exchange/entity-tag.ts';
import { jsonContentType } from '../../exchange/error-response.ts';
import { retryReplaced } from '../../exchange/newest-version.ts';
import { answerInTime } from '../../exchange/response-writer.ts';
import type { Exchange } from '../../exchange/route.ts';
import { fairnessLane } from '../../exchange/route.ts';
import { checkMaximum } from '../../exchange/row-limit.ts';
import { sendStream } from '../../exchange/send-stream.ts';
import type { ExecSettings, ReadHandle } from './command.ts';

export interface PageSource {
  readonly frames: FrameStore;
  /** Bodies that were asked for before, under the version's id. */
  readonly pages: CacheSpace<Page>;
}

/** Bodies up to this size are made whole, sent with their length and kept for the next reader. */
const maxPageBytes = 1024 * 1024;
const maxTextBytes = 8 * 1024;

/** Answers with rows of a frame: from memory where the same page was asked for before. */
export function readHandle(
  command: ReadHandle,
  exchange: Exchange,
  { frames, pages }: PageSource,
  settings: ExecSettings,
): void | Promise<void> {
  const coding = settings.compression ? chooseCoding(exchange.request.headers['accept-encoding']) : undefined;
  if (settings.compression) exchange.headers.push('vary', 'Accept-Encoding');
  const versionId = frames.peek(exchange.principal, command.handle);
  if (versionId !== undefined) {
    const page = pages.get(versionId, pageKey(command, coding));
    if (page !== undefined) return sendPage(exchange, page, versionId);
  }
  return retryReplaced(exchange, () => readPage(command, exchange, { frames, pages }, settings, coding));
}

/** A whole body, as it goes out. */
export interface Page {
  /** As text where it is short: Node then sends head and body in one piece. */
  readonly body: Uint8Array | string;
  readonly bytes: number;
  readonly coding: ContentCoding | undefined;
}

async function readPage(
  command: ReadHandle,
  exchange: Exchange,
  { frames, pages }: PageSource,
  settings: ExecSettings,
  coding: ContentCoding | undefined,
): Promise<void> {
  const { request, response, headers } = exchange;
  const signal = answerInTime(response, settings.requestTimeoutMs);
  await using reader = await frames.open(exchange.principal, command.handle, { signal });
  const from = Math.min(command.range.from, reader.rows);
  const to = Math.min(command.range.to, reader.rows);
  checkMaximum(to - from, settings.maxLimit, command.limitText);
  const etag = entityTag(reader.versionId, coding);
  if (matchesEntityTag(request.headers['if-none-match'], etag)) return notModified(exchange, etag);
  const body = execJson(reader, command, from, to, signal, fairnessLane(exchange));
  try {
    const begun: Uint8Array[] = [];
    let bytes = 0;
    while (bytes <= maxPageBytes) {
      const step = await body.next();
      if (step.done === true) {
        const page = await makePage(Buffer.concat(begun, bytes), coding);
        pages.set(reader.versionId, pageKey(command, coding), page, page.bytes);
        return sendPage(exchange, page, reader.versionId);
      }
      begun.push(step.value);
      bytes += step.value.byteLength;
    }
    addSuccessHeaders(headers, etag);
    if (coding !== undefined) headers.push('content-encoding', coding);
    response.writeHead(200, headers);
    if (request.method === 'HEAD') response.end();
    else await sendStream(response, begun, body, coding);
  } finally {
    // Also where the client left before the rows were touched: they hold a worker.
    await body.return();
  }
}

/** The document in pieces. Each row ends with a comma, so the last one gives up its own. */
async function* execJson(
  reader: FrameReader,
  { handle, quoteLargeNum }: ReadHandle,
  from: number,
  to: number,
  signal: AbortSignal,
  lane: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const form: ChunkForm = quoteLargeNum ? 'exec-json-quoted' : 'exec-json';
  yield execJsonHead(`handle:${handle}`, reader.columns);
  let rows = 0;
  if (from < to) {
    for await (const piece of reader.rowsEncoded(form, from, to, { signal, lane })) {
      rows += piece.rows;
      yield rows === to - from ? piece.bytes.subarray(0, -1) : piece.bytes;
    }
  }
  if (rows !== to - from) throw new AppError('frame_damaged', `frame ${handle} ended early`);
  yield execJsonTail(rows);
}

async function makePage(body: Buffer, coding: ContentCoding | undefined): Promise<Page> {
  if (coding !== undefined && body.length >= minCompressedBytes) {
    const coded = await compress(body, coding);
    return { body: coded, bytes: coded.length, coding };
  }
  return { body: body.length <= maxTextBytes ? body.toString() : body, bytes: body.length, coding: undefined };
}

function sendPage(exchange: Exchange, page: Page, versionId: string): void {
  const { request, response, headers } = exchange;
  const etag = entityTag(versionId, page.coding);
  if (matchesEntityTag(request.headers['if-none-match'], etag)) {
    notModified(exchange, etag);
    return;
  }
  addSuccessHeaders(headers, etag);
  headers.push('content-length', String(page.bytes));
  if (page.coding !== undefined) headers.push('content-encoding', page.coding);
  response.writeHead(200, headers);
  response.end(request.method === 'HEAD' ? undefined : page.body);
}

function addSuccessHeaders(headers: string[], etag: string): void {
  headers.push('content-type', jsonContentType, 'etag', etag, 'cache-control', 'no-cache');
}

function pageKey({ range, quoteLargeNum }: ReadHandle, coding: ContentCoding | undefined): string {
  return `${quoteLargeNum ? 'q' : ''}${range.from}-${range.to}${coding ?? ''}`;
}
