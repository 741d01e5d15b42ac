import { codingPlace } from './coded-pieces.ts';
import { type ContentCoding, compress, minCompressedBytes } from './content-coding.ts';
import { entityTag, matchesEntityTag, sendNotModified } from './entity-tag.ts';
import type { Exchange } from './exchange.ts';

export interface BodyDescription {
  /** Headers of the body: names and values in turn. */
  readonly headers: readonly string[];
  readonly coding: ContentCoding | undefined;
  /** Undefined: the same request may get another answer the next time. */
  readonly versionId?: string | undefined;
}

/** A whole body in its sent form. */
export interface Page {
  readonly body: Uint8Array | string;
  readonly bytes: number;
  readonly coding: ContentCoding | undefined;
}

/** Bodies up to this size are sent in one piece with Content-Length. Errors before that still become error responses. */
const maxPageBytes = 1024 * 1024;

/** Sends a document: in one write if it is small, else piece by piece. Returns the page if it was sent whole. */
export async function sendBody(
  exchange: Exchange,
  body: AsyncGenerator<Uint8Array, void, undefined>,
  description: BodyDescription,
): Promise<Page | undefined> {
  try {
    if (sendIfKnown(exchange, description)) return undefined;
    const begun: Uint8Array[] = [];
    for (let bytes = 0; bytes <= maxPageBytes; ) {
      const step = await body.next();
      if (step.done === true) {
        const page = await makePage(exchange, Buffer.concat(begun, bytes), description.coding);
        sendPage(exchange, page, description);
        return page;
      }
      begun.push(step.value);
      bytes += step.value.byteLength;
    }
    const { coding } = description;
    pushHeaders(exchange, description, coding);
    if (exchange.method === 'HEAD') exchange.send(200);
    else await exchange.sendPieces(200, concat(begun, body), coding);
    return undefined;
  } finally {
    // Also if the client left before the first row: they hold a worker.
    await body.return();
  }
}

export function sendPage(exchange: Exchange, page: Page, description: BodyDescription): void {
  if (sendIfKnown(exchange, description)) return;
  pushHeaders(exchange, description, page.coding);
  exchange.headers.push('content-length', String(page.bytes));
  exchange.send(200, page.body);
}

/** Sends only the head. */
export function sendHead(exchange: Exchange, description: BodyDescription): void {
  if (sendIfKnown(exchange, description)) return;
  pushHeaders(exchange, description, description.coding);
  exchange.send(200);
}

function sendIfKnown(exchange: Exchange, description: BodyDescription): boolean {
  const etag = knownTag(exchange, description);
  if (etag !== undefined) sendNotModified(exchange, etag);
  return etag !== undefined;
}

/** The tag by which the client has it already; a body too small for its coding has the tag without one. */
export function knownTag(
  { requestHeaders }: Exchange,
  { versionId, coding }: Pick<BodyDescription, 'versionId' | 'coding'>,
): string | undefined {
  const ifNoneMatch = requestHeaders['if-none-match'];
  if (ifNoneMatch === undefined || versionId === undefined) return undefined;
  const tags = [entityTag(versionId, coding), entityTag(versionId, undefined)];
  return tags.find((tag) => matchesEntityTag(ifNoneMatch, tag));
}

function pushHeaders(exchange: Exchange, description: BodyDescription, coding: ContentCoding | undefined): void {
  const { headers } = exchange;
  const { versionId } = description;
  headers.push(...description.headers);
  if (coding !== undefined) headers.push('content-encoding', coding);
  if (versionId !== undefined) headers.push('etag', entityTag(versionId, coding));
  headers.push(...exchange.cacheControl(versionId === undefined ? 'no-store' : 'no-cache'));
}

async function makePage({ lane }: Exchange, body: Buffer, coding: ContentCoding | undefined): Promise<Page> {
  if (coding === undefined || body.length < minCompressedBytes) return { body, bytes: body.length, coding: undefined };
  const release = await codingPlace(lane);
  try {
    const coded = await compress(body, coding);
    return { body: coded, bytes: coded.length, coding };
  } finally {
    release();
  }
}

async function* concat(
  begun: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* begun;
  yield* rest;
}
