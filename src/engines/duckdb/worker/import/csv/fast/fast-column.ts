import { type Column, CR, type DataType, LF, QUOTE, type Vector } from '@framehold/columns';
import { TimeText } from '../../../../../../encoding/text/time-text.ts';

/** The most rows of a batch: one row group of the file that is written. */
export const batchRows = 65_536;

/**
 * Reads the value that begins at `at`, which is no end of a field, and keeps it for `row`. Gives the position behind it:
 * whether the field ends there is for the caller to see. `unsure`: the text may be no value. The bytes have a line end
 * somewhere behind `at`.
 */
export type ValueReader = (column: FastColumn, bytes: Buffer, at: number, row: number) => number;

/** Says that a value is left to DuckDB. */
export const unsure = -1;

/** The reader of a column of the file. */
export interface FastField {
  readonly column: Column;
  /** Which column of the file. */
  readonly index: number;
  readonly read: ValueReader;
  /** Whether the type was named rather than found out: 007 is a number then. */
  readonly isNamed: boolean;
}

/** 1 for each byte that ends a text without quotes. */
export function fieldEnds(delimiter: number): Uint8Array {
  const ends = new Uint8Array(256);
  for (const byte of [delimiter, LF, CR, QUOTE]) ends[byte] = 1;
  return ends;
}

const firstTextBytes = 4 * batchRows;

/**
 * The values of one column, a batch at a time. One class for all types: the loop over the fields of a row is fast
 * because all that it touches has one shape.
 */
export class FastColumn {
  readonly read: ValueReader;
  readonly isNamed: boolean;
  readonly isText: boolean;
  readonly fieldEnds: Uint8Array;
  readonly #type: DataType;
  readonly #rowBits: number;
  #validity = new Uint8Array(0);
  #hasNulls = false;
  data: Uint8Array<ArrayBuffer>;
  /** The same memory, for values that are not texts. */
  readonly ints: Int32Array;
  readonly doubles: Float64Array;
  /** For texts only. */
  readonly offsets: Int32Array;
  readonly time = new TimeText();

  constructor({ column, read, isNamed }: FastField, ends: Uint8Array) {
    this.#type = column.type;
    this.read = read;
    this.isNamed = isNamed;
    this.fieldEnds = ends;
    this.#rowBits = rowBits(column.type);
    this.isText = this.#rowBits === 0;
    this.offsets = new Int32Array(this.isText ? batchRows + 1 : 0);
    this.data = new Uint8Array(this.isText ? firstTextBytes : (batchRows * this.#rowBits) >> 3);
    this.ints = new Int32Array(this.data.buffer);
    this.doubles = new Float64Array(this.data.buffer);
  }

  setNull(row: number): void {
    if (!this.#hasNulls) {
      if (this.#validity.length === 0) this.#validity = new Uint8Array(batchRows >> 3);
      this.#validity.fill(0xff);
      this.#hasNulls = true;
    }
    setBit(this.#validity, row, false);
    if (this.isText) this.offsets[row + 1] = this.offsets[row] as number;
  }

  /** Makes room for this number of bytes of texts. */
  reserve(bytes: number): void {
    if (bytes <= this.data.length) return;
    const larger = new Uint8Array(bytes * 2);
    larger.set(this.data);
    this.data = larger;
  }

  /** The first rows of the batch. Rows that are read from then on overwrite them. */
  take(rows: number): Vector {
    const bytes = this.isText ? (this.offsets[rows] as number) : (rows * this.#rowBits + 7) >> 3;
    const validity = this.#hasNulls ? this.#validity.subarray(0, (rows + 7) >> 3) : null;
    this.#hasNulls = false;
    return {
      type: this.#type,
      length: rows,
      validity,
      offsets: this.isText ? this.offsets.subarray(0, rows + 1) : null,
      data: this.data.subarray(0, bytes),
      children: [],
    };
  }
}

/** Bits that a value takes; 0 of texts, which take as many as they have. */
function rowBits(type: DataType): number {
  switch (type.kind) {
    case 'utf8':
      return 0;
    case 'boolean':
      return 1;
    case 'int':
    case 'float':
      return type.bits;
    case 'date':
      return 32;
    default:
      return 64;
  }
}

export function setBit(bits: Uint8Array, row: number, isSet: boolean): void {
  const byte = bits[row >> 3] as number;
  const bit = 1 << (row & 7);
  bits[row >> 3] = isSet ? byte | bit : byte & ~bit;
}
