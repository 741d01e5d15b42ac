import { isAscii, isUtf8 } from 'node:buffer';
import { InvalidArrow, InvalidValue } from '../format/flatbuffer-reader.ts';
import { isPresent } from './bits.ts';
import type { ArrowColumn } from './column.ts';

/** Checks strings with valid offsets: all bytes at once, and one by one only if that fails. */
export function checkStrings(column: ArrowColumn): void {
  if (column.field.extension === 'arrow.json') checkEach(column, checkJson);
  else if (!allAreText(column)) checkEach(column, () => {});
}

/** DuckDB stores the text of a JSON value unchecked and fails when it is read. */
export function checkJson(label: string, value: Uint8Array, row: number): void {
  try {
    JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString());
  } catch {
    throw new InvalidValue(label, 'is not JSON', row);
  }
}

function allAreText({ length, data, offsets }: ArrowColumn): boolean {
  const end = offsets[length] as number;
  const bytes = data.subarray(offsets[0], end);
  if (isAscii(bytes)) return true;
  if (!isUtf8(bytes)) return false;
  for (let row = 1; row < length; row++) {
    const offset = offsets[row] as number;
    const isInsideCharacter = offset < end && ((data[offset] as number) & 0xc0) === 0x80;
    if (isInsideCharacter) return false;
  }
  return true;
}

function checkEach(column: ArrowColumn, check: (label: string, value: Uint8Array, row: number) => void): void {
  const { field, length, validity, data, offsets } = column;
  for (let row = 0; row < length; row++) {
    if (!isPresent(validity, row)) continue;
    const value = data.subarray(offsets[row], offsets[row + 1]);
    if (!isUtf8(value)) throw new InvalidArrow(`${field.label} is not UTF-8 at row ${row}`);
    check(field.label, value, row);
  }
}
