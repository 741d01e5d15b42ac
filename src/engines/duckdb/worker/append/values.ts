import { bitAt } from '../../../../encoding/arrow/read/columns/bits.ts';
import { int32View, valueBytes } from '../../../../encoding/arrow/read/columns/column.ts';
import { halfToNumber } from '../../../../encoding/arrow/read/numbers/half.ts';
import { copyMemory } from '../native/c-api.ts';
import { addressOf } from '../native/vector-api.ts';
import { rowAt } from './rows.ts';
import type { Scratch, StoreTask } from './scratch.ts';

/** Copies values that DuckDB lays out as Arrow does. */
export function copyValues({ column, rows, scratch, target }: StoreTask): void {
  const bytes = valueBytes(column.field.type);
  if (rows.at === null) {
    copyMemory(target, addressOf(column.data) + rows.start * bytes, rows.count * bytes);
    return;
  }
  if (bytes < 4) gatherBytes(column.data, bytes, rows.at, scratch);
  else gatherWords(int32View(column.data, (column.length * bytes) / 4), bytes / 4, rows.at, scratch);
  scratch.copyTo(target, rows.count * bytes);
}

function gatherBytes(data: Uint8Array, width: number, at: Int32Array, scratch: Scratch): void {
  const { bytes } = scratch.prepare(at.length * width);
  for (let index = 0; index < at.length; index++) {
    const row = at[index] as number;
    for (let n = 0; n < width; n++) bytes[index * width + n] = row < 0 ? 0 : (data[row * width + n] as number);
  }
}

function gatherWords(data: Int32Array, width: number, at: Int32Array, scratch: Scratch): void {
  const { words } = scratch.prepare(at.length * width * 4);
  for (let index = 0; index < at.length; index++) {
    const row = at[index] as number;
    for (let n = 0; n < width; n++) words[index * width + n] = row < 0 ? 0 : (data[row * width + n] as number);
  }
}

/** DuckDB has a byte for a boolean. */
export function spreadBits({ column, rows, scratch, target }: StoreTask): void {
  const { bytes } = scratch.prepare(rows.count);
  for (let index = 0; index < rows.count; index++) {
    const row = rowAt(rows, index);
    bytes[index] = row >= 0 && bitAt(column.data, row) ? 1 : 0;
  }
  scratch.copyTo(target, rows.count);
}

export function widenHalves({ column, rows, scratch, target }: StoreTask): void {
  const { floats } = scratch.prepare(rows.count * 4);
  for (let index = 0; index < rows.count; index++) {
    const row = rowAt(rows, index);
    const low = row < 0 ? 0 : (column.data[row * 2] as number);
    const high = row < 0 ? 0 : (column.data[row * 2 + 1] as number);
    floats[index] = halfToNumber((high << 8) | low);
  }
  scratch.copyTo(target, rows.count * 4);
}

/** Arrow keeps a UUID in the order of its text; DuckDB as a 128-bit integer with its first bit flipped, so that it sorts. */
export function reverseUuids({ column, rows, scratch, target }: StoreTask): void {
  const { bytes } = scratch.prepare(rows.count * 16);
  for (let index = 0; index < rows.count; index++) {
    const row = rowAt(rows, index);
    for (let n = 0; n < 16; n++) bytes[index * 16 + 15 - n] = row < 0 ? 0 : (column.data[row * 16 + n] as number);
    bytes[index * 16 + 15] = (bytes[index * 16 + 15] as number) ^ 0x80;
  }
  scratch.copyTo(target, rows.count * 16);
}
