const limits = Array.from({ length: 39 }, (_, digits) => 10 ** digits);

/** Whether an integer of this many words has no more digits than `precision`, at most 38. */
export function hasDigits(values: Int32Array, from: number, words: number, precision: number): boolean {
  return fits(values, from, words, limits[precision] as number) || fitsExactly(values, from, words, precision);
}

/** A value near the limit is left to the exact test. */
function fits(values: Int32Array, from: number, words: number, limit: number): boolean {
  let approximate = values[from + words - 1] as number;
  for (let n = words - 2; n >= 0; n--) approximate = approximate * 2 ** 32 + ((values[from + n] as number) >>> 0);
  return Math.abs(approximate) < limit * (1 - 1e-12);
}

function fitsExactly(values: Int32Array, from: number, words: number, precision: number): boolean {
  let exact = BigInt(values[from + words - 1] as number);
  for (let n = words - 2; n >= 0; n--) exact = (exact << 32n) | BigInt((values[from + n] as number) >>> 0);
  const limit = 10n ** BigInt(precision);
  return exact > -limit && exact < limit;
}
