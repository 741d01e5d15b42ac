import { CodedError } from '@framehold/columns';
import { InvalidArrow } from '../format/flatbuffer-reader.ts';
import { type ArrowMessage, maxBodyBytes } from '../format/messages.ts';
import type { ReceivedField } from '../format/schema.ts';
import type { UnfoldBudget } from '../format/unfold-budget.ts';
import { type Dictionaries, readBatch } from './batch.ts';
import type { ArrowColumn } from './column.ts';
import { concatColumns } from './concat.ts';

interface Entry {
  /** The field of the values. */
  readonly field: ReceivedField;
  parts: ArrowColumn[];
  bytes: number;
  /** Dictionaries that its values have themselves. */
  readonly inner: readonly number[];
}

/** The dictionaries of a stream at its present message. */
export class DictionaryStore {
  readonly #entries = new Map<number, Entry>();
  /** An extended dictionary is put together anew for the next batch. */
  readonly #mostJoinedBytes: number;
  #joinedBytes = 0;

  constructor(fields: readonly ReceivedField[], mostJoinedBytes = 32 * maxBodyBytes) {
    this.#mostJoinedBytes = mostJoinedBytes;
    for (const field of fields) this.#declare(field);
  }

  add({ header, body, isV4 }: ArrowMessage, budget?: UnfoldBudget): void {
    const id = header.int64(0);
    const isDelta = header.bool(2);
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new InvalidArrow(`no column has the dictionary ${id}`);
    const data = header.table(1);
    if (data === undefined) throw new InvalidArrow(`the dictionary ${id} has no values`);
    const { columns } = readBatch(data, { body, isV4 }, [entry.field], this.#joined(entry.inner), budget);
    const bytes = columns.reduce((sum, column) => sum + bytesOf(column), 0);
    entry.parts = isDelta ? [...entry.parts, ...columns] : columns;
    entry.bytes = isDelta ? entry.bytes + bytes : bytes;
    let held = 0;
    for (const each of this.#entries.values()) held += each.bytes;
    if (held > maxBodyBytes) {
      throw new CodedError('too_large', `the dictionaries hold ${held} bytes (at most ${maxBodyBytes})`);
    }
  }

  columns(): Dictionaries {
    return this.#joined(this.#entries.keys());
  }

  #joined(ids: Iterable<number>): Dictionaries {
    const columns = new Map<number, ArrowColumn>();
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry === undefined || entry.parts.length === 0) continue;
      if (entry.parts.length > 1) this.#countJoin(entry);
      const column = concatColumns(entry.parts);
      entry.parts = [column];
      columns.set(id, column);
    }
    return columns;
  }

  #countJoin({ bytes }: Entry): void {
    this.#joinedBytes += bytes;
    if (this.#joinedBytes <= this.#mostJoinedBytes) return;
    throw new CodedError('too_large', 'the dictionaries are large and were extended too often', {
      hint: 'send each dictionary whole, or fewer and larger record batches',
    });
  }

  #declare(field: ReceivedField): void {
    if (field.dictionary !== undefined) {
      const { id } = field.dictionary;
      const values = { ...field, dictionary: undefined };
      const known = this.#entries.get(id);
      // Values read by one layout must not be written by another.
      if (known !== undefined && layoutText(known.field) !== layoutText(values)) {
        throw new InvalidArrow(`${field.label} shares the dictionary ${id} with a column of another type`);
      }
      if (known === undefined)
        this.#entries.set(id, { field: values, parts: [], bytes: 0, inner: dictionariesIn(values.children) });
    }
    for (const child of field.children) this.#declare(child);
  }
}

function dictionariesIn(fields: readonly ReceivedField[]): number[] {
  return fields.flatMap(({ dictionary, children }) => [
    ...(dictionary === undefined ? [] : [dictionary.id]),
    ...dictionariesIn(children),
  ]);
}

/** Bytes of memory of a column, without its dictionary. */
function bytesOf({ validity, data, offsets, viewed, children }: ArrowColumn): number {
  const own = (validity?.byteLength ?? 0) + data.byteLength + offsets.byteLength;
  const ofViews = viewed.reduce((sum, each) => sum + each.byteLength, 0);
  return children.reduce((sum, child) => sum + bytesOf(child), own + ofViews);
}

function layoutText({ type, extension, children, dictionary }: ReceivedField): string {
  return JSON.stringify([type, extension, dictionary, children.map(layoutText)]);
}
