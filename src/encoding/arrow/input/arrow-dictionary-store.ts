import { AppError } from '../../../core/app-error.ts';
import { type Dictionaries, readBatch } from './arrow-batch.ts';
import type { ArrowColumn } from './arrow-column.ts';
import { concatColumns } from './arrow-concat.ts';
import { InvalidArrow } from './arrow-flatbuffer.ts';
import { type ArrowMessage, maxBodyBytes } from './arrow-messages.ts';
import type { ArrowField } from './arrow-schema.ts';

interface Entry {
  /** The field of the values. */
  readonly field: ArrowField;
  parts: ArrowColumn[];
  bytes: number;
}

/** The dictionaries of a stream as they are at its present message. */
export class DictionaryStore {
  readonly #entries = new Map<number, Entry>();

  constructor(fields: readonly ArrowField[]) {
    for (const field of fields) this.#declare(field);
  }

  add({ header, body, isV4 }: ArrowMessage): void {
    const id = header.int64(0);
    const isDelta = header.bool(2);
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new InvalidArrow(`no column has the dictionary ${id}`);
    const data = header.table(1);
    if (data === undefined) throw new InvalidArrow(`the dictionary ${id} has no values`);
    const { columns } = readBatch(data, { body, isV4 }, [entry.field], this.columns());
    entry.parts = isDelta ? [...entry.parts, ...columns] : columns;
    entry.bytes = isDelta ? entry.bytes + body.length : body.length;
    let held = 0;
    for (const { bytes } of this.#entries.values()) held += bytes;
    if (held > maxBodyBytes) {
      throw new AppError('too_large', `the dictionaries hold ${held} bytes (at most ${maxBodyBytes})`);
    }
  }

  columns(): Dictionaries {
    const columns = new Map<number, ArrowColumn>();
    for (const [id, entry] of this.#entries) {
      if (entry.parts.length === 0) continue;
      const column = concatColumns(entry.parts);
      entry.parts = [column];
      columns.set(id, column);
    }
    return columns;
  }

  #declare(field: ArrowField): void {
    if (field.dictionary !== undefined) {
      const { id } = field.dictionary;
      const values = { ...field, dictionary: undefined };
      const known = this.#entries.get(id);
      // What is read by one layout must not be written by another.
      if (known !== undefined && layoutText(known.field) !== layoutText(values)) {
        throw new InvalidArrow(`${field.label} shares the dictionary ${id} with a column of another type`);
      }
      if (known === undefined) this.#entries.set(id, { field: values, parts: [], bytes: 0 });
    }
    for (const child of field.children) this.#declare(child);
  }
}

function layoutText({ type, extension, children, dictionary }: ArrowField): string {
  return JSON.stringify([type, extension, dictionary, children.map(layoutText)]);
}
