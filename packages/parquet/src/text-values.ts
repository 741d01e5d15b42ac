import { copyBytes, GrowingBytes, type Vector } from '@framehold/columns';
import { bytesOf, type ColumnValues, type EncodedValues } from './column-values.ts';
import { packedNumbers } from './packed-numbers.ts';
import type { TextDictionary } from './text-dictionary.ts';

const lengthBytes = 4;

/** Texts or other bytes of any length. Those that repeat are written once. */
export class TextValues implements ColumnValues {
  readonly #data = new GrowingBytes();
  /** Where each of them ends in `#data`. */
  #ends = new Int32Array(1024);
  #count = 0;
  readonly #dictionary: TextDictionary;

  /** `dictionary`: needed while values are taken, so that all columns can share it. */
  constructor(dictionary: TextDictionary) {
    this.#dictionary = dictionary;
  }

  get bytes(): number {
    return this.#data.length + this.#count * lengthBytes;
  }

  append(vector: Vector, from: number, to: number): void {
    const { offsets } = vector;
    if (offsets === null) throw new TypeError('a vector lacks its offsets');
    const start = this.#data.length;
    const first = offsets[from] as number;
    this.#data.append(bytesOf(vector), first, offsets[to] as number);
    const ends = this.#roomFor(to - from);
    const shift = start - first;
    for (let row = from, at = this.#count; row < to; row++, at++) ends[at] = (offsets[row + 1] as number) + shift;
    this.#count += to - from;
  }

  take(): EncodedValues {
    const { length } = this.#data;
    const data = this.#data.take().subarray(0, length);
    const ends = this.#ends.subarray(0, this.#count);
    this.#count = 0;
    const numbers = this.#dictionary.numbersOf(data, ends);
    if (numbers === undefined) return { bytes: withLengths(data, ends) };
    const { entries, length: count } = this.#dictionary;
    const texts = withLengths(entries.data, entries.ends);
    return { bytes: packedNumbers(numbers, count), dictionary: { bytes: texts, entries: count } };
  }

  #roomFor(count: number): Int32Array {
    const needed = this.#count + count;
    if (needed > this.#ends.length) {
      const larger = new Int32Array(Math.max(needed, this.#ends.length * 2));
      larger.set(this.#ends);
      this.#ends = larger;
    }
    return this.#ends;
  }
}

/** Each text behind its length. */
function withLengths(data: Uint8Array, ends: Int32Array): Uint8Array {
  const out = Buffer.allocUnsafeSlow(data.length + ends.length * lengthBytes);
  let at = 0;
  let from = 0;
  for (let row = 0; row < ends.length; row++) {
    const end = ends[row] as number;
    const length = end - from;
    out[at] = length;
    out[at + 1] = length >>> 8;
    out[at + 2] = length >>> 16;
    out[at + 3] = length >>> 24;
    at += lengthBytes;
    copyBytes(data, from, out, at, length);
    at += length;
    from = end;
  }
  return out;
}
