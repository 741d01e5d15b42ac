import { type ByteSink, QUOTE, SPACE } from '@framehold/columns';
import type { WriteText } from '../values/utf8-values.ts';
import { type CsvWriteOptions, quotedBytes } from './csv-options.ts';

const APOSTROPHE = 39;
const HIGH_BITS = 0x80808080 | 0;

export function csvText(sink: ByteSink, options: CsvWriteOptions): WriteText {
  const marks = quotedBytes(options);
  if (options.escapesFormulas) {
    return (at, data, start, end) =>
      beginsFormula(data, start, end)
        ? writeChecked(sink, at, data, start, end, marks, APOSTROPHE)
        : writeChecked(sink, at, data, start, end, marks, 0);
  }
  const delimiters = Math.imul(options.delimiter.charCodeAt(0), 0x01010101);
  return (at, data, start, end) => {
    const out = sink.reserve(at, end - start + 4);
    return isPlain(out, at, data, start, end, delimiters)
      ? at + end - start
      : writeChecked(sink, at, data, start, end, marks, 0);
  };
}

/** Copies the text, four bytes at a time, and says whether it may stay like that. */
function isPlain(out: DataView, at: number, data: DataView, start: number, end: number, delimiters: number): boolean {
  if (start === end || data.getUint8(start) === SPACE || data.getUint8(end - 1) === SPACE) return false;
  let strange = 0;
  let i = start;
  for (; i + 4 <= end; i += 4, at += 4) {
    const word = data.getInt32(i, true);
    out.setInt32(at, word, true);
    strange |= strangeBytes(word, delimiters);
  }
  const left = end - i;
  if (left === 0) return strange === 0;
  if (i + 4 > data.byteLength) return false;
  // The last word reaches into the next value, where nothing counts.
  const word = data.getInt32(i, true);
  out.setInt32(at, word, true);
  return (strange | (strangeBytes(word, delimiters) & ((1 << (left * 8)) - 1))) === 0;
}

/** Not 0 when one of four bytes is below a space, a quote or the delimiter, and sometimes when none is. */
function strangeBytes(word: number, delimiters: number): number {
  const quotes = word ^ 0x22222222;
  const cuts = word ^ delimiters;
  const marks = ((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((cuts - 0x01010101) & ~cuts);
  return marks & HIGH_BITS;
}

/** `before`: the byte before the text in the field; 0 for nothing. */
function writeChecked(
  sink: ByteSink,
  at: number,
  data: DataView,
  start: number,
  end: number,
  marks: Uint8Array,
  before: number,
): number {
  const out = sink.reserve(at, (end - start) * 2 + 4);
  const isQuoted = needsQuotes(data, start, end, marks);
  if (isQuoted) out.setUint8(at++, QUOTE);
  if (before !== 0) out.setUint8(at++, before);
  for (let i = start; i < end; i++) {
    const byte = data.getUint8(i);
    if (byte === QUOTE) out.setUint8(at++, QUOTE);
    out.setUint8(at++, byte);
  }
  if (isQuoted) out.setUint8(at++, QUOTE);
  return at;
}

export function needsQuotes(data: DataView, start: number, end: number, marks: Uint8Array): boolean {
  if (start === end || data.getUint8(start) === SPACE || data.getUint8(end - 1) === SPACE) return true;
  for (let i = start; i < end; i++) if (marks[data.getUint8(i)] === 1) return true;
  return false;
}

const FORMULA_BEGINS = new Set([...'=+-@\t\r\n'].map((character) => character.charCodeAt(0)));

function beginsFormula(data: DataView, start: number, end: number): boolean {
  return start < end && FORMULA_BEGINS.has(data.getUint8(start));
}
