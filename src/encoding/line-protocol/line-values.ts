import { sqlTypeName } from '@framehold/columns';
import { execColumn } from '../rows/exec-column.ts';
import { NumberText } from '../text/number-text.ts';
import { type ColumnBuilder, type ColumnKind, columnKind } from './column-builder.ts';
import { LineError } from './line-error.ts';
import { byte, shownText, stopsName, stopsQuoted, unescapedBytes } from './line-text.ts';

/** Nanoseconds of each unit of time that a request may name. */
export const precisions = {
  n: 1n,
  ns: 1n,
  u: 1000n,
  us: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
} as const;
export type Precision = keyof typeof precisions;

/** It is read in one go. */
const mostTextBytes = 8 * 1024 * 1024;
/** More than any double needs. */
const mostNumberLength = 1000;
const letter = { i: 105, u: 117, t: 116, n: 110 } as const;
const words = new Map<string, boolean>([
  ...['t', 'T', 'true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);
const doubles = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['+Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

interface Row {
  readonly name: string;
  /** Rows before it. */
  readonly rows: number;
}

/** Puts the values of lines into columns. Each method reads one from `at` on, and gives the place behind it. */
export class LineValues {
  /** Line ends within the value that was read last. */
  lineEnds = 0;
  readonly #bytes: Uint8Array;
  readonly #unit: bigint;
  readonly #now: bigint;
  readonly #number = new NumberText();
  /** Number of the current row's line. */
  #line = 1;

  constructor(bytes: Uint8Array, precision: Precision, now: bigint) {
    this.#bytes = bytes;
    this.#unit = precisions[precision];
    this.#now = now;
  }

  readTag(column: ColumnBuilder, row: Row, start: number, line: number): number {
    const bytes = this.#bytes;
    this.#line = line;
    this.lineEnds = 0;
    let hasEscapes = false;
    let at = start;
    const end = start + mostTextBytes;
    for (; at < end; at++) {
      const here = bytes[at] as number;
      if (stopsName[here] === 0) continue;
      if (here === byte.backslash) {
        const isLast = at + 2 >= bytes.length;
        if (isLast) continue;
        hasEscapes = true;
        if (bytes[++at] === byte.newline) this.lineEnds++;
      } else if (here !== byte.return || bytes[at + 1] === byte.newline) break;
    }
    if (at >= end) throw this.#textTooLong(column);
    if (bytes[at] === byte.equals)
      throw this.#error(`tag ${quoted(column.name)} has a = in its value`, 'write it as \\=');
    this.#addText(column, row, start, at, hasEscapes);
    return at;
  }

  readField(column: ColumnBuilder, row: Row, start: number, line: number): number {
    const first = this.#bytes[start] as number;
    this.#line = line;
    this.lineEnds = 0;
    if (first === byte.quote) return this.#readQuoted(column, row, start + 1);
    if ((first <= 57 && first >= 48) || first === 45 || first === 46 || first === 43) {
      if (this.#read(start)) return this.#readNumber(column, row, start);
    }
    return this.#readWord(column, row, start);
  }

  readTimestamp(column: ColumnBuilder, row: Row, start: number, line: number): number {
    const number = this.#number;
    this.#line = line;
    if (!this.#read(start) || !number.isWhole) throw this.#notTimestamp(start);
    const after = this.#bytes[number.end] as number;
    const unit = after === letter.t ? 1000n : after === letter.n ? 1n : undefined;
    const end = number.end + (unit === undefined ? 0 : 1);
    if (!this.#isEnd(end) || this.#bytes[end] === byte.comma) throw this.#notTimestamp(start);
    this.#addInstant(column, row, unit ?? this.#unit);
    return end;
  }

  /** The clock of the server, for a line without a timestamp. */
  addNow(column: ColumnBuilder, row: Row, line: number): void {
    this.#line = line;
    if (column.count > row.rows) return;
    if (column.kind !== columnKind.micros && column.kind !== columnKind.nanos)
      throw this.#clash(column, row, 'TIMESTAMP');
    this.#number.setLong(column.kind === columnKind.nanos ? this.#now : this.#now / 1000n);
    column.addLong(row.rows, this.#number.low, this.#number.high);
  }

  #readQuoted(column: ColumnBuilder, row: Row, start: number): number {
    const bytes = this.#bytes;
    let hasEscapes = false;
    let at = start;
    const end = start + mostTextBytes;
    for (; at < end; at++) {
      const here = bytes[at] as number;
      if (stopsQuoted[here] === 0) continue;
      if (here === byte.quote) break;
      if (here === byte.backslash) {
        hasEscapes = true;
        at++;
      }
      if (at >= bytes.length - 1) throw this.#error(`the text of ${quoted(column.name)} has no closing quote`);
      if (bytes[at] === byte.newline) this.lineEnds++;
    }
    if (at >= end) throw this.#textTooLong(column);
    if (!this.#isEnd(at + 1)) throw this.#error(`something stands behind the text of ${quoted(column.name)}`);
    this.#addText(column, row, start, at, hasEscapes);
    return at + 1;
  }

  #readNumber(column: ColumnBuilder, row: Row, start: number): number {
    const number = this.#number;
    const { end } = number;
    if (this.#isEnd(end)) {
      if (this.#takes(column, row, columnKind.double)) column.addDouble(row.rows, this.#finiteDouble(start));
      return end;
    }
    const suffix = this.#bytes[end];
    if (!number.isWhole || !this.#isEnd(end + 1)) throw this.#notValue(column, start);
    switch (suffix) {
      case letter.u:
        if (number.isNegative) throw this.#notValue(column, start);
        this.#addLong(column, row, start);
        break;
      case letter.i:
        this.#addLong(column, row, start);
        break;
      case letter.t:
      case letter.n:
        this.#addField(column, row, suffix === letter.t ? columnKind.micros : columnKind.nanos);
        break;
      default:
        throw this.#notValue(column, start);
    }
    return end + 1;
  }

  /** False where there is no number. To convert one takes a time that grows with the square of its digits. */
  #read(start: number): boolean {
    const number = this.#number;
    const isNumber = number.read(this.#bytes, start);
    if (number.end - start > mostNumberLength && isNumber)
      throw this.#error(`a number has more than ${mostNumberLength} characters`);
    return isNumber;
  }

  #finiteDouble(start: number): number {
    const double = this.#number.toDouble();
    if (Number.isFinite(double)) return double;
    throw this.#error(`${shownText(this.#bytes, start, this.#number.end)} does not fit into a DOUBLE`);
  }

  #addLong(column: ColumnBuilder, row: Row, start: number): void {
    const number = this.#number;
    const isLong = number.toLong();
    if (column.kind === columnKind.double && column.count <= row.rows) {
      if (!number.isExactDouble()) {
        throw this.#error(
          `${shownText(this.#bytes, start, number.end)} is not exact as a DOUBLE, as column ${quoted(column.name)} of ${row.name} is`,
        );
      }
      column.addDouble(row.rows, number.toDouble());
      return;
    }
    if (!isLong) throw this.#error(`${shownText(this.#bytes, start, number.end)} does not fit into a LONG`);
    if (this.#takes(column, row, columnKind.long)) column.addLong(row.rows, number.low, number.high);
  }

  #addField(column: ColumnBuilder, row: Row, kind: typeof columnKind.micros | typeof columnKind.nanos): void {
    if (column.kind === columnKind.unset) column.settle(kind);
    this.#addInstant(column, row, kind === columnKind.micros ? 1000n : 1n);
  }

  /** The number that was read, in units of this many nanoseconds. */
  #addInstant(column: ColumnBuilder, row: Row, unit: bigint): void {
    const number = this.#number;
    if (column.count > row.rows) return;
    const isNanos = column.kind === columnKind.nanos;
    if (!isNanos && column.kind !== columnKind.micros) throw this.#clash(column, row, 'TIMESTAMP');
    let fits: boolean;
    if (unit === (isNanos ? 1n : 1000n)) fits = number.toLong();
    else if (unit === 1n) {
      if (!number.endsInZeros(3)) throw this.#losesNanos(column, row);
      fits = number.toLongOf(number.end - 3);
    } else fits = number.setLong((number.toBigInt() * unit) / (isNanos ? 1n : 1000n));
    if (!fits || !isInstant(number.high | 0, number.low, isNanos))
      throw this.#error(`the time of ${quoted(column.name)} is out of the range of its type, ${typeName(column)}`);
    column.addLong(row.rows, number.low, number.high);
  }

  #readWord(column: ColumnBuilder, row: Row, start: number): number {
    let end = start;
    while (!this.#isEnd(end)) end++;
    const word = end - start > 10 ? '' : String.fromCharCode(...this.#bytes.subarray(start, end));
    const flag = words.get(word);
    const double = doubles.get(word);
    if (flag !== undefined) {
      if (this.#takes(column, row, columnKind.boolean)) column.addBoolean(row.rows, flag);
    } else if (double !== undefined) {
      if (this.#takes(column, row, columnKind.double)) column.addDouble(row.rows, double);
    } else throw this.#notValue(column, start);
    return end;
  }

  #addText(column: ColumnBuilder, row: Row, from: number, to: number, hasEscapes: boolean): void {
    if (!this.#takes(column, row, columnKind.text)) return;
    if (!hasEscapes) column.addText(row.rows, this.#bytes, from, to);
    else {
      const text = unescapedBytes(this.#bytes, from, to);
      column.addText(row.rows, text, 0, text.length);
    }
  }

  /** Whether the value is stored: of a repeated name in a line the first one counts. */
  #takes(column: ColumnBuilder, row: Row, kind: ColumnKind): boolean {
    if (column.count > row.rows) return false;
    if (column.kind === kind) return true;
    if (column.kind !== columnKind.unset) throw this.#clash(column, row, kindNames[kind]);
    column.settle(kind);
    return true;
  }

  /** Whether a value ends here. */
  #isEnd(at: number): boolean {
    const here = this.#bytes[at] as number;
    if (here === byte.comma || here === byte.space || here === byte.newline) return true;
    return here === byte.return && this.#bytes[at + 1] === byte.newline;
  }

  #clash(column: ColumnBuilder, row: Row, name: string): LineError {
    const columnType = typeName(column);
    const shown = columnType === name ? sqlTypeName(column.type) : columnType;
    return this.#error(`column ${quoted(column.name)} of ${row.name} is ${shown}, and the value is ${name}`);
  }

  #losesNanos(column: ColumnBuilder, row: Row): LineError {
    return this.#error(
      `column ${quoted(column.name)} of ${row.name} is TIMESTAMP, which has microseconds, and the value is TIMESTAMP_NS with nanoseconds that it would lose`,
      'cut them off, or make the frame with TIMESTAMP_NS',
    );
  }

  #notValue(column: ColumnBuilder, start: number): LineError {
    let end = start;
    while (!this.#isEnd(end)) end++;
    if (end === start) return this.#error(`the field ${quoted(column.name)} has no value`);
    return this.#error(
      `${shownText(this.#bytes, start, end)} of ${quoted(column.name)} is no value`,
      'a text stands in quotes',
    );
  }

  #notTimestamp(start: number): LineError {
    const bytes = this.#bytes;
    let end = start;
    while (bytes[end] !== byte.newline && bytes[end] !== byte.space) end++;
    return this.#error(
      `${shownText(bytes, start, end)} is no timestamp`,
      'a comma stands between fields, and a timestamp is a whole number',
    );
  }

  #textTooLong({ name }: ColumnBuilder): LineError {
    return new LineError(this.#line, `the text of ${quoted(name)} is longer than ${mostTextBytes} bytes`, {
      code: 'too_large',
      hint: 'send long texts as a frame of their own',
    });
  }

  #error(message: string, hint?: string): LineError {
    return new LineError(this.#line, message, hint === undefined ? {} : { hint });
  }
}

const kindNames: Readonly<Record<ColumnKind, string>> = {
  [columnKind.unset]: 'unknown',
  [columnKind.other]: 'unknown',
  [columnKind.text]: 'VARCHAR',
  [columnKind.long]: 'LONG',
  [columnKind.double]: 'DOUBLE',
  [columnKind.boolean]: 'BOOLEAN',
  [columnKind.micros]: 'TIMESTAMP',
  [columnKind.nanos]: 'TIMESTAMP_NS',
};

function typeName(column: ColumnBuilder): string {
  return execColumn(column.column).type;
}

function quoted(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

const maxInt64 = 2n ** 63n - 1n;
/** The first time that DuckDB has in microseconds. */
const firstMicros = -9_223_372_022_400_000_000n;

/** Whether an int64 is a time: the ends of its range are NULL and infinity. */
function isInstant(high: number, low: number, isNanos: boolean): boolean {
  if (high > -0x7fff_ff00 && high < 0x7fff_ffff) return true;
  const value = (BigInt(high) << 32n) | BigInt(low >>> 0);
  return value > (isNanos ? -maxInt64 : firstMicros - 1n) && value < maxInt64;
}
