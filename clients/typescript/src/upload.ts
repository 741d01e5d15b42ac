import { ColumnKinds, namedType } from './rows/column-kinds.ts';
import { jsonText, rowForms } from './rows/json-text.ts';
import { piecesOf, type RequestBody } from './transport.ts';

/** A row by the names of its columns. */
export type RowObject = Readonly<Record<string, unknown>>;

/** The source of a frame: the bytes of a file of any format that the server reads, or rows. */
export type PutData =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | string
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | readonly RowObject[]
  | AsyncIterable<RowObject>;

type Types = Readonly<Record<string, string>>;

/** Known facts about the columns. */
export interface ColumnOptions {
  /** By name. */
  readonly types?: Types | undefined;
  /** Whether the rows may be for an existing frame, whose types count. */
  readonly isAppend?: boolean | undefined;
}

export interface Upload {
  readonly body: RequestBody;
  /** Undefined: the server finds it out. */
  readonly format: 'ndjson' | 'csv' | undefined;
  readonly hasHeader?: true;
  /** Of columns, by name. */
  readonly types?: Types | undefined;
  readonly totalBytes: number | undefined;
}

const pieceCharacters = 256 * 1024;

/** Rows are sent as NDJSON, all else as it is. */
export async function uploadOf(data: PutData, options: ColumnOptions = {}): Promise<Upload> {
  const { types } = options;
  if (Array.isArray(data)) return data.length === 0 ? noRows(types) : rowUpload(data as readonly RowObject[], options);
  if (typeof data === 'string') return uploadOf(new TextEncoder().encode(data));
  if (data instanceof ArrayBuffer) return uploadOf(new Uint8Array(data));
  if (data instanceof Uint8Array) return { body: data, format: undefined, totalBytes: data.length };
  if (data instanceof Blob) return { body: data, format: undefined, totalBytes: data.size };
  if (data instanceof ReadableStream) return streamUpload(piecesOf(data), options);
  if (typeof data === 'object' && Symbol.asyncIterator in data) return streamUpload(data, options);
  throw new TypeError('what is put is neither bytes, nor a Blob or a stream of them, nor rows');
}

/** Only the names of the columns. */
function noRows(types: Types = {}): Upload {
  const names = Object.keys(types);
  if (names.length === 0) throw new TypeError('there are no rows, and no types that tell of columns');
  const body = `${names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')}\n`;
  return { body, format: 'csv', hasHeader: true, types, totalBytes: undefined };
}

/** In pieces: a text has at most half a gigabyte. */
function rowUpload(rows: readonly RowObject[], { types = {}, isAppend }: ColumnOptions): Upload {
  const kinds = isAppend === true ? undefined : new ColumnKinds(Object.keys(types));
  const pieces: string[] = [];
  let piece = '';
  for (const row of rows) {
    piece += rowLine(row);
    kinds?.add(row);
    if (piece.length < pieceCharacters) continue;
    pieces.push(piece);
    piece = '';
  }
  const body = new Blob([...pieces, piece]);
  const doubles = [...(kinds?.notFinite ?? [])].map((name) => [name, 'DOUBLE']);
  return { body, format: 'ndjson', types: { ...types, ...Object.fromEntries(doubles) }, totalBytes: body.size };
}

async function streamUpload(data: PutStream, options: ColumnOptions): Promise<Upload> {
  const { isRows, all } = await peeked(data);
  const body = isRows ? lines(all as AsyncIterable<RowObject>, options) : (all as AsyncIterable<Uint8Array>);
  return { body, format: isRows ? 'ndjson' : undefined, types: options.types, totalBytes: undefined };
}

type PutStream = AsyncIterable<Uint8Array> | AsyncIterable<RowObject>;

/** The first piece shows whether these are rows. */
export async function peeked(data: PutStream): Promise<{ readonly isRows: boolean; readonly all: PutStream }> {
  const pieces = data[Symbol.asyncIterator]();
  const first = await pieces.next();
  const isRows = first.done !== true && !(first.value instanceof Uint8Array);
  return { isRows, all: again<Uint8Array | RowObject>(first, pieces) as PutStream };
}

async function* again<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T, void, undefined> {
  try {
    for (let step = first; step.done !== true; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}

async function* lines(
  rows: AsyncIterable<RowObject>,
  { types = {}, isAppend }: ColumnOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const kinds = isAppend === true ? undefined : new ColumnKinds(Object.keys(types));
  const encoder = new TextEncoder();
  let piece = '';
  for await (const row of rows) {
    piece += rowLine(row);
    kinds?.add(row);
    // The types were sent before the rows.
    for (const name of kinds?.notFinite ?? []) {
      throw new TypeError(
        `column ${JSON.stringify(name)} of a stream has NaN or infinity: ${namedType(name, 'DOUBLE')}`,
      );
    }
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
