import { type ContentCoding, compress, minCompressedBytes } from '../exchange/content-coding.ts';
import { entityTag, matchesEntityTag, notModified } from '../exchange/entity-tag.ts';
import type { Exchange } from '../exchange/route.ts';
import { sendStream } from '../exchange/send-stream.ts';

export interface ExportDescription {
  /** What the body is: names and values in turn. */
  readonly headers: readonly string[];
  readonly coding: ContentCoding | undefined;
  /** Undefined: the same request may give something else the next time. */
  readonly versionId: string | undefined;
}

/** So much is made before the answer begins: errors of the first rows still have a status, and small bodies a length. */
const begunBytes = 1024 * 1024;

/** Sends a document piece by piece, or only its head where the request is for that. */
export async function sendExport(
  exchange: Exchange,
  body: AsyncGenerator<Uint8Array, void, undefined>,
  description: ExportDescription,
): Promise<void> {
  const { request, response, headers } = exchange;
  const { coding } = description;
  try {
    const known = knownTag(exchange, description);
    if (known !== undefined) return notModified(exchange, known);
    if (request.method === 'HEAD') {
      headers.push(...entityHeaders(description, coding));
      response.writeHead(200, headers);
      response.end();
      return;
    }
    const begun: Uint8Array[] = [];
    for (let bytes = 0; bytes <= begunBytes; ) {
      const step = await body.next();
      if (step.done === true) return await sendWhole(exchange, Buffer.concat(begun, bytes), description);
      begun.push(step.value);
      bytes += step.value.byteLength;
    }
    headers.push(...entityHeaders(description, coding));
    response.writeHead(200, headers);
    await sendStream(response, begun, body, coding);
  } finally {
    // Also where the client left before the rows were touched: they hold a worker.
    await body.return();
  }
}

async function sendWhole(
  { response, headers }: Exchange,
  whole: Buffer,
  description: ExportDescription,
): Promise<void> {
  const coding = whole.length < minCompressedBytes ? undefined : description.coding;
  const body = coding === undefined ? whole : await compress(whole, coding);
  headers.push(...entityHeaders(description, coding), 'content-length', String(body.length));
  response.writeHead(200, headers);
  response.end(body);
}

function entityHeaders(description: ExportDescription, coding: ContentCoding | undefined): string[] {
  const { headers, versionId } = description;
  const coded = coding === undefined ? [] : ['content-encoding', coding];
  if (versionId === undefined) return [...headers, ...coded, 'cache-control', 'no-store'];
  return [...headers, ...coded, 'etag', entityTag(versionId, coding), 'cache-control', 'no-cache'];
}

/** The tag by which the client has it already; a body too small for its coding has the plain one. */
function knownTag({ request }: Exchange, { versionId, coding }: ExportDescription): string | undefined {
  if (versionId === undefined) return undefined;
  const tags = [entityTag(versionId, coding), entityTag(versionId, undefined)];
  return tags.find((tag) => matchesEntityTag(request.headers['if-none-match'], tag));
}
