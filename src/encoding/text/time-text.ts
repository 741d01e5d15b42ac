import { COLON, MINUS, POINT, SPACE, ZERO } from '@framehold/columns';

const PLUS = 43;
const T = 84;
const Z = 90;
const dateBytes = 10;
const daySeconds = 86_400;
const none = -1;
/** Nanoseconds: no type has more. */
const mostDigits = 9;

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** The number that each pair of bytes says: to look it up is quicker than to test whether both are digits. */
const pairs = new Int8Array(256 * 256).fill(none);
for (let value = 0; value < 100; value++) {
  pairs[((ZERO + Math.floor(value / 10)) << 8) | (ZERO + (value % 10))] = value;
}

/** Two digits; below 0: they are none. */
function pairAt(bytes: Uint8Array, at: number): number {
  return pairs[((bytes[at] as number) << 8) | (bytes[at + 1] as number)] as number;
}

/**
 * A time as whole seconds and the digits behind them. It ends before the first byte that is no part of one: whether its text ends
 * there is for the caller to see.
 */
export class TimeText {
  /** Of a day, or since 1970 in UTC. */
  seconds = 0;
  /** The digits behind the point as a number, and how many they are. */
  fraction = 0;
  digits = 0;
  hasClock = false;
  hasSeconds = false;
  hasZone = false;
  /** Behind its last character. */
  end = 0;
  /** The day since 1970. */
  day = 0;
  /** Dates mostly repeat: the digits of the last one. */
  #yearDigits = 0;
  #dayDigits = 0;

  /** `yyyy-MM-dd`, of a year from 1 on. */
  readDate(bytes: Uint8Array, at: number): boolean {
    if (bytes[at + 4] !== MINUS || bytes[at + 7] !== MINUS) return false;
    const yearDigits = fourBytes(bytes, at, at + 2);
    const dayDigits = fourBytes(bytes, at + 5, at + 8);
    this.end = at + dateBytes;
    if (yearDigits === this.#yearDigits && dayDigits === this.#dayDigits) return true;
    const century = pairAt(bytes, at);
    const ofCentury = pairAt(bytes, at + 2);
    const month = pairAt(bytes, at + 5);
    const day = pairAt(bytes, at + 8);
    if ((century | ofCentury) < 0 || month < 1 || month > 12) return false;
    const year = century * 100 + ofCentury;
    const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    const most = month === 2 && isLeap ? 29 : (daysOfMonth[month - 1] as number);
    if (year === 0 || day < 1 || day > most) return false;
    this.day = daysFromCivil(year, month, day);
    this.#yearDigits = yearDigits;
    this.#dayDigits = dayDigits;
    return true;
  }

  /** `HH:mm`, with seconds, and with up to 9 decimals behind them. */
  readClock(bytes: Uint8Array, at: number): boolean {
    const hour = pairAt(bytes, at);
    const minute = pairAt(bytes, at + 3);
    if ((hour | minute) < 0 || hour > 23 || minute > 59 || bytes[at + 2] !== COLON) return false;
    this.fraction = 0;
    this.digits = 0;
    this.hasSeconds = bytes[at + 5] === COLON;
    this.seconds = hour * 3600 + minute * 60;
    this.end = at + 5;
    if (!this.hasSeconds) return true;
    const second = pairAt(bytes, at + 6);
    if (second < 0 || second > 59) return false;
    this.seconds += second;
    this.end = at + 8;
    return bytes[at + 8] === POINT ? this.#readFraction(bytes, at + 9) : true;
  }

  #readFraction(bytes: Uint8Array, from: number): boolean {
    const first = pairAt(bytes, from);
    const middle = pairAt(bytes, from + 2);
    const last = pairAt(bytes, from + 4);
    const isLong = (first | middle | last) >= 0;
    let at = isLong ? from + 6 : from;
    let value = isLong ? first * 10_000 + middle * 100 + last : 0;
    let digit = (bytes[at] as number) - ZERO;
    while (digit >= 0 && digit <= 9) {
      if (at - from === mostDigits) return false;
      value = value * 10 + digit;
      digit = (bytes[++at] as number) - ZERO;
    }
    this.fraction = value;
    this.digits = at - from;
    this.end = at;
    return at > from;
  }

  /** `yyyy-MM-dd`, alone or with a clock behind a space or T, and then perhaps `Z` or an offset. */
  readTimestamp(bytes: Uint8Array, from: number): boolean {
    if (!this.readDate(bytes, from)) return false;
    const separator = bytes[from + dateBytes];
    this.hasClock = separator === T || separator === SPACE;
    this.hasSeconds = false;
    this.hasZone = false;
    if (!this.hasClock) {
      this.seconds = this.day * daySeconds;
      this.fraction = 0;
      this.digits = 0;
      return true;
    }
    if (!this.readClock(bytes, from + dateBytes + 1)) return false;
    this.seconds += this.day * daySeconds;
    const zone = bytes[this.end];
    this.hasZone = zone === Z || zone === PLUS || zone === MINUS;
    if (!this.hasZone) return true;
    this.end++;
    return zone === Z || this.#readOffset(bytes, this.end, zone === PLUS);
  }

  /** `02`, `0200` or `02:00`. */
  #readOffset(bytes: Uint8Array, at: number, isEast: boolean): boolean {
    const next = bytes[at + 2] as number;
    this.end = next === COLON ? at + 5 : next >= ZERO && next <= ZERO + 9 ? at + 4 : at + 2;
    const hours = pairAt(bytes, at);
    const minutes = this.end === at + 2 ? 0 : pairAt(bytes, this.end - 2);
    if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59) return false;
    const offset = hours * 3600 + minutes * 60;
    this.seconds += isEast ? -offset : offset;
    return true;
  }
}

function fourBytes(bytes: Uint8Array, at: number, then: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[then] as number) << 8) |
    (bytes[then + 1] as number)
  );
}

/** Years that begin in March, so that the day of February that comes and goes is their last one. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const ofYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + ofYear - 719_468;
}
