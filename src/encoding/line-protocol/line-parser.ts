import { isUtf8 } from 'node:buffer';
import type { Column } from '@framehold/columns';
import type { ColumnBuilder, MemoryBudget } from './column-builder.ts';
import { LineError } from './line-error.ts';
import { byte, nameOf, notUtf8, shownText, stopsName } from './line-text.ts';
import { LineValues, type Precision } from './line-values.ts';
import { MeasurementRows, mostColumns, timestampName } from './measurement-rows.ts';

export interface LineParserOptions {
  /** Unit of timestamps. */
  readonly precision: Precision;
  /** For lines without one, in nanoseconds. */
  readonly now: bigint;
  /** Whether lines may have columns that their frame has not. */
  readonly addsColumns: boolean;
}

/** A measurement of an unknown frame. */
export interface Pending {
  readonly name: string;
  readonly line: number;
}

/** `next` gives it where more is to be parsed, and others should have their turn before. */
export const paused = Symbol('paused');

/** They are parsed in 3 to 8 ms. Others wait for some slices on their way, as a request passes several turns. */
const sliceBytes = 64 * 1024;
/** What each end of a line counts for in a slice: an empty line takes as long as some bytes. */
const lineEndBytes = 16;
/** Cost of a column before its first value, in bytes of lines that take the same time. */
const columnBytes = 64;
/** Bytes of columns that are allocated, copied or filled while one of lines is parsed. */
const filledPerByte = 64;
/** No slice ends within a line. */
const mostLineBytes = 8 * 1024 * 1024;
const mostMeasurements = 10_000;
/** Tags and fields, with repeated names. */
const mostInLine = 2 * mostColumns;
const spareMemory = 256 * 1024 * 1024;
const mostExpectedRows = 131_072;

/**
 * Reads a body of InfluxDB's line protocol into columns, straight from its bytes. Any error is a LineError and ends it.
 *
 * `next` stops at the first line of each measurement. The caller passes the columns of the frame to `know`, and goes on. It also
 * stops before it has taken long, and then returns `paused`.
 */
export class LineParser {
  readonly #bytes: Uint8Array;
  /** The same bytes, to be searched fast. */
  readonly #buffer: Buffer;
  readonly #end: number;
  readonly #addsColumns: boolean;
  readonly #values: LineValues;
  readonly #rows = new Map<string, MeasurementRows>();
  readonly #options: { readonly expectedRows: number; readonly budget: MemoryBudget };
  #sliceEnd = 0;
  /** Bytes before it are checked. */
  #seenTo = 0;
  /** Rows of the line before. */
  #last: MeasurementRows | undefined;
  #at = 0;
  /** Number of the current row's line. */
  #line = 1;
  /** Line ends within it. */
  #lineEnds = 0;
  #pending: { readonly name: string; readonly nameStart: number; readonly nameEnd: number } | undefined;

