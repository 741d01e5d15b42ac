import type { Column, DataType } from './data-type.ts';

/**
 * Values of one column in Arrow's layout, in memory of this process, from offset 0.
 *
 * | kind | data | offsets | children |
 * |---|---|---|---|
 * | boolean | bits, LSB first | | |
 * | int, float, date (int32 days), time and timestamp (int64) | values, little endian | | |
 * | decimal, int 128 | 16-byte two's complement, little endian | | |
 * | interval | 16 bytes: int32 months, int32 days, int64 nanoseconds | | |
 * | utf8, json, uuid (as text), binary | bytes | length + 1 | |
 * | list, map | | length + 1 | element / one struct of key and value |
 * | array | | | element, `size` values a row |
 * | struct | | | a vector a field |
 * | union | int8 index of the member a row | | a vector a member, all of full length |
 */
export interface Vector {
  readonly type: DataType;
  readonly length: number;
  /** A bit a row, LSB first, 1 = present. Null when every value is present. */
  readonly validity: Uint8Array | null;
  readonly offsets: Int32Array | null;
  readonly data: Uint8Array | null;
  readonly children: readonly Vector[];
}

/** A run of rows. */
export interface Batch {
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly vectors: readonly Vector[];
}

/** A part of a vector that its type demands. */
export function vectorPart<T>(part: T | null | undefined): T {
  if (part == null) throw new TypeError('a vector lacks a part that its type demands');
  return part;
}
