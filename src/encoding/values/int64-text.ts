import { write9Digits, writeUint31, writeUint53 } from './digits.ts';

const WORD = 4294967296;
const BILLION = 1_000_000_000;

/**
 * The floor of (high * 2^32 + low) / divisor, exact for every 64-bit value if the quotient is below 2^53. The remainder is then
 * `(low - Math.imul(quotient, divisor)) | 0`.
 *
 * The double quotient is off by one at most, and its remainder modulo 2^32 shows in which direction. `high` is signed or
 * unsigned, as the value is; `divisor` is below 2^30.
 */
export function floorQuotient(high: number, low: number, divisor: number): number {
  const quotient = Math.floor((high * WORD + (low >>> 0)) / divisor);
  const remainder = (low - Math.imul(quotient, divisor)) | 0;
  if (remainder < 0) return quotient - 1;
  return remainder >= divisor ? quotient + 1 : quotient;
}

export function writeInt64(out: DataView, at: number, high: number, low: number): number {
  if (high >= 0) {
    if (high === 0 && low >= 0) return writeUint31(out, at, low);
    return writeUint64(out, at, high, low);
  }
  out.setUint8(at, 45);
  const magnitude = -low | 0;
  return writeUint64(out, at + 1, magnitude === 0 ? -high | 0 : ~high, magnitude);
}

/** Both words may have any sign; their bits count. */
export function writeUint64(out: DataView, at: number, high: number, low: number): number {
  const top = high >>> 0;
  if (top < 0x200000) return writeUint53(out, at, top * WORD + (low >>> 0));
  const billions = floorQuotient(top, low, BILLION);
  return write9Digits(out, writeUint53(out, at, billions), (low - Math.imul(billions, BILLION)) | 0);
}