  constructor(body: Uint8Array, { precision, now, addsColumns }: LineParserOptions) {
    this.#bytes = endedByNewline(body);
    this.#buffer = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    this.#end = this.#bytes.length;
    this.#addsColumns = addsColumns;
    this.#values = new LineValues(this.#bytes, precision, now);
    let left = spareMemory + 4 * body.length;
    const filled = (bytes: number): void => {
      this.#sliceEnd -= bytes / filledPerByte;
    };
    const take = (bytes: number): void => {
      left -= bytes;
      if (left < 0) throw this.#tooLarge();
      filled(bytes);
    };
    const firstLine = Math.max(this.#buffer.indexOf(byte.newline) + 1, 1);
    const expectedRows = Math.min(Math.ceil((this.#end * 1.02) / firstLine) + 1, mostExpectedRows);
    this.#options = { expectedRows, budget: { take, filled } };
    this.#beginSlice();
  }

  /** Parses up to the first line of a measurement that is not known. Undefined at the end of the body. */
  next(): Pending | typeof paused | undefined {
    const bytes = this.#bytes;
    while (this.#at < this.#end) {
      if (this.#at >= this.#sliceEnd) {
        if (!this.#growsEarly()) this.#beginSlice();
        return paused;
      }
      const first = bytes[this.#at] as number;
      if (first === byte.newline) {
        this.#sliceEnd -= lineEndBytes;
        this.#at++;
        this.#line++;
      } else if (first === byte.space || first === 9 || first === byte.return) this.#at++;
      else if (first === 35) this.#at = bytes.indexOf(byte.newline, this.#at);
      else if (!this.#parseRow()) return { name: this.#pending?.name ?? '', line: this.#line };
    }
    return undefined;
  }

  /** The columns of the pending measurement's frame. Undefined: it is to be made. */
  know(columns: readonly Column[] | undefined): void {
    if (this.#pending === undefined) throw new TypeError('no measurement is pending');
    if (this.#rows.size === mostMeasurements) throw this.#error(`there are more than ${mostMeasurements} measurements`);
    const rows = new MeasurementRows(this.#pending, columns, this.#options);
    this.#sliceEnd -= rows.columnCount * columnBytes;
    this.#rows.set(rows.name, rows);
    this.#last = rows;
    this.#pending = undefined;
  }

  /** In the order in which the body has them. */
  get measurements(): Iterable<MeasurementRows> {
    return this.#rows.values();
  }

  #beginSlice(): void {
    this.#sliceEnd = this.#at + sliceBytes;
    this.#lookAhead(this.#sliceEnd);
  }

  /** Checks that the line at this place may be parsed: it is not too long, and UTF-8. */
  #lookAhead(place: number): void {
    if (place < this.#seenTo) return;
    const from = Math.min(place, this.#end - 1);
    const to = this.#buffer.indexOf(byte.newline, from) + 1;
    const isTooLong = to - from > mostLineBytes;
    const seen = this.#bytes.subarray(this.#seenTo, isTooLong ? from : to);
    if (!isUtf8(seen)) throw notUtf8(seen, this.#lineAt(this.#seenTo));
    if (isTooLong) throw this.#lineTooLong(this.#lineAt(from));
    this.#seenTo = to;
  }

  /** Large columns that are nearly full: their next row would enlarge all of them at once. True where one was enlarged. */
  #growsEarly(): boolean {
    const done = this.#at / this.#end;
    for (const rows of this.#rows.values()) if (rows.growsEarly(done)) return true;
    return false;
  }

  /** The number of the line at a place that is not far behind the row that is parsed. */
  #lineAt(place: number): number {
    let line = this.#line;
    const bytes = this.#buffer;
    for (let at = bytes.indexOf(byte.newline, this.#at); at < place; at = bytes.indexOf(byte.newline, at + 1)) line++;
    return line;
  }

  /** False where its measurement is not known; it is then parsed again. */
  #parseRow(): boolean {
    const rows = this.#readMeasurement();
    if (rows === undefined) return false;
    const bytes = this.#bytes;
    this.#lineEnds = 0;
    let index = 0;
    while (bytes[this.#at] === byte.comma) {
      this.#at++;
      const column = this.#readKey(rows, this.#counted(index++), 'tag');
      this.#at = this.#values.readTag(column, rows, this.#at, this.#line);
      if (this.#values.lineEnds > 0) this.#passLineEnds();
    }
    if (!this.#isLineEnd(this.#skipSpaces()) && !this.#isTimestampAlone(index)) {
      for (;;) {
        const column = this.#readKey(rows, this.#counted(index++), 'field');
        this.#at = this.#values.readField(column, rows, this.#at, this.#line);
        if (this.#values.lineEnds > 0) this.#passLineEnds();
        if (bytes[this.#at] !== byte.comma) break;
        this.#at++;
      }
    }
    if (index === 0) throw this.#error(`${rows.name} has neither tags nor fields`);
    this.#finishRow(rows);
    return true;
  }

  /** Line ends within a value. The row continues in a line that may be unchecked. */
  #passLineEnds(): void {
    this.#lineEnds += this.#values.lineEnds;
    this.#lookAhead(this.#at);
  }

  #readMeasurement(): MeasurementRows | undefined {
    const bytes = this.#bytes;
    const start = this.#at;
    const last = this.#last;
    if (last !== undefined) {
      const length = last.nameEnd - last.nameStart;
      const after = bytes[start + length];
      if ((after === byte.comma || after === byte.space) && this.#hasSame(last.nameStart, start, length)) {
        this.#at = start + length;
        return last;
      }
    }
    const end = this.#nameEnd(start, false);
    if (end === start) throw this.#error('the line begins with no name of a measurement');
    const name = nameOf(bytes, start, end);
    const rows = this.#rows.get(name);
    if (rows === undefined) this.#pending = { name, nameStart: start, nameEnd: end };
    else {
      this.#last = rows;
      this.#at = end;
    }
    return rows;
  }

  /** The column of the name at this place; continues behind its `=`. */
  #readKey(rows: MeasurementRows, index: number, what: 'tag' | 'field'): ColumnBuilder {
    const start = this.#at;
    if (index < rows.sequence.length) {
      const keyStart = rows.keyStarts[index] as number;
      const length = (rows.keyEnds[index] as number) - keyStart;
      if (this.#bytes[start + length] === byte.equals && this.#hasSame(keyStart, start, length)) {
        this.#at = start + length + 1;
        return rows.sequence[index] as ColumnBuilder;
      }
    }
    const end = this.#nameEnd(start, true);
    if (end === start) throw this.#error(`a ${what} has no name`);
    if (this.#bytes[end] !== byte.equals) {
      throw this.#error(`the ${what} ${shownText(this.#bytes, start, end)} has no value`);
    }
    const column = this.#column(rows, nameOf(this.#bytes, start, end));
    rows.sequence[index] = column;
    rows.keyStarts[index] = start;
    rows.keyEnds[index] = end;
    this.#at = end + 1;
    return column;
  }

  #column(rows: MeasurementRows, name: string): ColumnBuilder {
    const found = rows.find(name);
    if (found !== undefined) return found;
    this.#assertMayAdd(rows, name);
    return rows.add(name);
  }

  #assertMayAdd(rows: MeasurementRows, name: string): void {
    if (name.includes('\0')) throw this.#error('the name of a column has a NUL in it');
    if (rows.columnCount >= mostColumns) {
      throw this.#error(`${rows.name} has more than ${mostColumns} columns`);
    }
    if (rows.isNew || this.#addsColumns) return;
    throw this.#error(`column ${JSON.stringify(name.slice(0, 200))} is not in the frame ${rows.name}`, {
      hint: 'send columns=add, or let the operator set write.add_columns',
    });
  }

  #finishRow(rows: MeasurementRows): void {
    const at = this.#skipSpaces();
    if (this.#isLineEnd(at)) {
      // QuestDB puts the column behind those of the first line; a frame without one needs no clock.
      const timestamp = rows.timestamp ?? (rows.isNew ? rows.addTimestamp() : undefined);
      if (timestamp !== undefined) this.#values.addNow(timestamp, rows, this.#line);
    } else {
      if (rows.timestamp === undefined) {
        this.#assertMayAdd(rows, timestampName);
        rows.addTimestamp();
      }
      this.#at = this.#values.readTimestamp(rows.timestamp as ColumnBuilder, rows, at, this.#line);
      if (!this.#isLineEnd(this.#skipSpaces())) throw this.#error('something stands behind the timestamp');
    }
    this.#at += this.#bytes[this.#at] === byte.return ? 2 : 1;
    this.#line += this.#lineEnds + 1;
    rows.rows++;
  }

  /** Whether no field follows: QuestDB's clients send lines of tags. */
  #isTimestampAlone(tags: number): boolean {
    if (tags === 0) return false;
    const end = this.#nameEnd(this.#at, true);
    const first = this.#bytes[this.#at] as number;
    return this.#bytes[end] !== byte.equals && (first === 45 || (first >= 48 && first <= 57));
  }

  /** A name may occur more than once. */
  #counted(index: number): number {
    if (index < mostInLine) return index;
    throw this.#error(`a line has more than ${mostInLine} tags and fields`);
  }

  #skipSpaces(): number {
    while (this.#bytes[this.#at] === byte.space) this.#at++;
    return this.#at;
  }

  #isLineEnd(at: number): boolean {
    const here = this.#bytes[at];
    return here === byte.newline || (here === byte.return && this.#bytes[at + 1] === byte.newline);
  }

  /** The end of a name: a comma, a space or the end of the line, and for a key also `=`. */
  #nameEnd(start: number, isKey: boolean): number {
    const bytes = this.#bytes;
    for (let at = start; ; at++) {
      const here = bytes[at] as number;
      if (stopsName[here] === 0) continue;
      if (here === byte.backslash && bytes[at + 1] !== byte.newline) at++;
      else if (here === byte.equals ? isKey : here !== byte.backslash && (here !== byte.return || this.#isLineEnd(at)))
        return at;
    }
  }

  #hasSame(a: number, b: number, length: number): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < length; at++) if (bytes[a + at] !== bytes[b + at]) return false;
    return true;
  }

  #error(message: string, options?: { readonly hint: string }): LineError {
    return new LineError(this.#line, message, options);
  }

  #lineTooLong(line: number): LineError {
    return new LineError(line, `the line is longer than ${mostLineBytes} bytes`, {
      code: 'too_large',
      hint: 'send long texts as a frame of their own',
    });
  }

  #tooLarge(): LineError {
    return new LineError(this.#line, 'the lines up to here need too much memory as columns', {
      code: 'too_large',
      hint: 'send fewer lines at once, or fewer columns',
    });
  }
}

/** So that no loop needs to look for the end of the body. */
function endedByNewline(body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(body.buffer, body.byteOffset, body.length);
  if (bytes[bytes.length - 1] === byte.newline) return bytes;
  const ended = new Uint8Array(bytes.length + 1);
  ended.set(bytes);
  ended[bytes.length] = byte.newline;
  return ended;
}
