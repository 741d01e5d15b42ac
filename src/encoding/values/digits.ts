import { ZERO } from '@framehold/columns';

/**
 * For 0 to 999 the three digits, first digit in the lowest byte, so that one 32-bit store writes them. The top byte
 * holds a count of digits: in LEADING those of the number without zeros before it (and the digits are moved down to
 * match), in TRIMMED those of the fraction without zeros behind it.
 */
const LEADING = new Int32Array(1000);
const TRIMMED = new Int32Array(1000);
for (let n = 0; n < 1000; n++) {
  const hundreds = Math.floor(n / 100);
  const tens = Math.floor(n / 10) % 10;
  const ones = n % 10;
  const digits = (ZERO + hundreds) | ((ZERO + tens) << 8) | ((ZERO + ones) << 16);
  const leading = n > 99 ? 3 : n > 9 ? 2 : 1;
  const trimmed = ones > 0 ? 3 : tens > 0 ? 2 : 1;
  LEADING[n] = (digits >> (8 * (3 - leading))) | (leading << 24);
  TRIMMED[n] = digits | (trimmed << 24);
}

/** Every writer here puts digits at `at`, may spoil the byte behind them, and returns where they end. */
export function write2Digits(out: DataView, at: number, n: number): number {
  out.setUint16(at, (TRIMMED[n] as number) >> 8, true);
  return at + 2;
}

export function write3Digits(out: DataView, at: number, n: number): number {
  out.setInt32(at, TRIMMED[n] as number, true);
  return at + 3;
}

export function write6Digits(out: DataView, at: number, n: number): number {
  const thousands = (n / 1000) | 0;
  write3Digits(out, at, thousands);
  return write3Digits(out, at + 3, n - thousands * 1000);
}

export function write9Digits(out: DataView, at: number, n: number): number {
  const millions = (n / 1_000_000) | 0;
  write3Digits(out, at, millions);
  return write6Digits(out, at + 3, n - millions * 1_000_000);
}

/** The three digits of a fraction without the zeros at their end, but at least one. */
export function writeTrimmed3Digits(out: DataView, at: number, n: number): number {
  const digits = TRIMMED[n] as number;
  out.setInt32(at, digits, true);
  return at + (digits >> 24);
}

/** A whole number from 0 to 2^31 - 1. */
export function writeUint31(out: DataView, at: number, n: number): number {
  if (n < 1000) return writeLeading(out, at, n);
  if (n < 1_000_000) {
    const thousands = (n / 1000) | 0;
    return write3Digits(out, writeLeading(out, at, thousands), n - thousands * 1000);
  }
  const millions = (n / 1_000_000) | 0;
  const rest = n - millions * 1_000_000;
  if (millions < 1000) return write6Digits(out, writeLeading(out, at, millions), rest);
  const billions = (millions / 1000) | 0;
  return write6Digits(out, write3Digits(out, writeLeading(out, at, billions), millions - billions * 1000), rest);
}

/** A whole number from 0 to 2^53 - 1. */
export function writeUint53(out: DataView, at: number, n: number): number {
  if (n < 1_000_000_000) return writeUint31(out, at, n | 0);
  const billions = Math.floor(n / 1_000_000_000);
  return write9Digits(out, writeUint31(out, at, billions | 0), (n - billions * 1_000_000_000) | 0);
}

function writeLeading(out: DataView, at: number, n: number): number {
  const digits = LEADING[n] as number;
  out.setInt32(at, digits, true);
  return at + (digits >> 24);
}
