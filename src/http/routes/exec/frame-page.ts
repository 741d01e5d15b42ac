import type { CacheSpace } from '../../../cache/byte-cache.ts';
import type { Principal } from '../../../core/callers/principal.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { RequestNotes } from '../../../core/logs/request-notes.ts';
import { execForm } from '../../../core/rows/frame-engine.ts';
import type { Frames } from '../../../frames/frames.ts';
import { type ContentCoding, chooseCoding } from '../../exchange/content-coding.ts';
import { jsonContentType } from '../../exchange/error-response.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { checkMaximum } from '../../exchange/row-limit.ts';
import { type BodyDescription, knownTag, type Page, sendBody, sendPage } from '../../exchange/send-body.ts';
import { execJsonBody } from '../../table/table-body.ts';
import type { ExecSettings, ReadHandle } from './command.ts';

/** A page of one version in its cached form. */
export interface FramePage extends Page {
  readonly version: number;
  readonly lineage: string;
  readonly rows: number;
}

export interface PageSource {
  readonly frames: Pick<Frames, 'read' | 'peek'>;
  /** Cached bodies, under the version's id. */
  readonly pages: CacheSpace<FramePage>;
}

/** Node sends head and body of a response in one piece where the body is text. */
const maxTextBytes = 8 * 1024;

/** Answers with rows of a frame: from memory if the same page was read before. */
export function readHandle(
  command: ReadHandle,
  exchange: Exchange,
  source: PageSource,
  settings: ExecSettings,
): void | Promise<void> {
  const coding = settings.compression ? chooseCoding(exchange.requestHeaders['accept-encoding']) : undefined;
  if (settings.compression) exchange.headers.push('vary', 'Accept-Encoding');
  const versionId = source.frames.peek(exchange.principal, command.handle);
  if (versionId !== undefined) {
    const page = source.pages.get(versionId, pageKey(exchange.principal, command, coding));
    if (page !== undefined) {
      if (command.version !== undefined) assertVersion(command, versionId, page.lineage);
      if (exchange.record !== undefined) notePage(exchange.record.notes, command, page);
      return sendPage(exchange, page, describeBody(versionId, coding));
    }
  }
  return readPage(command, exchange, source, settings, coding);
}

async function readPage(
  command: ReadHandle,
  exchange: Exchange,
  { frames, pages }: PageSource,
  { requestTimeoutMs, maxLimit }: ExecSettings,
  coding: ContentCoding | undefined,
): Promise<void> {
  const { handle, range, limitText } = command;
  const { principal, signal, lane } = exchange;
  exchange.answerWithin(requestTimeoutMs);
  await using rows = await frames.read(
    principal,
    {
      handle,
      ...range,
      form: execForm(command),
      needsRows({ count, versionId, lineage }) {
        if (command.version !== undefined) assertVersion(command, versionId, lineage);
        checkMaximum(count, maxLimit, limitText);
        return knownTag(exchange, { versionId, coding }) === undefined;
      },
    },
    { signal, lane },
  );
  const { versionId, version, lineage, count } = rows;
  const body = execJsonBody({ query: `handle:${handle}` }, rows, true);
  const page = await sendBody(exchange, body, describeBody(versionId, coding));
  if (page === undefined || versionId === undefined) return;
  const kept = { ...asText(page), version, lineage, rows: count };
  pages.set(versionId, pageKey(principal, command, coding), kept, page.bytes);
}

function assertVersion({ handle, version }: ReadHandle, versionId: string | undefined, lineage: string): void {
  if (version === versionId || version === lineage) return;
  throw new AppError(
    'frame_changed',
    `${handle} is at version ${versionId ?? lineage}, not at the one that was asked for`,
    {
      hint: 'begin anew with the rows of the newer one',
    },
  );
}

function notePage(notes: RequestNotes, { handle }: ReadHandle, { version, rows }: FramePage): void {
  notes.frame(handle, 'read').version = version;
  notes.addRows(rows);
}

function describeBody(versionId: string | undefined, coding: ContentCoding | undefined): BodyDescription {
  return { headers: ['content-type', jsonContentType], versionId, coding };
}

function asText(page: Page): Page {
  const isShort = page.coding === undefined && page.bytes <= maxTextBytes;
  return isShort ? { ...page, body: page.body.toString() } : page;
}

/**
 * With the name, which is in the body: a frame has different names for its owner and for tenants that it is shared with. With the
 * tenant, because a copy of one's frames has their version ids, and may grow in another way.
 */
function pageKey(
  { tenant }: Principal,
  { handle, range, quoteLargeNum, quoteNonFinite }: ReadHandle,
  coding: ContentCoding | undefined,
): string {
  return `${tenant} ${handle} ${quoteLargeNum ? 'q' : ''}${quoteNonFinite ? 'n' : ''}${range.from}-${range.to}${coding ?? ''}`;
}
