import type { TimeUnit } from '../../../../core/data-type.ts';
import { bitAt } from '../../../../encoding/arrow/read/columns/bits.ts';
import { int32View, valueBytes } from '../../../../encoding/arrow/read/columns/column.ts';
import { unsupported } from '../../../../encoding/arrow/read/format/schema.ts';
import { dayUnits, isTimestamp } from '../../../../encoding/arrow/read/numbers/calendar-range.ts';
import { divide, multiply, outOfRange } from '../../../../encoding/arrow/read/numbers/int64.ts';
import { type Rows, rowAt } from './rows.ts';
import type { StoreTask } from './scratch.ts';
import { copyValues } from './values.ts';

const microsPerUnit = { s: 1_000_000, ms: 1000, us: 1 } as const;

type Visit = (row: number, index: number) => void;

function eachPresent(rows: Rows, present: Uint8Array | null, visit: Visit): void {
  for (let index = 0; index < rows.count; index++) {
    if (present === null || bitAt(present, index)) visit(rowAt(rows, index), index);
  }
}

export function storeDates(task: StoreTask, unit: 'day' | 'ms'): void {
  const { column, rows, present, scratch, target } = task;
  const { field, length, data } = column;
  const values = int32View(data, (length * valueBytes(field.type)) / 4);
  if (unit === 'day') {
    eachPresent(rows, present, (row) => {
      if (values[row] === -(2 ** 31)) throw outOfRange(field.label, row);
    });
    copyValues(task);
    return;
  }
  const { words } = scratch.prepare(rows.count * 4);
  const half = new Int32Array(2);
  eachPresent(rows, present, (row, index) => {
    const high = values[row * 2 + 1] as number;
    const low = (values[row * 2] as number) >>> 0;
    // In two steps: a rest of milliseconds a day times 2^32 is past what a number holds exactly.
    const isWhole =
      divide(high, low, 1000, half, 0) && divide(half[1] as number, (half[0] as number) >>> 0, 86_400, half, 0);
    if (!isWhole) throw unsupported(field, `a date64 with a time of day (row ${row})`, 'send it as a timestamp');
    const days = half[0] as number;
    if (half[1] !== days >> 31 || days === -(2 ** 31)) throw outOfRange(field.label, row);
    words[index] = days;
  });
  scratch.copyTo(target, rows.count * 4);
}

export function storeTimes({ column, rows, present, scratch, target }: StoreTask, unit: TimeUnit): void {
  const { field, length, data } = column;
  const isNarrow = unit === 's' || unit === 'ms';
  const values = int32View(data, length * (isNarrow ? 1 : 2));
  const { words } = scratch.prepare(rows.count * 8);
  eachPresent(rows, present, (row, index) => {
    const value = isNarrow
      ? (values[row] as number)
      : (values[row * 2 + 1] as number) * 2 ** 32 + ((values[row * 2] as number) >>> 0);
    if (value < 0 || value > dayUnits[unit]) throw outOfRange(field.label, row);
    const stored = unit === 'ns' ? value : value * microsPerUnit[unit];
    words[index * 2] = stored;
    words[index * 2 + 1] = Math.floor(stored / 2 ** 32);
  });
  scratch.copyTo(target, rows.count * 8);
}

export function storeTimestamps(task: StoreTask, unit: TimeUnit, zoned: boolean): void {
  const { column, rows, present, scratch, target } = task;
  const { label } = column.field;
  const values = int32View(column.data, column.length * 2);
  eachPresent(rows, present, (row) => {
    if (!isTimestamp(values[row * 2 + 1] as number, values[row * 2] as number, unit, zoned))
      throw outOfRange(label, row);
  });
  if (!zoned || unit === 'us') {
    copyValues(task);
    return;
  }
  const { words } = scratch.prepare(rows.count * 8);
  storeMicros(task, unit, { words: values, step: 2, from: 0 }, { words, step: 2, from: 0 }, 'timestamps with a zone');
  scratch.copyTo(target, rows.count * 8);
}

/** DuckDB's interval: int32 months, int32 days, int64 microseconds. */
export function storeDurations(task: StoreTask, unit: TimeUnit): void {
  const { words } = task.scratch.prepare(task.rows.count * 16);
  words.fill(0, 0, task.rows.count * 4);
  const values = int32View(task.column.data, task.column.length * 2);
  storeMicros(task, unit, { words: values, step: 2, from: 0 }, { words, step: 4, from: 2 }, 'durations');
  task.scratch.copyTo(task.target, task.rows.count * 16);
}

export function storeIntervals(task: StoreTask, unit: 'month' | 'dayTime' | 'monthDayNano'): void {
  const { column, rows, present, scratch, target } = task;
  const { words } = scratch.prepare(rows.count * 16);
  words.fill(0, 0, rows.count * 4);
  const step = valueBytes(column.field.type) / 4;
  const values = int32View(column.data, column.length * step);
  if (unit === 'monthDayNano') {
    storeMicros(task, 'ns', { words: values, step: 4, from: 2 }, { words, step: 4, from: 2 }, 'intervals');
  }
  eachPresent(rows, present, (row, index) => {
    const first = values[row * step] as number;
    const second = values[row * step + 1] as number;
    if (unit === 'dayTime') {
      words[index * 4 + 1] = first;
      multiply(second >> 31, second >>> 0, 1000, words, index * 4 + 2);
      return;
    }
    words[index * 4] = first;
    if (unit === 'monthDayNano') words[index * 4 + 1] = second;
  });
  scratch.copyTo(target, rows.count * 16);
}

/** 64-bit values as words: the n-th begins at word `n * step + from`. */
interface Strided {
  readonly words: Int32Array;
  readonly step: number;
  readonly from: number;
}

function storeMicros(
  { column, rows, present }: StoreTask,
  unit: TimeUnit,
  source: Strided,
  out: Strided,
  what: string,
): void {
  const { field } = column;
  eachPresent(rows, present, (row, index) => {
    const at = row * source.step + source.from;
    const low = (source.words[at] as number) >>> 0;
    const high = source.words[at + 1] as number;
    const outAt = index * out.step + out.from;
    if (unit === 'ns') {
      if (!divide(high, low, 1000, out.words, outAt)) {
        throw unsupported(
          field,
          `${what} finer than microseconds (row ${row})`,
          'round them to microseconds, and to milliseconds where a frame is to keep them',
        );
      }
    } else if (!multiply(high, low, microsPerUnit[unit], out.words, outAt)) {
      throw outOfRange(field.label, row);
    }
  });
}
