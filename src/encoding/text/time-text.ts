import { COLON, MINUS, POINT, SPACE, ZERO } from '@framehold/columns';

const PLUS = 43;
const T = 84;
const Z = 90;
const dateBytes = 10;
const daySeconds = 86_400;
const none = -1;

/** Says that a text is no value that is certain. */
const noTime = Number.NaN;

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
/** Nanoseconds of the last digit of a fraction, by its number of digits. */
const nanosOfFraction = [0, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 10, 1] as const;

/** Two digits; below 0: they are none. */
function pairAt(bytes: Uint8Array, at: number): number {
  const ten = (bytes[at] as number) - ZERO;
  const one = (bytes[at + 1] as number) - ZERO;
  return ten >= 0 && ten <= 9 && one >= 0 && one <= 9 ? ten * 10 + one : none;
}

/** The day since 1970 of `yyyy-MM-dd` at `at`, of a year from 1 on; NaN where there is none. */
function dayAt(bytes: Uint8Array, at: number, end: number): number {
  if (end - at < dateBytes || bytes[at + 4] !== MINUS || bytes[at + 7] !== MINUS) return noTime;
  const century = pairAt(bytes, at);
  const ofCentury = pairAt(bytes, at + 2);
  const month = pairAt(bytes, at + 5);
  const day = pairAt(bytes, at + 8);
  if (century < 0 || ofCentury < 0 || month < 1 || month > 12) return noTime;
  const year = century * 100 + ofCentury;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const most = month === 2 && isLeap ? 29 : (daysOfMonth[month - 1] as number);
  if (year === 0 || day < 1 || day > most) return noTime;
  return daysFromCivil(year, month, day);
}

/** Years that begin in March, so that the day of February that comes and goes is their last one. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const ofYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + ofYear - 719_468;
}

/** Days since 1970 of `yyyy-MM-dd`. */
export function dateOf(bytes: Uint8Array, from: number, end: number): number {
  return end - from === dateBytes ? dayAt(bytes, from, end) : noTime;
}

/** A time as whole seconds, and nanoseconds behind them; where its text ends. */
export class TimeParts {
  seconds = 0;
  nanos = 0;
  /** Number of digits of the fraction. */
  digits = 0;
  end = 0;
}

/** `HH:mm:ss` with up to 9 decimals. */
function readClock(parts: TimeParts, bytes: Uint8Array, from: number, end: number): boolean {
  if (end - from < 8 || bytes[from + 2] !== COLON || bytes[from + 5] !== COLON) return false;
  const hour = pairAt(bytes, from);
  const minute = pairAt(bytes, from + 3);
  const second = pairAt(bytes, from + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;
  parts.seconds = hour * 3600 + minute * 60 + second;
  parts.nanos = 0;
  parts.digits = 0;
  let at = from + 8;
  if (at < end && bytes[at] === POINT) {
    const first = ++at;
    let value = 0;
    for (; at < end && at - first < 10; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    parts.digits = at - first;
    if (parts.digits === 0 || parts.digits > 9) return false;
    parts.nanos = value * (nanosOfFraction[parts.digits] as number);
  }
  parts.end = at;
  return true;
}

/** The time of a day. */
export function readTime(parts: TimeParts, bytes: Uint8Array, from: number, end: number): boolean {
  return readClock(parts, bytes, from, end) && parts.end === end;
}

/** `yyyy-MM-dd`, alone or with a time behind a space or T, and then perhaps `Z` or an offset: seconds since 1970 in UTC. */
export function readTimestamp(parts: TimeParts, bytes: Uint8Array, from: number, end: number): boolean {
  const day = dayAt(bytes, from, end);
  if (Number.isNaN(day)) return false;
  const clock = from + dateBytes;
  if (clock === end) {
    parts.seconds = day * daySeconds;
    parts.nanos = 0;
    parts.digits = 0;
    return true;
  }
  if (bytes[clock] !== T && bytes[clock] !== SPACE) return false;
  if (!readClock(parts, bytes, clock + 1, end)) return false;
  parts.seconds += day * daySeconds;
  if (parts.end === end) return true;
  const zone = bytes[parts.end];
  if (zone === Z) return parts.end + 1 === end;
  if (zone !== PLUS && zone !== MINUS) return false;
  const offset = offsetOf(bytes, parts.end + 1, end);
  if (offset < 0) return false;
  parts.seconds += zone === PLUS ? -offset : offset;
  return true;
}

/** The seconds of `02`, `0200` or `02:00`. */
function offsetOf(bytes: Uint8Array, from: number, end: number): number {
  const hours = end - from >= 2 ? pairAt(bytes, from) : none;
  if (hours < 0 || hours > 15) return none;
  if (end === from + 2) return hours * 3600;
  const at = bytes[from + 2] === COLON ? from + 3 : from + 2;
  const minutes = end === at + 2 ? pairAt(bytes, at) : none;
  return minutes < 0 || minutes > 59 ? none : hours * 3600 + minutes * 60;
}
