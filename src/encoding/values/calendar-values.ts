import { type ByteSink, COLON, isoDuration, QUOTE, typedView } from '@framehold/columns';
import { writeCalendarDate } from './calendar-text.ts';
import type { ValueWriter } from './cell.ts';
import { write2Digits, write6Digits, write9Digits } from './digits.ts';
import { floorQuotient } from './int64-text.ts';

const DAY_SECONDS = 86400;
const INT32_MAX = 0x7fffffff;
/** The longest date or time, in quotes, with room to spare. */
export const CALENDAR_BYTES = 48;

const MIDNIGHT = new TextEncoder().encode('T00:00:00.000Z"');
const END_QUOTE = Uint8Array.of(QUOTE);

export function dateValues(
  sink: ByteSink,
  { hasTime, namesInfinity }: { readonly hasTime: boolean; readonly namesInfinity: boolean },
): ValueWriter {
  const tail = hasTime ? MIDNIGHT : END_QUOTE;
  let days = new Int32Array(0);
  return {
    bind(vector) {
      days = typedView(Int32Array, vector.data);
    },
    write(row, at) {
      const day = days[row] as number;
      if (isInfiniteDay(day)) return writeInfinity(sink, at, day, namesInfinity);
      const out = sink.reserve(at, CALENDAR_BYTES);
      out.setUint8(at, QUOTE);
      return sink.copy(writeCalendarDate(out, at + 1, day), tail);
    },
  };
}

/** Of a date or a timestamp; `sign`: below 0 for the one before all others. */
export function writeInfinity(sink: ByteSink, at: number, sign: number, isNamed: boolean): number {
  return isNamed ? sink.ascii(at, sign < 0 ? '"-Infinity"' : '"Infinity"') : sink.null(at);
}

/** DuckDB's infinity and -infinity. */
export function isInfiniteDay(day: number): boolean {
  return day === INT32_MAX || day === -INT32_MAX;
}

/** Midnight at the day's end is 24:00:00. Values that are no time of day are null. */
export function timeValues(sink: ByteSink, unit: 'us' | 'ns'): ValueWriter {
  const perSecond = unit === 'us' ? 1_000_000 : 1_000_000_000;
  let words = new Int32Array(0);
  return {
    bind(vector) {
      words = typedView(Int32Array, vector.data);
    },
    write(row, at) {
      const low = words[row * 2] as number;
      const seconds = floorQuotient(words[row * 2 + 1] as number, low, perSecond);
      const fraction = (low - Math.imul(seconds, perSecond)) | 0;
      const isTimeOfDay = seconds >= 0 && (seconds < DAY_SECONDS || (seconds === DAY_SECONDS && fraction === 0));
      if (!isTimeOfDay) return sink.null(at);
      const hour = (seconds / 3600) | 0;
      const minute = ((seconds - hour * 3600) / 60) | 0;
      const out = sink.reserve(at, CALENDAR_BYTES);
      out.setUint8(at, QUOTE);
      write2Digits(out, at + 1, hour);
      out.setUint8(at + 3, COLON);
      write2Digits(out, at + 4, minute);
      out.setUint8(at + 6, COLON);
      write2Digits(out, at + 7, (seconds - hour * 3600 - minute * 60) | 0);
      out.setUint8(at + 9, 46);
      const end = unit === 'ns' ? write9Digits(out, at + 10, fraction) : write6Digits(out, at + 10, fraction);
      out.setUint8(end, QUOTE);
      return end + 1;
    },
  };
}

export function intervalValues(sink: ByteSink): ValueWriter {
  let words = new Int32Array(0);
  let unitNanoseconds = 1n;
  return {
    bind(vector) {
      words = typedView(Int32Array, vector.data);
      unitNanoseconds = vector.hasMicroseconds === true ? 1000n : 1n;
    },
    write(row, at) {
      const first = row * 4;
      const low = BigInt((words[first + 2] as number) >>> 0);
      const nanoseconds = ((BigInt(words[first + 3] as number) << 32n) | low) * unitNanoseconds;
      return sink.ascii(at, `"${isoDuration(words[first] as number, words[first + 1] as number, nanoseconds)}"`);
    },
  };
}
