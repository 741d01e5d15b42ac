import { GrowingBits, GrowingBytes, type Vector } from '@framehold/columns';
import { bytesOf, type ColumnValues, type EncodedValues } from './column-values.ts';
import { type NumberKind, rangeOf } from './value-range.ts';

/** Numbers of 4 or 8 bytes, which Parquet lays out as Arrow does. */
export class NumberValues implements ColumnValues {
  readonly #store = new GrowingBytes();
  readonly #kind: NumberKind;
  readonly #width: number;

  constructor(kind: NumberKind, width: 4 | 8) {
    this.#kind = kind;
    this.#width = width;
  }

  get bytes(): number {
    return this.#store.length;
  }

  append(vector: Vector, from: number, to: number): void {
    this.#store.append(bytesOf(vector), from * this.#width, to * this.#width);
  }

  take(): EncodedValues {
    return taken(this.#store, this.#kind);
  }
}

/** Integers of 8 and 16 bits, for which Parquet takes 32. */
export class ShortIntegers implements ColumnValues {
  readonly #store = new GrowingBytes();
  readonly #type: { readonly bits: number; readonly signed: boolean };

  constructor(type: { readonly bits: number; readonly signed: boolean }) {
    this.#type = type;
  }

  get bytes(): number {
    return this.#store.length;
  }

  append(vector: Vector, from: number, to: number): void {
    const values = this.#view(bytesOf(vector));
    const start = this.#store.extend((to - from) * 4) / 4;
    const out = new Int32Array(this.#store.bytes.buffer);
    for (let row = from, at = start; row < to; row++, at++) out[at] = values[row] as number;
  }

  take(): EncodedValues {
    return taken(this.#store, 'int32');
  }

  #view({ buffer, byteOffset, byteLength }: Uint8Array): Int8Array | Uint8Array | Int16Array | Uint16Array {
    const { bits, signed } = this.#type;
    if (bits === 8) {
      return signed ? new Int8Array(buffer, byteOffset, byteLength) : new Uint8Array(buffer, byteOffset, byteLength);
    }
    const length = byteLength >> 1;
    return signed ? new Int16Array(buffer, byteOffset, length) : new Uint16Array(buffer, byteOffset, length);
  }
}

const words = 4;

/** Decimals of so few digits that the lower 4 or 8 of their 16 bytes say all. */
export class ShortDecimals implements ColumnValues {
  readonly #store = new GrowingBytes();
  readonly #width: 4 | 8;

  constructor(width: 4 | 8) {
    this.#width = width;
  }

  get bytes(): number {
    return this.#store.length;
  }

  append(vector: Vector, from: number, to: number): void {
    const { buffer, byteOffset } = bytesOf(vector);
    const values = new Int32Array(buffer, byteOffset, to * words);
    const start = this.#store.extend((to - from) * this.#width) / 4;
    const out = new Int32Array(this.#store.bytes.buffer);
    if (this.#width === 4) {
      for (let row = from, at = start; row < to; row++, at++) out[at] = values[row * words] as number;
      return;
    }
    for (let row = from, at = start; row < to; row++, at += 2) {
      out[at] = values[row * words] as number;
      out[at + 1] = values[row * words + 1] as number;
    }
  }

  take(): EncodedValues {
    return taken(this.#store, this.#width === 4 ? 'int32' : 'int64');
  }
}

/** Decimals of up to 38 digits: 16 bytes as with us, but the highest first. */
export class LongDecimals implements ColumnValues {
  readonly #store = new GrowingBytes();

  get bytes(): number {
    return this.#store.length;
  }

  append(vector: Vector, from: number, to: number): void {
    const start = this.#store.length;
    this.#store.append(bytesOf(vector), from * 16, to * 16);
    const { bytes } = this.#store;
    for (let at = start; at < this.#store.length; at += 16) bytes.subarray(at, at + 16).reverse();
  }

  take(): EncodedValues {
    return taken(this.#store);
  }
}

/** Bits, which Parquet packs as Arrow does. */
export class Booleans implements ColumnValues {
  readonly #bits = new GrowingBits();

  get bytes(): number {
    return this.#bits.count >> 3;
  }

  append(vector: Vector, from: number, to: number): void {
    this.#bits.append(bytesOf(vector), from, to);
  }

  take(): EncodedValues {
    const length = (this.#bits.count + 7) >> 3;
    return { bytes: this.#bits.take().subarray(0, length) };
  }
}

function taken(store: GrowingBytes, kind?: NumberKind): EncodedValues {
  const { length } = store;
  const bytes = store.take().subarray(0, length);
  return { bytes, range: kind && rangeOf(kind, bytes) };
}
