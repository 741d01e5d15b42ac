import { type Batch, type Column, CR, LF, QUOTE } from '@framehold/columns';
import { batchOf, columnNames, isPlainText, isSame, textStepBytes, valueColumns } from '../text/text-batch.ts';
import type { ValueColumn } from '../text/value-column.ts';

export interface CsvBatchOptions {
  /** Columns of the frame for the rows. */
  readonly columns: readonly Column[];
  /** Undefined: found out. */
  readonly delimiter: string | undefined;
  readonly hasHeader: boolean | undefined;
}

export interface CsvBatch {
  readonly batch: Batch;
  readonly delimiter: string;
  readonly hasHeader: boolean;
}

const delimiters = [',', ';', '\t', '|'];
const malformed = -1;

/**
 * The rows of a small CSV for a frame, as the engine's import would store them, in steps of less than a millisecond; undefined
 * wherever that is not certain: the import reads more, and reports the faults of a file. The header has the columns of the frame, in
 * its order.
 */
export function* csvBatch(
  bytes: Uint8Array,
  { columns, ...options }: CsvBatchOptions,
): Generator<void, CsvBatch | undefined> {
  if (!isPlainText(bytes)) return undefined;
  const line = firstLine(bytes);
  const delimiter = line === undefined ? undefined : delimiterOf(bytes, line.end, options.delimiter);
  const values = valueColumns(columns);
  if (line === undefined || delimiter === undefined || values === undefined) return undefined;
  const code = delimiter.charCodeAt(0);
  const hasHeader = options.hasHeader ?? true;
  // Values may look like names, and names like values: only one of both is certain.
  if (hasNames(bytes, line.end, columns, code) !== hasHeader) return undefined;
  const rows = new CsvRows(bytes, values, code, line.lineEndBytes);
  const areRead = yield* rows.read(hasHeader ? line.end + line.lineEndBytes : 0);
  if (!areRead || rows.count === 0) return undefined;
  return { batch: batchOf(columns, values), delimiter, hasHeader };
}

/** The end of the first line, and the length of its line end. */
function firstLine(bytes: Uint8Array): { readonly end: number; readonly lineEndBytes: 1 | 2 } | undefined {
  const feed = bytes.indexOf(LF);
  if (feed <= 0) return undefined;
  const isPair = bytes[feed - 1] === CR;
  const end = isPair ? feed - 1 : feed;
  return end === 0 ? undefined : { end, lineEndBytes: isPair ? 2 : 1 };
}

/** The first line has at most one kind of the possible delimiters. */
function delimiterOf(bytes: Uint8Array, end: number, given: string | undefined): string | undefined {
  if (given !== undefined) return delimiters.includes(given) ? given : undefined;
  let found: string | undefined;
  for (let at = 0; at < end; at++) {
    const index = delimiterIndex[bytes[at] as number] as number;
    if (index === 0) continue;
    const delimiter = delimiters[index - 1] as string;
    if (found !== undefined && found !== delimiter) return undefined;
    found = delimiter;
  }
  return found ?? ',';
}

const delimiterIndex = new Uint8Array(128 * 2);
for (const [index, delimiter] of delimiters.entries()) delimiterIndex[delimiter.charCodeAt(0)] = index + 1;

/** Whether the first line holds just the names of the columns, with quotes around them or without. */
function hasNames(bytes: Uint8Array, end: number, columns: readonly Column[], delimiter: number): boolean {
  let at = 0;
  for (const [index, expected] of columnNames(columns).entries()) {
    const isQuoted = bytes[at] === QUOTE;
    const from = isQuoted ? at + 1 : at;
    const stop = from + expected.length;
    if (expected.length === 0 || expected.includes(QUOTE) || expected.includes(LF) || expected.includes(CR))
      return false;
    if (!isQuoted && (expected.includes(delimiter) || expected[0] === 32)) return false;
    if (stop > end || !isSame(expected, bytes, from, stop)) return false;
    at = stop;
    if (isQuoted && bytes[at++] !== QUOTE) return false;
    if (index === columns.length - 1) return at === end;
    if (bytes[at++] !== delimiter) return false;
  }
  return false;
}

