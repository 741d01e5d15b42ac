import { MINUS, POINT, ZERO } from '@framehold/columns';

const PLUS = 43;
const CAPITAL_E = 69;
const SMALL_E = 101;
/** A whole number of this many digits is exact in a double, and so are all intermediate steps. */
const exactDigits = 15;
const mostInt64Digits = 20;
const longestNumber = 100;
const powersOfTen = Float64Array.from({ length: exactDigits + 1 }, (_, power) => 10 ** power);
const low = new Int32Array(2);
const bits = new Float64Array(low.buffer);

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}

function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && isDigit(bytes[at] as number)) at++;
  return at;
}

/** Of at most 15 digits; a point counts for nothing. */
function exactNumber(bytes: Uint8Array, from: number, end: number): number {
  let value = 0;
  for (let at = from; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte !== POINT) value = value * 10 + byte - ZERO;
  }
  return value;
}

/** `-12`, if it fits this many bits; NaN if it has too many digits to be exact, or is anything else. */
export function shortInteger(bytes: Uint8Array, from: number, end: number): number {
  const isNegative = bytes[from] === MINUS;
  const first = isNegative ? from + 1 : from;
  if (first === end || end - first > exactDigits || digitsEnd(bytes, first, end) !== end) return Number.NaN;
  const value = exactNumber(bytes, first, end);
  return isNegative ? -value : value;
}

/** `-12` of more digits. */
export function longInteger(bytes: Uint8Array, from: number, end: number): bigint | undefined {
  const isNegative = bytes[from] === MINUS;
  const first = isNegative ? from + 1 : from;
  if (first === end || end - first > mostInt64Digits || digitsEnd(bytes, first, end) !== end) return undefined;
  const split = Math.max(first, end - 10);
  const value = BigInt(exactNumber(bytes, first, split)) * 10_000_000_000n + BigInt(exactNumber(bytes, split, end));
  return isNegative ? -value : value;
}

/**
 * `-1.25` as a whole number of the last of `scale` decimals. Undefined where it has more decimals, or more digits than
 * `precision`.
 */
export function unscaledDecimal(
  bytes: Uint8Array,
  from: number,
  end: number,
  { precision, scale }: { readonly precision: number; readonly scale: number },
): number | bigint | undefined {
  const isNegative = bytes[from] === MINUS;
  const first = isNegative ? from + 1 : from;
  const point = digitsEnd(bytes, first, end);
  if (point === first) return undefined;
  let decimals = 0;
  if (point < end) {
    decimals = end - point - 1;
    if (bytes[point] !== POINT || decimals === 0 || decimals > scale) return undefined;
    if (digitsEnd(bytes, point + 1, end) !== end) return undefined;
  }
  const digits = point - first + scale;
  if (digits <= exactDigits) {
    const value = exactNumber(bytes, first, end) * (powersOfTen[scale - decimals] as number);
    if (value >= 10 ** precision) return undefined;
    return isNegative ? -value : value;
  }
  if (end - first > longestNumber) return undefined;
  let text = '';
  for (let at = first; at < end; at++) if (at !== point) text += String.fromCharCode(bytes[at] as number);
  const value = BigInt(text) * 10n ** BigInt(scale - decimals);
  if (value >= 10n ** BigInt(precision)) return undefined;
  return isNegative ? -value : value;
}

/** `-1.25e-3`; NaN where it is not finite or anything else. */
export function doubleOf(bytes: Uint8Array, from: number, end: number): number {
  const isNegative = bytes[from] === MINUS;
  const first = isNegative ? from + 1 : from;
  const point = digitsEnd(bytes, first, end);
  if (point === first || (bytes[first] === ZERO && point - first > 1)) return Number.NaN;
  let at = point;
  let decimals = 0;
  if (bytes[at] === POINT && at < end) {
    at = digitsEnd(bytes, at + 1, end);
    decimals = at - point - 1;
    if (decimals === 0) return Number.NaN;
  }
  if (at === end && point - first + decimals <= exactDigits) {
    const whole = exactNumber(bytes, first, end);
    // Both are exact, so that this rounds once and right.
    const size = decimals === 0 ? whole : whole / (powersOfTen[decimals] as number);
    return isNegative ? -size : size;
  }
  if (at < end && !isExponent(bytes, at, end)) return Number.NaN;
  if (end - from > longestNumber) return Number.NaN;
  return longDouble(bytes, from, end, at);
}

function longDouble(bytes: Uint8Array, from: number, end: number, exponent: number): number {
  const value = Number(String.fromCharCode(...bytes.subarray(from, end)));
  if (!Number.isFinite(value)) return Number.NaN;
  if (value !== 0) return value;
  // Cut to zero.
  for (let at = from; at < exponent; at++) {
    const byte = bytes[at] as number;
    if (isDigit(byte) && byte !== ZERO) return Number.NaN;
  }
  return value;
}

function isExponent(bytes: Uint8Array, from: number, end: number): boolean {
  const letter = bytes[from];
  if (letter !== SMALL_E && letter !== CAPITAL_E) return false;
  const sign = bytes[from + 1];
  const first = sign === PLUS || sign === MINUS ? from + 2 : from + 1;
  return first < end && end - first <= 3 && digitsEnd(bytes, first, end) === end;
}

/** The float that is nearest to the number that was written; NaN where rounding twice could have given another. */
export function floatOf(value: number): number {
  if (value === 0) return value;
  const size = Math.abs(value);
  if (!(size > 1e-30 && size < 1e38)) return Number.NaN;
  bits[0] = value;
  return ((low[0] as number) & 0x1fff_ffff) === 0x1000_0000 ? Number.NaN : Math.fround(value);
}
