import type { TimeUnit } from '@framehold/columns';
import { valueBytes } from '../../types/arrow-type.ts';
import { isPresent } from '../columns/bits.ts';
import { type ArrowColumn, int32View, outOfRange } from '../columns/column.ts';
import { unsupported } from '../format/schema.ts';
import { areAllTimestamps, dayUnits, isInfinite, isTimestamp } from '../numbers/calendar-range.ts';
import { hasDigits } from '../numbers/digits.ts';
import { multiply } from '../numbers/int64.ts';

const millisPerDay = 86_400_000;
/** One less than DuckDB's first day. */
const noDate = -(2 ** 31);
const microsPerUnit = { s: 1_000_000, ms: 1000, us: 1 } as const;
/** In two steps: products of 32 bits are exact up to a factor of 2^21. */
const nanosPerUnit = { s: [1_000_000, 1000], ms: [1_000_000, 1], us: [1000, 1], ns: [1, 1] } as const;

function eachPresent({ length, validity }: ArrowColumn, visit: (row: number) => void): void {
  for (let row = 0; row < length; row++) if (isPresent(validity, row)) visit(row);
}

function bytesOf(values: Int32Array | Float32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** 16-bit floats, which have no form of their own in JSON, as 32-bit ones. */
export function widenedHalves({ data, length }: ArrowColumn): Uint8Array {
  const floats = new Float32Array(length);
  for (let row = 0; row < length; row++) {
    floats[row] = halfToNumber(((data[row * 2 + 1] as number) << 8) | (data[row * 2] as number));
  }
  return bytesOf(floats);
}

/** A 16-bit float. */
function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Decimals of any width as 128-bit ones, every digit checked. */
export function wideDecimals(
  column: ArrowColumn,
  { precision, bits }: { precision: number; bits: number },
): Uint8Array {
  const words = bits / 32;
  const values = int32View(column.data, column.length * words);
  eachPresent(column, (row) => {
    if (!hasDigits(values, row * words, words, precision)) throw outOfRange(column, row);
  });
  if (words === 4) return column.data;
  const out = new Int32Array(column.length * 4);
  eachPresent(column, (row) => {
    const sign = (values[row * words + words - 1] as number) >> 31;
    for (let n = 0; n < 4; n++) out[row * 4 + n] = n < words ? (values[row * words + n] as number) : sign;
  });
  return bytesOf(out);
}

/** Days. */
export function dates(column: ArrowColumn, unit: 'day' | 'ms'): Uint8Array {
  const { field, data, length, firstRow = 0 } = column;
  if (unit === 'day') {
    const values = int32View(data, length);
    eachPresent(column, (row) => {
      if (values[row] === noDate) throw outOfRange(column, row);
    });
    return data;
  }
  const values = int32View(data, length * 2);
  const days = new Int32Array(length);
  eachPresent(column, (row) => {
    const low = values[row * 2] as number;
    const day = ((values[row * 2 + 1] as number) * 2 ** 32 + (low >>> 0)) / millisPerDay;
    if (!(Math.abs(day) < -noDate)) throw outOfRange(column, row);
    // Past 2^53 the sum is exact for multiples of 1024, as whole days are.
    if (!Number.isInteger(day) || (low & 1023) !== 0) {
      const what = `a date64 with a time of day (row ${firstRow + row})`;
      throw unsupported(field, what, 'send it as a timestamp');
    }
    days[row] = day;
  });
  return bytesOf(days);
}

/** In microseconds; nanoseconds stay. */
export function times(column: ArrowColumn, unit: TimeUnit): Uint8Array {
  const { data, length } = column;
  const isNarrow = unit === 's' || unit === 'ms';
  const values = int32View(data, length * (isNarrow ? 1 : 2));
  const out = isNarrow ? new Int32Array(length * 2) : undefined;
  eachPresent(column, (row) => {
    const value = isNarrow
      ? (values[row] as number)
      : (values[row * 2 + 1] as number) * 2 ** 32 + ((values[row * 2] as number) >>> 0);
    if (value < 0 || value > dayUnits[unit]) throw outOfRange(column, row);
    if (out !== undefined) multiply(0, value, microsPerUnit[unit as 's' | 'ms'], out, row * 2);
  });
  return out === undefined ? data : bytesOf(out);
}

/** Timestamps with a zone in microseconds, unless they are finer. */
export function timestamps(column: ArrowColumn, unit: TimeUnit, zoned: boolean): Uint8Array {
  const { data, length } = column;
  const values = int32View(data, length * 2);
  const factor = zoned && unit !== 'ns' ? microsPerUnit[unit] : 1;
  // Looking at each by itself takes three times as long.
  if (factor === 1 && areAllTimestamps(values, unit)) return data;
  const out = factor === 1 ? undefined : new Int32Array(length * 2);
  eachPresent(column, (row) => {
    const low = values[row * 2] as number;
    const high = values[row * 2 + 1] as number;
    const isGood = isTimestamp(high, low, unit, zoned);
    if (isGood && out !== undefined && isInfinite(high, low)) {
      out[row * 2] = low;
      out[row * 2 + 1] = high;
    } else if (!isGood || (out !== undefined && !multiply(high, low >>> 0, factor, out, row * 2))) {
      throw outOfRange(column, row);
    }
  });
  return out === undefined ? data : bytesOf(out);
}

/** int32 months, int32 days, int64 nanoseconds. */
export function durations(column: ArrowColumn, unit: TimeUnit): Uint8Array {
  const values = int32View(column.data, column.length * 2);
  const out = new Int32Array(column.length * 4);
  eachPresent(column, (row) => {
    const at = row * 4 + 2;
    const [first, second] = nanosPerUnit[unit];
    const fits =
      multiply(values[row * 2 + 1] as number, (values[row * 2] as number) >>> 0, first, out, at) &&
      multiply(out[at + 1] as number, (out[at] as number) >>> 0, second, out, at);
    if (!fits) throw outOfRange(column, row);
  });
  return bytesOf(out);
}

export function intervals(column: ArrowColumn, unit: 'month' | 'dayTime' | 'monthDayNano'): Uint8Array {
  if (unit === 'monthDayNano') return column.data;
  const step = valueBytes(column.field.type) / 4;
  const values = int32View(column.data, column.length * step);
  const out = new Int32Array(column.length * 4);
  eachPresent(column, (row) => {
    if (unit === 'month') {
      out[row * 4] = values[row] as number;
      return;
    }
    const millis = values[row * 2 + 1] as number;
    out[row * 4 + 1] = values[row * 2] as number;
    multiply(millis >> 31, millis >>> 0, nanosPerUnit.ms[0], out, row * 4 + 2);
  });
  return bytesOf(out);
}
