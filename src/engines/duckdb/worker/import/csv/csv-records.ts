import { CR, LF, QUOTE, SPACE } from '@framehold/columns';

export const csvFaults = {
  unclosedQuote: 'a value begins with a quote that is not closed',
  textBehindQuote: 'text follows the closing quote of a value (a quote inside one is written twice)',
} as const;

/** A record in a buffer: bytes [start, end) without the end of its line, which is at [end, next). */
export interface CsvRecord {
  readonly start: number;
  readonly end: number;
  readonly next: number;
  /** Lines of text of the record. */
  readonly lines: number;
  readonly fields: number;
  readonly endsWithEmptyField: boolean;
  readonly fault: keyof typeof csvFaults | undefined;
}

/**
 * The record that begins at `start`, as DuckDB reads CSV strictly: fields in double quotes may hold delimiters and line
 * ends, a quote is doubled in them, and spaces around them count for nothing. Undefined: it does not end in this buffer.
 * A record with a fault takes one line, so that those behind it are found again.
 */
export function csvRecord(
  bytes: Uint8Array,
  start: number,
  delimiter: number,
  isWhole: boolean,
): CsvRecord | undefined {
  const { length } = bytes;
  let at = start;
  let fields = 1;
  let lines = 1;
  for (;;) {
    const fieldStart = at;
    while (at < length && bytes[at] === SPACE && delimiter !== SPACE) at++;
    if (bytes[at] === QUOTE) {
      at++;
      for (;;) {
        if (at >= length) return isWhole ? faulty(bytes, start, 'unclosedQuote') : undefined;
        const byte = bytes[at++];
        if (byte === LF) lines++;
        else if (byte === QUOTE) {
          if (bytes[at] !== QUOTE) break;
          at++;
        }
      }
      while (at < length && bytes[at] === SPACE && delimiter !== SPACE) at++;
      const byte = bytes[at];
      if (at < length && byte !== delimiter && byte !== LF && byte !== CR) {
        return faulty(bytes, start, 'textBehindQuote');
      }
    } else {
      for (; at < length; at++) {
        const byte = bytes[at];
        if (byte === delimiter || byte === LF || byte === CR) break;
      }
    }
    if (at < length && bytes[at] === delimiter) {
      at++;
      fields++;
      continue;
    }
    const end = at;
    // A carriage return at the end of the buffer may have its line feed in the next one.
    if (!isWhole && (at >= length || (bytes[at] === CR && at + 1 >= length))) return undefined;
    const endsWithEmptyField = fieldStart === end;
    return { start, end, next: lineEnd(bytes, at), lines, fields, endsWithEmptyField, fault: undefined };
  }
}

function faulty(bytes: Uint8Array, start: number, fault: CsvRecord['fault']): CsvRecord {
  let end = start;
  while (end < bytes.length && bytes[end] !== LF && bytes[end] !== CR) end++;
  return { start, end, next: lineEnd(bytes, end), lines: 1, fields: 0, endsWithEmptyField: false, fault };
}

function lineEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] === CR) return bytes[at + 1] === LF ? at + 2 : at + 1;
  return at < bytes.length ? at + 1 : at;
}

/** The fields of a record without a fault; null where there is nothing, not even quotes. */
export function csvFields(record: string, delimiter: string): (string | null)[] {
  const fields: (string | null)[] = [];
  let at = 0;
  for (;;) {
    let start = at;
    while (delimiter !== ' ' && record[start] === ' ') start++;
    let end: number;
    if (record[start] === '"') {
      let close = start + 1;
      while (close < record.length && !(record[close] === '"' && record[++close] !== '"')) close++;
      fields.push(record.slice(start + 1, close - 1).replaceAll('""', '"'));
      end = record.indexOf(delimiter, close);
    } else {
      end = record.indexOf(delimiter, at);
      const field = end < 0 ? record.slice(at) : record.slice(at, end);
      fields.push(field === '' ? null : field);
    }
    if (end < 0) return fields;
    at = end + 1;
  }
}
