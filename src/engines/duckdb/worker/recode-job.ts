import { AppError } from '../../../core/app-error.ts';
import type { Batch } from '../../../core/batch.ts';
import type { Column } from '../../../core/data-type.ts';
import type { RecodeRows } from '../../../core/sql.ts';
import { readBatch } from '../../../encoding/arrow/input/arrow-batch.ts';
import type { DictionaryStore } from '../../../encoding/arrow/input/arrow-dictionary-store.ts';
import { type ArrowMessage, arrowMessages, invalidAt } from '../../../encoding/arrow/input/arrow-messages.ts';
import type { ArrowField } from '../../../encoding/arrow/input/arrow-schema.ts';
import { readAt, readFirst } from '../../../encoding/arrow/input/arrow-stream.ts';
import { columnOfField } from '../../../encoding/arrow/input/column-of-field.ts';
import { vectorOfColumn } from '../../../encoding/arrow/input/vector-of-column.ts';
import { encodeResults, type ResultRows } from './encode-results.ts';
import type { EncodedPieces } from './row-encoder.ts';

/**
 * The columns of an Arrow IPC stream that another engine sent, then its rows in pieces; returns how many rows it has.
 * A batch at a time: nothing of the stream is kept.
 */
export async function* recode(
  input: AsyncIterable<Uint8Array>,
  job: RecodeRows,
): AsyncGenerator<readonly Column[] | EncodedPieces, number, undefined> {
  try {
    return yield* encodeResults(results(input), job);
  } catch (error) {
    const isAboutStream = error instanceof AppError && error.code === 'invalid_input';
    throw isAboutStream
      ? new AppError('engine_unreachable', `the engine’s rows cannot be read: ${error.message}`)
      : error;
  }
}

async function* results(input: AsyncIterable<Uint8Array>): AsyncGenerator<ResultRows, void, undefined> {
  const messages = arrowMessages(input);
  try {
    const first = await messages.next();
    if (first.done === true) throw new AppError('invalid_input', 'the Arrow stream is empty');
    const { fields, dictionaries } = readAt(first.value, () => readFirst(first.value));
    const columns = fields.map(columnOfField);
    const batches = (): AsyncGenerator<Batch, void, undefined> => batchesOf(messages, fields, dictionaries, columns);
    yield { columns, batches, [Symbol.asyncDispose]: async () => {} };
  } finally {
    await messages.return();
  }
}

async function* batchesOf(
  messages: AsyncIterable<ArrowMessage>,
  fields: readonly ArrowField[],
  dictionaries: DictionaryStore,
  columns: readonly Column[],
): AsyncGenerator<Batch, void, undefined> {
  for await (const message of messages) {
    if (message.kind === 'schema') throw invalidAt(message, 'a second schema');
    if (message.kind === 'dictionary') {
      readAt(message, () => dictionaries.add(message));
      continue;
    }
    const read = readAt(message, () => readBatch(message.header, message, fields, dictionaries.columns()));
    yield {
      columns,
      rows: read.rows,
      // Only where any of the rows is wanted.
      get vectors() {
        return readAt(message, () =>
          read.columns.map((column, index) => vectorOfColumn(column, (columns[index] as Column).type)),
        );
      },
    };
  }
}
