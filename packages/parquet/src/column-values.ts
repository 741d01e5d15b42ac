import type { Vector } from '@framehold/columns';

/** The values of a column in a row group, without its nulls, as they gather. */
export interface ColumnValues {
  /** Memory that they take so far. */
  readonly bytes: number;
  /** Rows [from, to), none of which is null. */
  append(vector: Vector, from: number, to: number): void;
  /** All of them, encoded; what is appended next belongs to the next row group. */
  take(): EncodedValues;
}

export interface EncodedValues {
  readonly bytes: Uint8Array;
  /** Where `bytes` holds numbers of its entries. */
  readonly dictionary?: { readonly bytes: Uint8Array; readonly entries: number } | undefined;
  /** Undefined where it is not known. */
  readonly range?: ValueRange | undefined;
}

/** The least and the greatest value, as Parquet writes them. */
export interface ValueRange {
  readonly least: Uint8Array;
  readonly greatest: Uint8Array;
}

export function bytesOf({ data }: Vector): Uint8Array {
  if (data === null) throw new TypeError('a vector lacks its data');
  return data;
}
