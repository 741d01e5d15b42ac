import { COLON, MINUS, POINT, SPACE, ZERO } from '@framehold/columns';
import { type FastColumn, unsure } from './fast-column.ts';
import { setInt64 } from './fast-numbers.ts';

const PLUS = 43;
const T = 84;
const Z = 90;

const dateLength = 10;
const daySeconds = 86_400;
const noDay = Number.MIN_SAFE_INTEGER;
/** Below this number of seconds, the microseconds are exact in a double. */
const exactSeconds = Math.floor(Number.MAX_SAFE_INTEGER / 1e6) - 1;
/** Microseconds of the last digit of a fraction, by its number of digits. */
const microsOfFraction = [1e6, 1e5, 1e4, 1e3, 1e2, 10] as const;

/** `yyyy-MM-dd`. */
export function readDate(column: FastColumn, bytes: Buffer, at: number, row: number): number {
  const day = dayAt(column, bytes, at);
  if (day === noDay) return unsure;
  column.ints[row] = day;
  return at + dateLength;
}

/** `yyyy-MM-dd HH:mm`, with seconds and down to microseconds. */
export function readLocalTimestamp(column: FastColumn, bytes: Buffer, at: number, row: number): number {
  return readTimestamp(column, bytes, at, row, false);
}

/** `yyyy-MM-dd HH:mm:ss`, down to microseconds, and `Z` or an offset. Where the type was named, there may be neither. */
export function readZonedTimestamp(column: FastColumn, bytes: Buffer, at: number, row: number): number {
  return readTimestamp(column, bytes, at, row, true);
}

function readTimestamp(column: FastColumn, bytes: Buffer, start: number, row: number, mayHaveZone: boolean): number {
  const day = dayAt(column, bytes, start);
  const separator = bytes[start + dateLength];
  if (day === noDay || (separator !== T && separator !== SPACE)) return unsure;
  const hour = pairAt(bytes, start + 11);
  const minute = pairAt(bytes, start + 14);
  if ((hour | minute) < 0 || hour > 23 || minute > 59 || bytes[start + 13] !== COLON) return unsure;
  let at = start + 16;
  let seconds = day * daySeconds + (hour * 3600 + minute * 60);
  let micros = 0;
  const hasSeconds = bytes[at] === COLON;
  if (hasSeconds) {
    const second = pairAt(bytes, at + 1);
    if (second < 0 || second > 59) return unsure;
    seconds += second;
    at += 3;
    if (bytes[at] === POINT) {
      const fraction = ++at;
      const first = pairAt(bytes, at);
      const middle = pairAt(bytes, at + 2);
      const last = pairAt(bytes, at + 4);
      if ((first | middle | last) >= 0) {
        micros = first * 10_000 + middle * 100 + last;
        at += 6;
      } else {
        for (let digit = digitAt(bytes, at); digit >= 0 && digit <= 9; digit = digitAt(bytes, ++at)) {
          micros = micros * 10 + digit;
        }
        if (at === fraction) return unsure;
        micros *= microsOfFraction[at - fraction] as number;
      }
    }
  }
  const zone = bytes[at];
  if (zone === Z || zone === PLUS || zone === MINUS) {
    if (!mayHaveZone || !hasSeconds) return unsure;
    at++;
    if (zone !== Z) {
      const offset = offsetAt(bytes, at);
      if (offset < 0) return unsure;
      seconds += zone === PLUS ? -offset : offset;
      at = offsetEnd(bytes, at);
    }
  } else if (mayHaveZone && !column.isNamed) return unsure;
  setMicroseconds(column.ints, row, seconds, micros);
  return at;
}

function setMicroseconds(ints: Int32Array, row: number, seconds: number, micros: number): void {
  if (Math.abs(seconds) < exactSeconds) {
    setInt64(ints, row, seconds * 1e6 + micros);
    return;
  }
  const value = BigInt(seconds) * 1_000_000n + BigInt(micros);
  ints[2 * row] = Number(BigInt.asIntN(32, value));
  ints[2 * row + 1] = Number(value >> 32n);
}

function digitAt(bytes: Buffer, at: number): number {
  return (bytes[at] as number) - ZERO;
}

/** The number that each pair of bytes says: to look it up is quicker than to test whether both are digits. */
const pairs = new Int8Array(256 * 256).fill(unsure);
for (let value = 0; value < 100; value++) {
  pairs[((ZERO + Math.floor(value / 10)) << 8) | (ZERO + (value % 10))] = value;
}

/** Two digits; below 0: they are none. */
function pairAt(bytes: Buffer, at: number): number {
  return pairs[((bytes[at] as number) << 8) | (bytes[at + 1] as number)] as number;
}

/** The seconds of `02`, `0200` or `02:00`. */
function offsetAt(bytes: Buffer, at: number): number {
  const hours = pairAt(bytes, at);
  if (hours < 0 || hours > 15) return unsure;
  const end = offsetEnd(bytes, at);
  if (end === at + 2) return hours * 3600;
  const minutes = pairAt(bytes, end - 2);
  return minutes < 0 || minutes > 59 ? unsure : hours * 3600 + minutes * 60;
}

function offsetEnd(bytes: Buffer, at: number): number {
  const next = bytes[at + 2] as number;
  if (next === COLON) return at + 5;
  return next >= ZERO && next < COLON ? at + 4 : at + 2;
}

/** The day since 1970 of the date at `at`; `noDay` if it is no date from year 1 to 9999. */
function dayAt(column: FastColumn, bytes: Buffer, at: number): number {
  if (bytes[at + 4] !== MINUS || bytes[at + 7] !== MINUS) return noDay;
  const yearDigits = fourBytes(bytes, at, at + 2);
  const dayDigits = fourBytes(bytes, at + 5, at + 8);
  if (yearDigits === column.yearDigits && dayDigits === column.dayDigits) return column.day;
  const day = dayOf(pairAt(bytes, at), pairAt(bytes, at + 2), pairAt(bytes, at + 5), pairAt(bytes, at + 8));
  if (day === noDay) return noDay;
  column.yearDigits = yearDigits;
  column.dayDigits = dayDigits;
  column.day = day;
  return day;
}

function fourBytes(bytes: Buffer, at: number, then: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[then] as number) << 8) |
    (bytes[then + 1] as number)
  );
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const msOfDay = 86_400_000;

function dayOf(century: number, yearOfCentury: number, month: number, dayOfMonth: number): number {
  if (century < 0 || yearOfCentury < 0 || month < 1 || month > 12) return noDay;
  const year = century * 100 + yearOfCentury;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const most = month === 2 && isLeap ? 29 : (daysOfMonth[month - 1] as number);
  if (year === 0 || dayOfMonth < 1 || dayOfMonth > most) return noDay;
  const date = new Date(0);
  // Date.UTC maps the years before 100 to the last century.
  return date.setUTCFullYear(year, month - 1, dayOfMonth) / msOfDay;
}
