import { jsonText, rowForms } from './rows/json-text.ts';
import { piecesOf, type RequestBody } from './transport.ts';

/** A row by the names of its columns. */
export type RowObject = Readonly<Record<string, unknown>>;

/** What a frame is made of: the bytes of a file of any format that the server reads, or rows. */
export type PutData =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | string
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | readonly RowObject[]
  | AsyncIterable<RowObject>;

export interface Upload {
  readonly body: RequestBody;
  /** Undefined: the server finds it out. */
  readonly format: 'ndjson' | 'csv' | undefined;
  readonly hasHeader?: true;
  readonly totalBytes: number | undefined;
}

const pieceCharacters = 256 * 1024;

/** Rows are sent as NDJSON, all else as it is. `types`: those of the columns, by name. */
export async function uploadOf(data: PutData, types?: Readonly<Record<string, string>>): Promise<Upload> {
  if (Array.isArray(data)) return data.length === 0 ? noRows(types) : rowUpload(data as readonly RowObject[]);
  if (typeof data === 'string') return uploadOf(new TextEncoder().encode(data));
  if (data instanceof ArrayBuffer) return uploadOf(new Uint8Array(data));
  if (data instanceof Uint8Array) return { body: data, format: undefined, totalBytes: data.length };
  if (data instanceof Blob) return { body: data, format: undefined, totalBytes: data.size };
  if (data instanceof ReadableStream) return streamUpload(piecesOf(data));
  if (typeof data === 'object' && Symbol.asyncIterator in data) return streamUpload(data);
  throw new TypeError('what is put is neither bytes, nor a Blob or a stream of them, nor rows');
}

/** Only the names of the columns. */
function noRows(types: Readonly<Record<string, string>> = {}): Upload {
  const names = Object.keys(types);
  if (names.length === 0) throw new TypeError('there are no rows, and no types that tell of columns');
  const body = `${names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')}\n`;
  return { body, format: 'csv', hasHeader: true, totalBytes: undefined };
}

/** In pieces: a text has at most half a gigabyte. */
function rowUpload(rows: readonly RowObject[]): Upload {
  const pieces: string[] = [];
  let piece = '';
  for (const row of rows) {
    piece += rowLine(row);
    if (piece.length < pieceCharacters) continue;
    pieces.push(piece);
    piece = '';
  }
  const body = new Blob([...pieces, piece]);
  return { body, format: 'ndjson', totalBytes: body.size };
}

/** The first piece tells whether these are rows. */
async function streamUpload(data: AsyncIterable<Uint8Array> | AsyncIterable<RowObject>): Promise<Upload> {
  const pieces = data[Symbol.asyncIterator]();
  const first = await pieces.next();
  const isRows = first.done !== true && !(first.value instanceof Uint8Array);
  const all = again<Uint8Array | RowObject>(first, pieces);
  const body = isRows ? lines(all as AsyncIterable<RowObject>) : (all as AsyncIterable<Uint8Array>);
  return { body, format: isRows ? 'ndjson' : undefined, totalBytes: undefined };
}

async function* again<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T, void, undefined> {
  try {
    for (let step = first; step.done !== true; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}

async function* lines(rows: AsyncIterable<RowObject>): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  let piece = '';
  for await (const row of rows) {
    piece += rowLine(row);
    if (piece.length < pieceCharacters) continue;
    yield encoder.encode(piece);
    piece = '';
  }
  if (piece !== '') yield encoder.encode(piece);
}

export function rowLine(row: RowObject): string {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw new TypeError('a row is no object by the names of its columns');
  }
  return `${jsonText(row, rowForms, 'the row')}\n`;
}
