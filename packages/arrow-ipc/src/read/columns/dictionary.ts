import type { ArrowInt } from '../../types/arrow-type.ts';
import { InvalidArrow } from '../format/flatbuffer-reader.ts';
import { type ArrowColumn, int32View } from './column.ts';

/** The dictionary's row for a value of a dictionary-encoded column. */
export function indexAt(column: ArrowColumn, row: number): number {
  const { field, data, dictionary } = column;
  if (field.dictionary === undefined || dictionary === undefined) throw new Error('not dictionary-encoded');
  const index = readIndex(data, field.dictionary.index, row);
  if (!(index >= 0 && index < dictionary.length)) {
    throw new InvalidArrow(`${field.label} has an index outside its dictionary at row ${row}`);
  }
  return index;
}

function readIndex(data: Uint8Array, { bits, signed }: ArrowInt, row: number): number {
  switch (bits) {
    case 8:
      return signed ? ((data[row] as number) << 24) >> 24 : (data[row] as number);
    case 16: {
      const value = (data[row * 2] as number) | ((data[row * 2 + 1] as number) << 8);
      return signed ? (value << 16) >> 16 : value;
    }
    case 32: {
      const at = row * 4;
      const value =
        (data[at] as number) |
        ((data[at + 1] as number) << 8) |
        ((data[at + 2] as number) << 16) |
        ((data[at + 3] as number) << 24);
      return signed ? value : value >>> 0;
    }
    case 64: {
      const words = int32View(data, (row + 1) * 2);
      return words[row * 2 + 1] === 0 ? (words[row * 2] as number) >>> 0 : -1;
    }
  }
}
