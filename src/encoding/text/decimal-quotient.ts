const tens = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);
const splitter = 2 ** 27 + 1;
const slack = 2 ** -48;

/** 10 to a power from 0 to 22: a double holds these exactly. */
export function powerOfTen(exponent: number): number {
  return tens[exponent] as number;
}

/**
 * (a × 10^bDigits + b) / 10^scale, rounded as IEEE 754 does it; NaN if this method is not exact enough. For 0 ≤ a < 2^53, 0 ≤ b <
 * 10^bDigits, bDigits ≤ 4, scale ≤ 22: the 16 to 19 digits in which programs write doubles. Several times as fast as
 * `Number(text)`.
 *
 * Numerator and quotient are sums of two doubles (Dekker 1971). The second part of the quotient has a relative error below 2^-50.
 * Where both ends of its range give the same sum, every value between them rounds to it.
 */
export function decimalQuotient(a: number, b: number, bDigits: number, scale: number): number {
  const factor = tens[bDigits] as number;
  const product = a * factor;
  const high = product + b;
  const low = productError(a, factor, product) + sumError(product, b, high);
  const divisor = tens[scale] as number;
  const first = high / divisor;
  const back = first * divisor;
  const second = (high - back - productError(first, divisor, back) + low) / divisor;
  const margin = second * slack;
  const result = first + (second + margin);
  return result === first + (second - margin) ? result : Number.NaN;
}

/** x × y minus the product. */
function productError(x: number, y: number, product: number): number {
  const xs = x * splitter;
  const xHigh = xs - (xs - x);
  const xLow = x - xHigh;
  const ys = y * splitter;
  const yHigh = ys - (ys - y);
  const yLow = y - yHigh;
  return xLow * yLow - (product - xHigh * yHigh - xLow * yHigh - xHigh * yLow);
}

/** x + y minus the sum. */
function sumError(x: number, y: number, sum: number): number {
  const added = sum - x;
  return x - (sum - added) + (y - added);
}
