import { open } from 'node:fs/promises';
import { jsonValueEnd, skipSpace } from '../../../../../encoding/json/json-grammar.ts';
import { mostColumns, tooManyColumns } from '../text/text-columns.ts';
import { LineWriter } from '../text/text-lines.ts';
import type { Rejections } from '../text/text-rejections.ts';
import { scannedObjects } from './json-scan.ts';
import { JsonShape, jsonKey } from './json-shape.ts';

/** Control characters are never part of JSON. */
export const fieldSeparator = '\x1f';
const SEPARATOR = 0x1f;
const MARK = 46;

export interface JsonColumn {
  readonly name: string;
  readonly shape: JsonShape;
}

/**
 * Writes a line for each object: a mark, then the values as in the input, in the order in which their keys first appeared; null
 * and missing values are empty. A key that an object repeats makes another column, as names may repeat.
 */
export async function writeJsonRows(
  path: string,
  rowsPath: string,
  rejections: Rejections,
  signal: AbortSignal,
): Promise<{ columns: readonly JsonColumn[]; rows: number; longestRow: number }> {
  await using lines = new LineWriter(await open(rowsPath, 'w'));
  const table = new JsonTable();
  let rows = 0;
  let longestRow = 0;
  for await (const { line, bytes, start, end, fault } of scannedObjects(path, signal)) {
    if (fault !== undefined) {
      rejections.add({ line, column: undefined, reason: fault });
      continue;
    }
    rows++;
    const row = table.row(bytes, start, end);
    longestRow = Math.max(longestRow, row.length);
    if (lines.add(row)) await lines.flush();
  }
  await lines.flush();
  return { columns: table.columns, rows, longestRow };
}

/** The lines at which the given rows (from 0, in ascending order) begin. */
export async function linesOfObjects(path: string, rows: readonly number[], signal: AbortSignal): Promise<number[]> {
  const lines: number[] = [];
  let row = 0;
  for await (const { line, fault } of scannedObjects(path, signal)) {
    if (fault !== undefined || row++ !== rows[lines.length]) continue;
    lines.push(line);
    if (lines.length === rows.length) break;
  }
  return lines;
}

class JsonTable {
  readonly columns: JsonColumn[] = [];
  readonly #places = new Map<string, number[]>();
  /** Columns of the last row in the order of its keys, and the bytes of those keys: most rows are alike. */
  #order: { readonly column: number; readonly key: Uint8Array }[] = [];
  /** Start and end of each column's value in the current row; -1 if it has none. */
  #spans = new Float64Array(64);
  #row = Buffer.allocUnsafeSlow(1024);

  row(bytes: Buffer, start: number, end: number): Uint8Array {
    this.#spans.fill(-1, 0, 2 * this.columns.length);
    let member = 0;
    for (let at = skipSpace(bytes, start + 1); at < end - 1; member++) {
      const keyEnd = jsonValueEnd(bytes, at);
      const valueStart = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
      const valueEnd = jsonValueEnd(bytes, valueStart);
      const column = this.#columnAt(member, bytes, at, keyEnd);
      this.#spans[2 * column] = valueStart;
      this.#spans[2 * column + 1] = valueEnd;
      this.columns[column]?.shape.add(bytes, valueStart, valueEnd);
      at = skipSpace(bytes, skipSpace(bytes, valueEnd) + 1);
    }
    return this.#line(bytes, end - start);
  }

  #columnAt(member: number, bytes: Buffer, start: number, end: number): number {
    const last = this.#order[member];
    if (last !== undefined && isSame(last.key, bytes, start, end) && this.#spans[2 * last.column] === -1) {
      return last.column;
    }
    const column = this.#columnFor(jsonKey(bytes, start, end));
    this.#order[member] = { column, key: Uint8Array.prototype.slice.call(bytes, start, end) };
    return column;
  }

  #columnFor(key: string): number {
    const places = this.#places.get(key);
    const free = places?.find((place) => this.#spans[2 * place] === -1);
    if (free !== undefined) return free;
    const column = this.columns.length;
    if (column >= mostColumns) throw tooManyColumns(`the objects have more than ${mostColumns} different keys`);
    this.columns.push({ name: key, shape: new JsonShape() });
    this.#places.set(key, [...(places ?? []), column]);
    if (2 * column >= this.#spans.length) {
      const larger = new Float64Array(this.#spans.length * 2).fill(-1);
      larger.set(this.#spans);
      this.#spans = larger;
    }
    return column;
  }

  #line(bytes: Buffer, objectBytes: number): Uint8Array {
    const most = objectBytes + this.columns.length + 1;
    if (most > this.#row.length) this.#row = Buffer.allocUnsafeSlow(most * 2);
    const row = this.#row;
    let at = 0;
    row[at++] = MARK;
    for (let column = 0; column < this.columns.length; column++) {
      row[at++] = SEPARATOR;
      const start = this.#spans[2 * column] as number;
      if (start < 0 || bytes[start] === 110) continue;
      const end = this.#spans[2 * column + 1] as number;
      copyBytes(bytes, row, at, start, end);
      const isNested = bytes[start] === 91 || bytes[start] === 123;
      if (isNested) joinLines(row, at, at + end - start);
      at += end - start;
    }
    return row.subarray(0, at);
  }
}

const fewBytes = 64;

/** A call out of JavaScript takes longer than a short loop. */
function copyBytes(from: Buffer, to: Buffer, at: number, start: number, end: number): void {
  if (end - start > fewBytes) from.copy(to, at, start, end);
  else for (let index = start; index < end; index++) to[at + index - start] = from[index] as number;
}

function isSame(key: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (key.length !== end - start) return false;
  for (let index = 0; index < key.length; index++) if (key[index] !== bytes[start + index]) return false;
  return true;
}

/** A line end in valid JSON is never part of a string. */
function joinLines(bytes: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at++) if (bytes[at] === 10 || bytes[at] === 13) bytes[at] = 32;
}
