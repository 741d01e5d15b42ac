import { writeInt64, writeUint64 } from './int64-text.ts';

/** The longest text: a sign, 39 digits, a point and a zero before it. */
export const INT128_TEXT_BYTES = 48;

/** A 128-bit integer of four little-endian words from `words[first]`, in decimal digits. */
export function writeInt128(out: DataView, at: number, words: Int32Array, first: number, signed: boolean): number {
  const word0 = words[first] as number;
  const word1 = words[first + 1] as number;
  const word2 = words[first + 2] as number;
  const word3 = words[first + 3] as number;
  if (word2 === 0 && word3 === 0) return writeUint64(out, at, word1, word0);
  if (signed && word1 < 0 && word2 === -1 && word3 === -1) return writeInt64(out, at, word1, word0);
  let value = 0n;
  for (let i = 3; i >= 0; i--) value = (value << 32n) | BigInt((words[first + i] as number) >>> 0);
  const text = String(signed ? BigInt.asIntN(128, value) : value);
  for (let i = 0; i < text.length; i++) out.setUint8(at + i, text.charCodeAt(i));
  return at + text.length;
}

/** Turns the integer digits in [from, to), sign included, into a decimal of that scale; returns where it ends. */
export function insertPoint(out: DataView, from: number, to: number, scale: number): number {
  if (scale === 0) return to;
  const start = out.getUint8(from) === 45 ? from + 1 : from;
  const zeros = Math.max(0, scale + 1 - (to - start));
  const end = to + zeros + 1;
  const point = end - scale - 1;
  for (let i = to - 1; i >= start; i--) {
    const moved = i + zeros;
    out.setUint8(moved < point ? moved : moved + 1, out.getUint8(i));
  }
  for (let i = start; i < start + zeros; i++) out.setUint8(i < point ? i : i + 1, 48);
  out.setUint8(point, 46);
  return end;
}
