import type { ValueRange } from './column-values.ts';

export type NumberKind = 'int32' | 'uint32' | 'int64' | 'uint64' | 'float' | 'double';

/** Of numbers that lie behind each other in memory of their own; undefined where there are none, or not only numbers. */
export function rangeOf(kind: NumberKind, bytes: Uint8Array): ValueRange | undefined {
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteLength === 0) return undefined;
  switch (kind) {
    case 'int32': {
      const { least, greatest } = extremes(new Int32Array(buffer, byteOffset, byteLength / 4));
      return { least: bytesOf(Int32Array.of(least)), greatest: bytesOf(Int32Array.of(greatest)) };
    }
    case 'uint32': {
      const { least, greatest } = extremes(new Uint32Array(buffer, byteOffset, byteLength / 4));
      return { least: bytesOf(Uint32Array.of(least)), greatest: bytesOf(Uint32Array.of(greatest)) };
    }
    case 'float': {
      const { least, greatest } = floatExtremes(new Float32Array(buffer, byteOffset, byteLength / 4));
      if (Number.isNaN(least)) return undefined;
      return { least: bytesOf(Float32Array.of(least)), greatest: bytesOf(Float32Array.of(greatest)) };
    }
    case 'double': {
      const { least, greatest } = floatExtremes(new Float64Array(buffer, byteOffset, byteLength / 8));
      if (Number.isNaN(least)) return undefined;
      return { least: bytesOf(Float64Array.of(least)), greatest: bytesOf(Float64Array.of(greatest)) };
    }
    case 'int64': {
      const words = new Int32Array(buffer, byteOffset, byteLength / 4);
      return rangeOfSafeIntegers(words) ?? rangeOfWords(words, 0);
    }
    case 'uint64':
      return rangeOfWords(new Int32Array(buffer, byteOffset, byteLength / 4), signBit);
    default:
      return kind satisfies never;
  }
}

const signBit = 0x8000_0000 | 0;

interface Extremes {
  readonly least: number;
  readonly greatest: number;
}

function extremes(values: Int32Array | Uint32Array): Extremes {
  let least = values[0] as number;
  let greatest = least;
  for (let at = 1; at < values.length; at++) {
    const value = values[at] as number;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return { least, greatest };
}

/** Beside a NaN there are none, and a zero stands for both zeros: readers differ on what they compare. */
function floatExtremes(values: Float32Array | Float64Array): Extremes {
  let least = values[0] as number;
  let greatest = least;
  let rest = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    // 0, or NaN from the first value on that is not finite.
    rest += value * 0;
  }
  if (Number.isNaN(rest) && values.some(Number.isNaN)) return { least: Number.NaN, greatest: Number.NaN };
  return { least: least === 0 ? -0 : least, greatest: greatest === 0 ? 0 : greatest };
}

/** As numbers, which takes half the time of what follows; undefined where not all are so small that a number holds them. */
function rangeOfSafeIntegers(words: Int32Array): ValueRange | undefined {
  let least = numberAt(words, 0);
  let greatest = least;
  if (!Number.isSafeInteger(least)) return undefined;
  for (let at = 2; at < words.length; at += 2) {
    const value = numberAt(words, at);
    if (value < least) least = value;
    else if (value > greatest) greatest = value;
  }
  if (!Number.isSafeInteger(least) || !Number.isSafeInteger(greatest)) return undefined;
  return { least: bytesOf(BigInt64Array.of(BigInt(least))), greatest: bytesOf(BigInt64Array.of(BigInt(greatest))) };
}

function numberAt(words: Int32Array, at: number): number {
  return (words[at + 1] as number) * 2 ** 32 + ((words[at] as number) >>> 0);
}

/** 64-bit integers as pairs of words: bigints would take many times as long. `flip` turns the order of signs. */
function rangeOfWords(words: Int32Array, flip: number): ValueRange {
  let leastHigh = (words[1] as number) ^ flip;
  let leastLow = (words[0] as number) >>> 0;
  let greatestHigh = leastHigh;
  let greatestLow = leastLow;
  for (let at = 2; at < words.length; at += 2) {
    const high = (words[at + 1] as number) ^ flip;
    const low = (words[at] as number) >>> 0;
    if (high < leastHigh || (high === leastHigh && low < leastLow)) {
      leastHigh = high;
      leastLow = low;
    }
    if (high > greatestHigh || (high === greatestHigh && low > greatestLow)) {
      greatestHigh = high;
      greatestLow = low;
    }
  }
  return {
    least: bytesOf(Int32Array.of(leastLow, leastHigh ^ flip)),
    greatest: bytesOf(Int32Array.of(greatestLow, greatestHigh ^ flip)),
  };
}

function bytesOf({ buffer }: Int32Array | Uint32Array | BigInt64Array | Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer);
}
