import { isDeepStrictEqual } from 'node:util';
import {
  type Batch,
  type Column,
  type DataType,
  fixedSizeBytes,
  isUuidText,
  type Vector,
  vectorPart,
} from '@framehold/columns';
import { isPresent } from '../columns/bits.ts';
import { int32View } from '../columns/column.ts';
import type { ArrowRows } from '../columns/stream.ts';
import { readAt } from '../format/messages.ts';
import type { ReceivedField } from '../format/schema.ts';
import { divide, multiply } from '../numbers/int64.ts';
import { isFolded, sliceEnds } from './column-slices.ts';
import { toColumn } from './to-column.ts';
import { toDataType } from './to-data-type.ts';
import { toVector } from './to-vector.ts';

/** The columns that a frame of these fields has. Undefined where only the engine can say that, or convert the values. */
export function ownedColumns(fields: readonly ReceivedField[]): readonly Column[] | undefined {
  const columns: Column[] = [];
  for (const field of fields) {
    const type = field.name.includes('\0') ? undefined : ownedType(field);
    if (type === undefined) return undefined;
    columns.push({ name: field.name, type });
  }
  return columns;
}

function ownedType(field: ReceivedField): DataType | undefined {
  switch (field.type.kind) {
    case 'bool':
    case 'int':
    case 'float':
    case 'fixedBytes':
    case 'date':
    case 'time':
    // A decimal named HUGEINT is stored as a decimal.
    case 'decimal':
      return toDataType(field);
    case 'timestamp': {
      const { zoned, unit } = field.type;
      // Parquet, as the engine writes it, has no others.
      return { kind: 'timestamp', zoned, unit: unit === 'ns' && !zoned ? 'ns' : 'us' };
    }
    case 'bytes':
    case 'view': {
      const { type } = toColumn(field);
      const isUuid = type.kind === 'uuid' && field.extension === undefined;
      return isUuid || isDeepStrictEqual(type, toDataType(field)) ? type : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * The rows of a message in memory of their own; `columns` are those of `ownedColumns`. Undefined if the rows expand to more bytes
 * than a small message has, or if a value does not fit its column. Throws if the message is invalid.
 */
export function ownedBatch({ message, rows, columns: sent }: ArrowRows, columns: readonly Column[]): Batch | undefined {
  if (sent.some(isFolded) && readAt(message, () => sliceEnds(sent, rows, rows)).length > 1) return undefined;
  const vectors: Vector[] = [];
  for (const [index, column] of sent.entries()) {
    const { type } = columns[index] as Column;
    const vector = readAt(message, () => toVector(column, type));
    const owned = ownedVector(vector, column.field);
    if (owned === undefined) return undefined;
    vectors.push(owned);
  }
  return { columns, rows, vectors };
}

function ownedVector(vector: Vector, field: ReceivedField): Vector | undefined {
  const { type, length } = vector;
  const validity = vector.validity === null ? null : copied(vector.validity, 0, (length + 7) >> 3);
  switch (type.kind) {
    case 'boolean':
      return { ...vector, validity, data: copied(vectorPart(vector.data), 0, (length + 7) >> 3) };
    case 'utf8':
    case 'json':
    case 'binary':
      return { ...ownedBytes(vector), validity };
    case 'uuid':
      return areUuids(vector) ? { ...ownedBytes(vector), validity } : undefined;
    case 'timestamp': {
      const data = field.type.kind === 'timestamp' ? inUnit(vector, field.type.unit) : undefined;
      return data && { ...vector, validity, data };
    }
    case 'int':
    case 'float':
    case 'decimal':
    case 'date':
    case 'time':
      return { ...vector, validity, data: copied(vectorPart(vector.data), 0, length * fixedSizeBytes(type)) };
    default:
      return undefined;
  }
}

/** Not by `slice`: that of a Buffer is a view. */
function copied(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const copy = new Uint8Array(to - from);
  copy.set(bytes.subarray(from, to));
  return copy;
}

function ownedBytes(vector: Vector): Vector {
  const offsets = vectorPart(vector.offsets).slice(0, vector.length + 1);
  const from = offsets[0] as number;
  const data = copied(vectorPart(vector.data), from, offsets[vector.length] as number);
  if (from !== 0) for (let row = 0; row <= vector.length; row++) offsets[row] = (offsets[row] as number) - from;
  return { ...vector, offsets, data };
}

/** Written as the engine writes them; it reads others, too. */
function areUuids({ length, validity, offsets, data }: Vector): boolean {
  const ends = vectorPart(offsets);
  for (let row = 0; row < length; row++) {
    if (isPresent(validity, row) && !isUuidText(vectorPart(data), ends[row] as number, ends[row + 1] as number)) {
      return false;
    }
  }
  return true;
}

/** Timestamps as the vector's type has them; with a zone they are microseconds already, unless they were nanoseconds. */
function inUnit({ type, length, validity, data }: Vector, sent: 's' | 'ms' | 'us' | 'ns'): Uint8Array | undefined {
  if (type.kind !== 'timestamp') return undefined;
  const bytes = copied(vectorPart(data), 0, length * 8);
  if (sent === type.unit || (type.zoned && sent !== 'ns')) return bytes;
  const words = int32View(bytes, length * 2);
  const factor = sent === 's' ? 1_000_000 : 1000;
  for (let row = 0, at = 0; row < length; row++, at += 2) {
    const high = words[at + 1] as number;
    const low = (words[at] as number) >>> 0;
    const isExact = sent === 'ns' ? divide(high, low, factor, words, at) : multiply(high, low, factor, words, at);
    if (!isExact && isPresent(validity, row)) return undefined;
  }
  return bytes;
}
