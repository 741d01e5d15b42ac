import { QUOTE } from '@framehold/columns';
import { type FastColumn, setBit, unsure } from './fast-column.ts';

/** More bytes are quicker to copy all at once. */
const shortText = 128;

/** A text without quotes. */
export function readText(column: FastColumn, bytes: Buffer, start: number, row: number): number {
  const { fieldEnds, offsets } = column;
  let to = offsets[row] as number;
  if (to + shortText > column.data.length) column.reserve(to + shortText);
  const { data } = column;
  const shortEnd = start + shortText;
  let at = start;
  let byte = bytes[at] as number;
  do {
    data[to++] = byte;
    byte = bytes[++at] as number;
  } while (fieldEnds[byte] === 0 && at < shortEnd);
  offsets[row + 1] = to;
  return fieldEnds[byte] === 0 ? readRest(column, bytes, at, to, row) : at;
}

function readRest(column: FastColumn, bytes: Buffer, start: number, to: number, row: number): number {
  const { fieldEnds } = column;
  let end = start;
  while (fieldEnds[bytes[end] as number] === 0) end++;
  appendText(column, bytes, start, end, to, row);
  return end;
}

/** A text in quotes, the first of which is before `start`. Undefined: it does not end before `limit`. */
export function readQuotedText(
  column: FastColumn,
  bytes: Buffer,
  start: number,
  limit: number,
  row: number,
): number | undefined {
  let out = column.offsets[row] as number;
  for (let from = start; ; ) {
    let end = from;
    while (bytes[end] !== QUOTE) if (++end >= limit) return undefined;
    const isDoubled = bytes[end + 1] === QUOTE;
    out = appendText(column, bytes, from, isDoubled ? end + 1 : end, out, row);
    if (!isDoubled) return end + 1;
    from = end + 2;
  }
}

function appendText(
  column: FastColumn,
  bytes: Buffer,
  start: number,
  end: number,
  textStart: number,
  row: number,
): number {
  const textEnd = textStart + end - start;
  if (textEnd > column.data.length) column.reserve(textEnd);
  const { data } = column;
  if (end - start > shortText) bytes.copy(data, textStart, start, end);
  else for (let from = start, to = textStart; from < end; from++, to++) data[to] = bytes[from] as number;
  column.offsets[row + 1] = textEnd;
  return textEnd;
}

const words = [
  [true, Buffer.from('true')],
  [false, Buffer.from('false')],
] as const;

export function readBoolean(column: FastColumn, bytes: Buffer, start: number, row: number): number {
  for (const [value, word] of words) {
    if (word.every((letter, index) => ((bytes[start + index] as number) | 0x20) === letter)) {
      setBit(column.data, row, value);
      return start + word.length;
    }
  }
  return unsure;
}

/** For a column without values so far. */
export function readNothing(): number {
  return unsure;
}
