import type { Column, DataType } from './data-type.ts';

/**
 * Values of one column in Arrow's layout, in memory of this process, from offset 0.
 *
 * | kind | data | offsets | children |
 * |---|---|---|---|
 * | boolean | bits, LSB first | | |
 * | int, float, date (int32 days), time and timestamp (int64) | values, little endian | | |
 * | decimal, int 128 | 16-byte two's complement, little endian | | |
 * | interval | 16 bytes: int32 months, int32 days, int64 nanoseconds, or microseconds where the vector says so | | |
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
  /** For intervals: DuckDB's range is a thousand times Arrow's. */
  readonly hasMicroseconds?: boolean | undefined;
}

/** A run of rows. */
export interface Batch {
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly vectors: readonly Vector[];
}

/** The memory of the values. */
export function bytesOfVectors(vectors: readonly Vector[]): number {
  return vectors.reduce((sum, { validity, offsets, data, children }) => {
    const own = (validity?.byteLength ?? 0) + (offsets?.byteLength ?? 0) + (data?.byteLength ?? 0);
    return sum + own + bytesOfVectors(children);
  }, 0);
}

/** A part of a vector that its type demands. */
export function vectorPart<T>(part: T | null | undefined): T {
  if (part == null) throw new TypeError('a vector lacks a part that its type demands');
  return part;
}

/** A type whose values have a fixed size in vectors. */
export type FixedSizeType = Extract<
  DataType,
  { kind: 'int' | 'float' | 'decimal' | 'date' | 'time' | 'timestamp' | 'interval' }
>;

export function fixedSizeBytes(type: FixedSizeType): number {
  switch (type.kind) {
    case 'int':
    case 'float':
      return type.bits / 8;
    case 'date':
      return 4;
    case 'time':
    case 'timestamp':
      return 8;
    case 'decimal':
    case 'interval':
      return 16;
    default:
      return type satisfies never;
  }
}

/** The types of a vector's children. */
export function childTypes(type: DataType): DataType[] {
  switch (type.kind) {
    case 'list':
    case 'array':
      return [type.element];
    case 'map': {
      const fields = [
        { name: 'key', type: type.key },
        { name: 'value', type: type.value },
      ];
      return [{ kind: 'struct', fields }];
    }
    case 'struct':
      return type.fields.map((field) => field.type);
    case 'union':
      return type.members.map((member) => member.type);
    default:
      return [];
  }
}
