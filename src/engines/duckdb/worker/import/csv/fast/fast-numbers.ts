import { MINUS, POINT, ZERO } from '@framehold/columns';
import { powerOfTen } from '../../../../../../encoding/text/decimal-quotient.ts';
import { writeInt64, writeLong } from '../../../../../../encoding/text/number-text.ts';
import { isKeptByDouble } from '../../text/text-kind.ts';
import { patterns } from '../../text/text-patterns.ts';
import { type FastColumn, unsure, type ValueReader } from './fast-column.ts';

const NINE = 57;
const CAPITAL_E = 69;
const SMALL_E = 101;

/** A number of this many digits fits into 32 bits, */
const shortDigits = 9;
/** and a number of this many is exact in a double, and so are all intermediate steps. */
const exactDigits = 15;

export function readInt64(column: FastColumn, bytes: Buffer, start: number, row: number): number {
  const isNegative = bytes[start] === MINUS;
  const first = isNegative ? start + 1 : start;
  let at = first;
  let value = 0;
  let digit = (bytes[at] as number) - ZERO;
  while (digit >= 0 && digit <= 9) {
    value = (Math.imul(value, 10) + digit) | 0;
    digit = (bytes[++at] as number) - ZERO;
  }
  const digits = at - first;
  if (digits === 0) return unsure;
  if (bytes[first] === ZERO && (digits > 1 || isNegative) && !column.isNamed) return unsure;
  if (digits > exactDigits) return writeLong(column.ints, 2 * row, bytes, first, at, isNegative) ? at : unsure;
  const size = digits > shortDigits ? numberOf(bytes, first, at) : value;
  writeInt64(column.ints, 2 * row, isNegative ? -size : size);
  return at;
}

/** A reader of whole numbers with fewer bits, for a named type. */
function narrowIntReader(width: 1 | 2 | 4): ValueReader {
  const end = 2 ** (8 * width - 1);
  return ({ data }, bytes, start, row) => {
    const isNegative = bytes[start] === MINUS;
    const first = isNegative ? start + 1 : start;
    let at = first;
    while (isDigit(bytes[at] as number)) at++;
    if (at === first || at - first > exactDigits) return unsure;
    const size = numberOf(bytes, first, at);
    const value = isNegative ? -size : size;
    if (value < -end || value >= end) return unsure;
    for (let byte = 0; byte < width; byte++) data[row * width + byte] = value >> (8 * byte);
    return at;
  };
}

export const readInt8 = narrowIntReader(1);
export const readInt16 = narrowIntReader(2);
export const readInt32 = narrowIntReader(4);

/** The number of the digits from `start` to `end`, where a point counts for nothing. */
function numberOf(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte !== POINT) value = value * 10 + byte - ZERO;
  }
  return value;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

export function readDouble(column: FastColumn, bytes: Buffer, start: number, row: number): number {
  const isNegative = bytes[start] === MINUS;
  const first = isNegative ? start + 1 : start;
  let at = first;
  let value = 0;
  let digit = (bytes[at] as number) - ZERO;
  while (digit >= 0 && digit <= 9) {
    value = (Math.imul(value, 10) + digit) | 0;
    digit = (bytes[++at] as number) - ZERO;
  }
  let digits = at - first;
  if (digits === 0 || (digits > 1 && bytes[first] === ZERO)) return unsure;
  let decimals = 0;
  if (digit === POINT - ZERO) {
    const point = at;
    digit = (bytes[++at] as number) - ZERO;
    while (digit >= 0 && digit <= 9) {
      value = (Math.imul(value, 10) + digit) | 0;
      digit = (bytes[++at] as number) - ZERO;
    }
    decimals = at - point - 1;
    if (decimals === 0) return unsure;
    digits += decimals;
  }
  const hasExponent = digit === SMALL_E - ZERO || digit === CAPITAL_E - ZERO;
  if (digits > exactDigits || hasExponent) return readLongDouble(column, bytes, start, row);
  let size = digits > shortDigits ? numberOf(bytes, first, at) : value;
  // Both are exact, so that this rounds once and right.
  if (decimals > 0) size /= powerOfTen(decimals);
  column.doubles[row] = isNegative ? -size : size;
  return at;
}

const isNumberLetter = new Uint8Array(256);
for (const letter of Buffer.from('0123456789+-.eE')) isNumberLetter[letter] = 1;
const isNumber = new RegExp(`^(?:${patterns.number})$`);
const longestNumber = 100;

/** A number with an exponent, or of more digits than are exact. */
function readLongDouble(column: FastColumn, bytes: Buffer, start: number, row: number): number {
  let end = start;
  while (isNumberLetter[bytes[end] as number] === 1) end++;
  if (end - start > longestNumber) return unsure;
  const text = bytes.toString('latin1', start, end);
  const value = Number(text);
  if (!isShortest(text, value) && !isSure(text, value, column.isNamed)) return unsure;
  column.doubles[row] = value;
  return end;
}

/**
 * Whether a text is the shortest for a number, as most programs write it: then a double keeps its digits. Numbers of few
 * binary places get the longer test, for they may lie halfway between two of the shortest.
 */
function isShortest(text: string, value: number): boolean {
  return !Number.isInteger(value * 2 ** 25) && text === String(value);
}

function isSure(text: string, value: number, isNamed: boolean): boolean {
  if (!isNumber.test(text) || !Number.isFinite(value)) return false;
  if (isNamed) return value !== 0 || /^[-0.]*(?:e|$)/i.test(text);
  return isKeptByDouble(text) && !isHalfway(value);
}

/**
 * Whether the decimals of a number end in a 5 right behind the digits that a double keeps: DuckDB rounds to the even
 * digit then, and JavaScript up.
 */
function isHalfway(value: number): boolean {
  return /^[^e]{17,18}50*e/.test(Math.abs(value).toExponential(40));
}