const fieldEnds = new Map(delimiters.map((delimiter) => [delimiter.charCodeAt(0), endsOf(delimiter.charCodeAt(0))]));

function endsOf(delimiter: number): Uint8Array {
  const ends = new Uint8Array(256);
  for (const byte of [delimiter, LF, CR, QUOTE]) ends[byte] = 1;
  return ends;
}

class CsvRows {
  count = 0;
  readonly #bytes: Uint8Array;
  readonly #values: readonly ValueColumn[];
  readonly #delimiter: number;
  readonly #lineEndBytes: 1 | 2;
  /** 1 for each byte that ends a field without quotes. */
  readonly #ends: Uint8Array;

  constructor(bytes: Uint8Array, values: readonly ValueColumn[], delimiter: number, lineEndBytes: 1 | 2) {
    this.#bytes = bytes;
    this.#values = values;
    this.#delimiter = delimiter;
    this.#lineEndBytes = lineEndBytes;
    this.#ends = fieldEnds.get(delimiter) ?? endsOf(delimiter);
  }

  *read(from: number): Generator<void, boolean> {
    const bytes = this.#bytes;
    const last = this.#values.length - 1;
    let stepEnd = from + textStepBytes;
    for (let at = from; at < bytes.length; this.count++) {
      if (at >= stepEnd) {
        yield;
        stepEnd = at + textStepBytes;
      }
      const start = at;
      for (let index = 0; index <= last; index++) {
        at = this.#field(this.#values[index] as ValueColumn, at);
        if (at === malformed) return false;
        if (index < last && bytes[at++] !== this.#delimiter) return false;
      }
      if (at === start) return false;
      // The last line needs no end.
      if (at === bytes.length) continue;
      if (this.#lineEndBytes === 2 && bytes[at++] !== CR) return false;
      if (bytes[at++] !== LF) return false;
    }
    return true;
  }

  /** Returns the end of the field. */
  #field(value: ValueColumn, from: number): number {
    const bytes = this.#bytes;
    if (bytes[from] === QUOTE) return this.#quoted(value, from + 1);
    const { length } = bytes;
    const ends = this.#ends;
    let end = from;
    while (end < length && ends[bytes[end] as number] === 0) end++;
    if (end === from) value.addNull();
    else if (!value.add(bytes, from, end)) return malformed;
    return end;
  }

  /** A field of which the first quote is read. */
  #quoted(value: ValueColumn, from: number): number {
    const bytes = this.#bytes;
    const end = bytes.indexOf(QUOTE, from);
    if (end < 0) return malformed;
    if (bytes[end + 1] === QUOTE) return this.#doubled(value, from, end);
    if (this.#isCut(from, end)) return malformed;
    return value.add(bytes, from, end) ? end + 1 : malformed;
  }

  #doubled(value: ValueColumn, from: number, firstQuote: number): number {
    const bytes = this.#bytes;
    let end = firstQuote;
    let doubled = 0;
    while (bytes[end + 1] === QUOTE) {
      doubled++;
      end = bytes.indexOf(QUOTE, end + 2);
      if (end < 0) return malformed;
    }
    if (this.#isCut(from, end)) return malformed;
    const text = new Uint8Array(end - from - doubled);
    for (let at = from, to = 0; at < end; at++, to++) {
      text[to] = bytes[at] as number;
      if (bytes[at] === QUOTE) at++;
    }
    return value.add(text, 0, text.length) ? end + 1 : malformed;
  }

  /** Whether a line end stands in the text of a field. */
  #isCut(from: number, end: number): boolean {
    for (let at = from; at < end; at++) if (this.#bytes[at] === LF || this.#bytes[at] === CR) return true;
    return false;
  }
}
