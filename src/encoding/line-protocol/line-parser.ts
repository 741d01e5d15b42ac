import type { Column } from '../../core/data-type.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { LineError } from './line-error.ts';
import { assertUtf8, byte, nameOf, shownText, stopsName } from './line-text.ts';
import { LineValues, type Precision } from './line-values.ts';
import { MeasurementRows, mostColumns, timestampName } from './measurement-rows.ts';

export interface LineParserOptions {
  /** Of timestamps. */
  readonly precision: Precision;
  /** For lines without one, in nanoseconds. */
  readonly now: bigint;
  /** Whether lines may have columns that their frame has not. */
  readonly addsColumns: boolean;
}

/** A measurement whose frame the parser does not know. */
export interface Pending {
  readonly name: string;
  readonly line: number;
}

const spareMemory = 256 * 1024 * 1024;
const mostExpectedRows = 131_072;

/**
 * Reads a body of InfluxDB's line protocol into columns, straight from its bytes. Any error is a LineError and ends it.
 *
 * `next` stops at the first line of each measurement. The caller tells the columns of the frame by `know`, and goes on.
 */
export class LineParser {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #addsColumns: boolean;
  readonly #values: LineValues;
  readonly #rows = new Map<string, MeasurementRows>();
  readonly #options: { readonly expectedRows: number; readonly budget: { take(bytes: number): void } };
  /** Of the line before. */
  #last: MeasurementRows | undefined;
  #at = 0;
  /** Of the row that is parsed. */
  #line = 1;
  /** Line ends within it. */
  #lineEnds = 0;
  #pending: { readonly name: string; readonly nameStart: number; readonly nameEnd: number } | undefined;

  constructor(body: Uint8Array, { precision, now, addsColumns }: LineParserOptions) {
    assertUtf8(body);
    this.#bytes = endedByNewline(body);
    this.#end = this.#bytes.length;
    this.#addsColumns = addsColumns;
    this.#values = new LineValues(this.#bytes, precision, now);
    let left = spareMemory + 4 * body.length;
    const take = (bytes: number): void => {
      left -= bytes;
      if (left < 0) throw this.#tooLarge();
    };
    const firstLine = Math.max(this.#bytes.indexOf(byte.newline) + 1, 1);
    const expectedRows = Math.min(Math.ceil((this.#end * 1.02) / firstLine) + 1, mostExpectedRows);
    this.#options = { expectedRows, budget: { take } };
  }

  /** Parses up to the first line of a measurement that is not known. Undefined at the end of the body. */
  next(): Pending | undefined {
    const bytes = this.#bytes;
    while (this.#at < this.#end) {
      const first = bytes[this.#at] as number;
      if (first === byte.newline) {
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
    const rows = new MeasurementRows(this.#pending, columns, this.#options);
    this.#rows.set(rows.name, rows);
    this.#last = rows;
    this.#pending = undefined;
  }

  /** In the order in which the body has them. */
  get measurements(): Iterable<MeasurementRows> {
    return this.#rows.values();
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
      const column = this.#readKey(rows, index++, 'tag');
      this.#at = this.#values.readTag(column, rows, this.#at, this.#line);
      this.#lineEnds += this.#values.lineEnds;
    }
    if (!this.#isLineEnd(this.#skipSpaces()) && !this.#isTimestampAlone(index)) {
      for (;;) {
        const column = this.#readKey(rows, index++, 'field');
        this.#at = this.#values.readField(column, rows, this.#at, this.#line);
        this.#lineEnds += this.#values.lineEnds;
        if (bytes[this.#at] !== byte.comma) break;
        this.#at++;
      }
    }
    if (index === 0) throw this.#error(`${rows.name} has neither tags nor fields`);
    this.#finishRow(rows);
    return true;
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

  /** The column of the name that stands here; goes on behind its `=`. */
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

  #skipSpaces(): number {
    while (this.#bytes[this.#at] === byte.space) this.#at++;
    return this.#at;
  }

  #isLineEnd(at: number): boolean {
    const here = this.#bytes[at];
    return here === byte.newline || (here === byte.return && this.#bytes[at + 1] === byte.newline);
  }

  /** Where a name ends: at a comma, a space or the end of the line, and that of a key at `=`. */
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
