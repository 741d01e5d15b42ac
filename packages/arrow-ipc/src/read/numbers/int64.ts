/**
 * 64-bit integers as two halves, in plain numbers: BigInt arithmetic costs some 100 ns a value.
 * `high` is signed, `low` unsigned; the result is left in `out` at `at`. False: it does not fit or divide.
 */
export function multiply(high: number, low: number, factor: number, out: Int32Array, at: number): boolean {
  const product = low * factor;
  const carry = Math.floor(product / 2 ** 32);
  const upper = high * factor + carry;
  out[at] = product - carry * 2 ** 32;
  out[at + 1] = upper;
  return upper >= -(2 ** 31) && upper < 2 ** 31;
}

export function divide(high: number, low: number, divisor: number, out: Int32Array, at: number): boolean {
  const upper = Math.floor(high / divisor);
  const rest = (high - upper * divisor) * 2 ** 32 + low;
  const lower = Math.floor(rest / divisor);
  out[at] = lower;
  out[at + 1] = upper;
  return rest === lower * divisor;
}

export interface Int64Range {
  readonly min: bigint;
  readonly max: bigint;
  readonly minHigh: number;
  readonly maxHigh: number;
}

export function int64Range(min: bigint, max: bigint): Int64Range {
  return { min, max, minHigh: Number(min >> 32n), maxHigh: Number(max >> 32n) };
}

export function isInRange(high: number, low: number, { min, max, minHigh, maxHigh }: Int64Range): boolean {
  if (high > minHigh && high < maxHigh) return true;
  const value = int64FromHalves(high, low);
  return value >= min && value <= max;
}

export function int64FromHalves(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0);
}
