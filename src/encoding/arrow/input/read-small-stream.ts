import { readBatch } from './arrow-batch.ts';
import { DictionaryStore } from './arrow-dictionary-store.ts';
import { InvalidArrow } from './arrow-flatbuffer.ts';
import { type ArrowMessage, arrowMessages, invalidAt } from './arrow-messages.ts';
import { type ArrowField, readSchema } from './arrow-schema.ts';
import { valueAt } from './arrow-value.ts';

export interface SmallTable {
  readonly fields: readonly ArrowField[];
  /** As `valueAt` gives them. */
  readonly rows: readonly (readonly unknown[])[];
}

/** An Arrow IPC stream of a few rows, as plain values. Rejects with `invalid_input`. */
export async function readSmallStream(stream: Uint8Array): Promise<SmallTable> {
  let fields: ArrowField[] | undefined;
  let dictionaries = new DictionaryStore([]);
  const rows: unknown[][] = [];
  for await (const message of arrowMessages(only(stream))) {
    readAt(message, () => {
      if (fields === undefined) {
        if (message.kind !== 'schema') throw new InvalidArrow('the stream does not begin with a schema');
        fields = readSchema(message.header);
        dictionaries = new DictionaryStore(fields);
        return;
      }
      if (message.kind === 'schema') throw new InvalidArrow('a second schema');
      if (message.kind === 'dictionary') {
        dictionaries.add(message);
        return;
      }
      const batch = readBatch(message.header, message, fields, dictionaries.columns());
      for (let row = 0; row < batch.rows; row++) rows.push(batch.columns.map((column) => valueAt(column, row)));
    });
  }
  return { fields: fields ?? [], rows };
}

function readAt(message: ArrowMessage, read: () => void): void {
  try {
    read();
  } catch (error) {
    throw error instanceof InvalidArrow ? invalidAt(message, error.message, { cause: error }) : error;
  }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
