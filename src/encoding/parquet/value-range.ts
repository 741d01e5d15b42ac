import type { ValueRange } from './column-values.ts';

export type NumberKind = 'int32' | 'uint32' | 'int64' | 'uint64' | 'float' | 'double';

/** Of numbers that lie behind each other in memory of their own; undefined where there are none, or not only numbers. */
export function rangeOf(kind: NumberKind, bytes: Uint8Array): ValueRange | undefined {
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteLength === 0) return undefined;
  switch (kind) {
    case 'int32':
      return rangeOfNumbers(new Int32Array(buffer, byteOffset, byteLength / 4), 4);
    case 'uint32':
      return rangeOfNumbers(new Uint32Array(buffer, byteOffset, byteLength / 4), 4);
    case 'float':
      return rangeOfFloats(new Float32Array(buffer, byteOffset, byteLength / 4), 4);
    case 'double':
      return rangeOfFloats(new Float64Array(buffer, byteOffset, byteLength / 8), 8);
    case 'int64':
      return rangeOfWords(new Int32Array(buffer, byteOffset, byteLength / 4), 0);
    case 'uint64':
      return rangeOfWords(new Int32Array(buffer, byteOffset, byteLength / 4), signBit);
    default:
      return kind satisfies never;
  }
}

const signBit = 0x8000_0000 | 0;

type Numbers = Int32Array | Uint32Array | Float32Array | Float64Array;

function rangeOfNumbers(values: Numbers, width: number): ValueRange {
  let least = 0;
  let greatest = 0;
  for (let at = 1; at < values.length; at++) {
    const value = values[at] as number;
    if (value < (values[least] as number)) least = at;
    if (value > (values[greatest] as number)) greatest = at;
  }
  return rangeAt(values, least * width, greatest * width, width);
}

/** Readers may take a zero of either sign for the end of a range, and a range that a NaN is outside of for all values. */
function rangeOfFloats(values: Float32Array | Float64Array, width: number): ValueRange | undefined {
  for (let at = 0; at < values.length; at++) if (Number.isNaN(values[at])) return undefined;
  const { least, greatest } = rangeOfNumbers(values, width);
  const signAt = width - 1;
  if (least.every((byte) => byte === 0)) least[signAt] = 0x80;
  if (greatest[signAt] === 0x80 && greatest.subarray(0, signAt).every((byte) => byte === 0)) greatest[signAt] = 0;
  return { least, greatest };
}

/** 64-bit integers as pairs of words: bigints would take many times as long. `flip` turns the order of signs. */
function rangeOfWords(words: Int32Array, flip: number): ValueRange {
  let least = 0;
  let leastHigh = (words[1] as number) ^ flip;
  let leastLow = (words[0] as number) >>> 0;
  let greatest = 0;
  let greatestHigh = leastHigh;
  let greatestLow = leastLow;
  for (let at = 2; at < words.length; at += 2) {
    const high = (words[at + 1] as number) ^ flip;
    const low = (words[at] as number) >>> 0;
    if (high < leastHigh || (high === leastHigh && low < leastLow)) {
      least = at;
      leastHigh = high;
      leastLow = low;
    }
    if (high > greatestHigh || (high === greatestHigh && low > greatestLow)) {
      greatest = at;
      greatestHigh = high;
      greatestLow = low;
    }
  }
  return rangeAt(words, least * 4, greatest * 4, 8);
}

function rangeAt({ buffer, byteOffset }: Numbers, least: number, greatest: number, width: number): ValueRange {
  const copy = (at: number): Uint8Array => new Uint8Array(buffer, byteOffset + at, width).slice();
  return { least: copy(least), greatest: copy(greatest) };
}
