import { AppError } from '../../../../core/app-error.ts';
import { readBatch } from '../columns/batch.ts';
import type { ArrowColumn } from '../columns/column.ts';
import { DictionaryStore } from '../columns/dictionary-store.ts';
import { valueAt } from '../columns/value.ts';
import { InvalidArrow } from '../format/flatbuffer-reader.ts';
import { arrowMessages, readAt } from '../format/messages.ts';
import { type ReceivedField, readSchema, unsupported } from '../format/schema.ts';
import { UnfoldBudget } from '../format/unfold-budget.ts';

export interface SmallTable {
  readonly fields: readonly ReceivedField[];
  /** As `valueAt` gives them. */
  readonly rows: readonly (readonly unknown[])[];
}

/** A few bytes may stand for any number of values: nulls take none, and others may all be the same one. */
const mostRows = 10_000;
const mostElements = 1_000_000;
const mostBytes = 64 * 1024 * 1024;

/** An Arrow IPC stream of a few rows, as plain values. Rejects with `invalid_input` or `too_large`. */
export async function readSmallStream(stream: Uint8Array): Promise<SmallTable> {
  let fields: ReceivedField[] | undefined;
  let dictionaries = new DictionaryStore([]);
  const rows: unknown[][] = [];
  const budget = new UnfoldBudget(mostBytes);
  let elements = 0;
  let bytes = 0;
  for await (const message of arrowMessages(only(stream))) {
    readAt(message, () => {
      if (fields === undefined) {
        if (message.kind !== 'schema') throw new InvalidArrow('the stream does not begin with a schema');
        fields = readSchema(message.header);
        refuseUnions(fields);
        dictionaries = new DictionaryStore(fields);
        return;
      }
      if (message.kind === 'schema') throw new InvalidArrow('a second schema');
      if (message.kind === 'dictionary') {
        dictionaries.add(message, budget);
        return;
      }
      if (rows.length + message.rows > mostRows) throw tooLarge(`more than ${mostRows} rows`);
      const batch = readBatch(message.header, message, fields, dictionaries.columns(), budget);
      elements += elementsIn(batch.columns);
      if (elements > mostElements) throw tooLarge(`more than ${mostElements} values`);
      for (let row = 0; row < batch.rows; row++) {
        rows.push(
          batch.columns.map((column) => {
            const value = valueAt(column, row);
            bytes += bytesOf(value);
            if (bytes > mostBytes) throw tooLarge(`values of more than ${mostBytes} bytes`);
            return value;
          }),
        );
      }
    });
  }
  return { fields: fields ?? [], rows };
}

function tooLarge(what: string): AppError {
  return new AppError('too_large', `the parameters have ${what}`, { hint: 'send fewer at a time' });
}

/** Nobody takes them as parameters, and many of their rows may mean one and the same long list. */
function refuseUnions(fields: readonly ReceivedField[]): void {
  for (const field of fields) {
    if (field.type.kind === 'union') throw unsupported(field, 'a union');
    refuseUnions(field.children);
  }
}

/** Also those inside of lists and structs; those of a dictionary once for every row. */
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

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
