import { type ByteSink, QUOTE, typedView } from '@framehold/columns';
import { writeCalendarDate } from '../values/calendar-text.ts';
import { CALENDAR_BYTES, isInfiniteDay } from '../values/calendar-values.ts';
import type { ValueWriter } from '../values/cell.ts';
import { FLOAT_TEXT_BYTES, writeFloat32, writeFloat64 } from '../values/float-text.ts';
import { needsQuotes } from './csv-text.ts';

/** JSON has no word for these, but readers of CSV do. */
export function csvFloatValues(sink: ByteSink, bits: 32 | 64): ValueWriter {
  const View = bits === 32 ? Float32Array : Float64Array;
  const writeFinite = bits === 32 ? writeFloat32 : writeFloat64;
  let values: Float32Array | Float64Array = new View(0);
  return {
    bind(vector) {
      values = typedView<typeof values>(View, vector.data);
    },
    write(row, at) {
      const value = values[row] as number;
      if (!Number.isFinite(value)) return sink.ascii(at, String(value));
      return writeFinite(sink.reserve(at, FLOAT_TEXT_BYTES), at, value);
    },
  };
}

/** `2026-01-31`: with a time behind it, as in JSON, readers would take it for a timestamp. */
export function csvDateValues(sink: ByteSink): ValueWriter {
  let days = new Int32Array(0);
  return {
    bind(vector) {
      days = typedView(Int32Array, vector.data);
    },
    write(row, at) {
      const day = days[row] as number;
      return isInfiniteDay(day) ? at : writeCalendarDate(sink.reserve(at, CALENDAR_BYTES), at, day);
    },
  };
}

/** Nested values as JSON text, in quotes where it needs them. */
export function csvJsonValues(sink: ByteSink, values: ValueWriter, marks: Uint8Array): ValueWriter {
  return {
    bind(vector) {
      values.bind(vector);
    },
    write(row, at) {
      const end = values.write(row, at);
      const view = sink.reserve(end, 0);
      return needsQuotes(view, at, end, marks) ? quoteInPlace(sink, at, end) : end;
    },
  };
}

/** From the end on, so that nothing is written over before it was moved. */
function quoteInPlace(sink: ByteSink, start: number, end: number): number {
  let quotes = 0;
  for (let i = start; i < end; i++) if (sink.bytes[i] === QUOTE) quotes++;
  sink.reserve(end, quotes + 2);
  const { bytes } = sink;
  const newEnd = end + quotes + 2;
  let to = newEnd;
  bytes[--to] = QUOTE;
  for (let i = end - 1; i >= start; i--) {
    const byte = bytes[i] as number;
    bytes[--to] = byte;
    if (byte === QUOTE) bytes[--to] = QUOTE;
  }
  bytes[--to] = QUOTE;
  return newEnd;
}
