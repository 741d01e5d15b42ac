import type { ByteSink } from '@framehold/columns';
import { writeCalendarDate } from './calendar-text.ts';
import { write2Digits, write6Digits, write9Digits } from './digits.ts';

/** The year of the farthest timestamp has 12 digits. */
const TIMESTAMP_BYTES = 48;

/** Writes `"2026-01-31T12:34:56.000000Z"`, the `Z` where there is a zone, keeping all up to the minute from value to value since most share it. */
export class TimestampText {
  /** Start of the last value's minute, in seconds since 1970. */
  minuteStart = Number.NaN;
  readonly #sink: ByteSink;
  readonly #nanoseconds: boolean;
  readonly #hasZone: boolean;
  readonly #prefix = new DataView(new ArrayBuffer(TIMESTAMP_BYTES));
  #prefixLength = 0;
  #dateEnd = 0;
  #day = Number.NaN;
  #minute = -1;

  constructor(sink: ByteSink, { nanoseconds, hasZone }: { readonly nanoseconds: boolean; readonly hasZone: boolean }) {
    this.#sink = sink;
    this.#nanoseconds = nanoseconds;
    this.#hasZone = hasZone;
  }

  write(at: number, day: number, secondOfDay: number, fraction: number): number {
    const minute = (secondOfDay / 60) | 0;
    if (minute !== this.#minute || day !== this.#day) this.#turnTo(day, minute);
    return this.writeInMinute(at, secondOfDay - minute * 60, fraction);
  }

  /** A value of the same minute as the one before. */
  writeInMinute(at: number, second: number, fraction: number): number {
    const out = this.#sink.reserve(at, TIMESTAMP_BYTES);
    const prefix = this.#prefix;
    const length = this.#prefixLength;
    // Eight bytes at a time, as doubles that are only moved: ASCII is never a NaN.
    for (let i = 0; i < length; i += 8) out.setFloat64(at + i, prefix.getFloat64(i, true), true);
    at = write2Digits(out, at + length, second);
    out.setUint8(at, 46);
    at = this.#nanoseconds ? write9Digits(out, at + 1, fraction) : write6Digits(out, at + 1, fraction);
    if (this.#hasZone) out.setUint8(at++, 90);
    out.setUint8(at, 34);
    return at + 1;
  }

  #turnTo(day: number, minute: number): void {
    const prefix = this.#prefix;
    if (day !== this.#day) {
      prefix.setUint8(0, 34);
      this.#dateEnd = writeCalendarDate(prefix, 1, day);
      this.#day = day;
    }
    const at = this.#dateEnd;
    const hour = (minute / 60) | 0;
    prefix.setUint8(at, 84);
    write2Digits(prefix, at + 1, hour);
    prefix.setUint8(at + 3, 58);
    write2Digits(prefix, at + 4, minute - hour * 60);
    prefix.setUint8(at + 6, 58);
    this.#prefixLength = at + 7;
    this.#minute = minute;
    this.minuteStart = day * 86400 + minute * 60;
  }
}
