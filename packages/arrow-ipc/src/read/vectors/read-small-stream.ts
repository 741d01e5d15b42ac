import { CodedError, type DataType, only, type Vector } from '@framehold/columns';
import type { ArrowColumn } from '../columns/column.ts';
import { ArrowStream } from '../columns/stream.ts';
import { readAt } from '../format/messages.ts';
import { type ReceivedField, unsupported } from '../format/schema.ts';
import { UnfoldBudget } from '../format/unfold-budget.ts';
import { sliceColumn, sliceEnds } from './column-slices.ts';
import { toDataType } from './to-data-type.ts';
import { toVector } from './to-vector.ts';
import { valueAt } from './value-at.ts';

export interface SmallTable {
  readonly fields: readonly ReceivedField[];
  /** Types of the columns. */
  readonly types: readonly DataType[];
  /** As `valueAt` gives them. */
  readonly rows: readonly (readonly unknown[])[];
}

/** A few bytes may expand to any number of values: nulls take none, and others may all be the same one. */
const mostRows = 10_000;
const mostElements = 1_000_000;
const mostBytes = 64 * 1024 * 1024;

/** An Arrow IPC stream of a few rows, as plain values. Rejects with `invalid_input`, `unsupported_type` or `too_large`. */
export async function readSmallStream(bytes: Uint8Array): Promise<SmallTable> {
  await using stream = await ArrowStream.open(only(bytes), new UnfoldBudget(mostBytes));
  const { fields } = stream;
  refuseUnions(fields);
  const types = fields.map((field) => toDataType(field));
  const rows: unknown[][] = [];
  let elements = 0;
  let valueBytes = 0;
  for await (const { message, rows: count, columns } of stream.rows()) {
    if (rows.length + count > mostRows) throw tooLarge(`more than ${mostRows} rows`);
    elements += elementsIn(columns);
    if (elements > mostElements) throw tooLarge(`more than ${mostElements} values`);
    let from = 0;
    for (const to of readAt(message, () => sliceEnds(columns, count))) {
      const toSlice = (column: ArrowColumn, index: number): Vector =>
        toVector(sliceColumn(column, from, to), types[index] as DataType);
      const vectors = readAt(message, () => columns.map(toSlice));
      for (let row = 0; row < to - from; row++) {
        const values = vectors.map((vector) => valueAt(vector, row));
        valueBytes += bytesOf(values);
        if (valueBytes > mostBytes) throw tooLarge(`values of more than ${mostBytes} bytes`);
        rows.push(values);
      }
      from = to;
    }
  }
  return { fields, types, rows };
}

function tooLarge(what: string): CodedError {
  return new CodedError('too_large', `the parameters have ${what}`, { hint: 'send fewer at a time' });
}

/** No statement takes them as parameters, and many of their rows may refer to one long list. */
function refuseUnions(fields: readonly ReceivedField[]): void {
  for (const field of fields) {
    if (field.type.kind === 'union') throw unsupported(field, 'a union');
    refuseUnions(field.children);
  }
}

/** Also nested ones in lists and structs; those of a dictionary once for every row. */
function elementsIn(columns: readonly ArrowColumn[]): number {
  let elements = 0;
  for (const { length, children, dictionary } of columns) {
    elements += length * (dictionary === undefined ? 1 : 1 + elementsIn(dictionary.children)) + elementsIn(children);
  }
  return elements;
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + bytesOf(each), 0);
  if (typeof value === 'object' && value !== null) return bytesOf(Object.values(value));
  return 0;
}
