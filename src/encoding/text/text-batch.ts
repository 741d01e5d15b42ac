import { isUtf8 } from 'node:buffer';
import { type Batch, type Column, Slab } from '@framehold/columns';
import { hasTextValues, ValueColumn } from './value-column.ts';

/** Bytes that are read in one step. */
export const textStepBytes = 16 * 1024;

/** Columns to read text into; undefined where a type is left to the engine. */
export function valueColumns(columns: readonly Column[]): ValueColumn[] | undefined {
  if (!columns.every(({ type }) => hasTextValues(type))) return undefined;
  const slab = new Slab();
  return columns.map(({ type }) => new ValueColumn(type, slab));
}

export function batchOf(columns: readonly Column[], values: readonly ValueColumn[]): Batch {
  return { columns, rows: values[0]?.rows ?? 0, vectors: values.map((value) => value.take()) };
}

const knownNames = new WeakMap<readonly Column[], readonly Uint8Array[]>();

/** The names of columns as bytes. A frame keeps the same columns for all its appends. */
export function columnNames(columns: readonly Column[]): readonly Uint8Array[] {
  const known = knownNames.get(columns);
  if (known !== undefined) return known;
  const names = columns.map(({ name }) => Buffer.from(name));
  knownNames.set(columns, names);
  return names;
}

/** Whether the bytes are text without a byte order mark and without NUL, which some take for the end of a text. */
export function isPlainText(bytes: Uint8Array): boolean {
  return bytes[0] !== 0xef && isUtf8(bytes) && !Uint8Array.prototype.includes.call(bytes, 0);
}

export function isSame(expected: Uint8Array, bytes: Uint8Array, from: number, end: number): boolean {
  if (expected.length !== end - from) return false;
  for (let index = 0; index < expected.length; index++) if (expected[index] !== bytes[from + index]) return false;
  return true;
}
