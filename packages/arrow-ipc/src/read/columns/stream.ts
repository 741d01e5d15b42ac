import { CodedError } from '@framehold/columns';
import { InvalidArrow, InvalidValue } from '../format/flatbuffer-reader.ts';
import { type ArrowMessage, arrowMessages, invalidAt, readAt } from '../format/messages.ts';
import { type ReceivedField, readSchema } from '../format/schema.ts';
import type { UnfoldBudget } from '../format/unfold-budget.ts';
import { readBatch } from './batch.ts';
import type { ArrowColumn } from './column.ts';
import { DictionaryStore } from './dictionary-store.ts';

/** Checked rows of a stream, and their message. */
export interface ArrowRows {
  readonly message: ArrowMessage;
  readonly rows: number;
  readonly columns: readonly ArrowColumn[];
}

/** An Arrow IPC stream or file with a known schema; its rows are read a message at a time. */
export class ArrowStream implements AsyncDisposable {
  readonly fields: readonly ReceivedField[];
  readonly #dictionaries: DictionaryStore;
  readonly #messages: AsyncGenerator<ArrowMessage, void, undefined>;

  readonly #budget: UnfoldBudget | undefined;

  private constructor(
    fields: readonly ReceivedField[],
    messages: AsyncGenerator<ArrowMessage, void, undefined>,
    budget: UnfoldBudget | undefined,
  ) {
    this.fields = fields;
    this.#dictionaries = new DictionaryStore(fields);
    this.#messages = messages;
    this.#budget = budget;
  }

  /** `budget`: of the whole stream; without it, each batch has its own. */
  static async open(input: AsyncIterable<Uint8Array>, budget?: UnfoldBudget): Promise<ArrowStream> {
    const messages = arrowMessages(input);
    try {
      const first = await messages.next();
      if (first.done === true) throw new CodedError('invalid_input', 'the Arrow stream is empty');
      return readAt(first.value, () => new ArrowStream(readFirst(first.value), messages, budget));
    } catch (error) {
      await messages.return();
      throw error;
    }
  }

  async *rows(): AsyncGenerator<ArrowRows, void, undefined> {
    const dictionaries = this.#dictionaries;
    const budget = this.#budget;
    let rowsBefore = 0;
    for await (const message of this.#messages) {
      if (message.kind === 'schema') throw invalidAt(message, 'a second schema');
      if (message.kind === 'dictionary') readAt(message, () => dictionaries.add(message, budget));
      else {
        const read = readAt(message, () =>
          withRow(rowsBefore, () => readBatch(message.header, message, this.fields, dictionaries.columns(), budget)),
        );
        rowsBefore += read.rows;
        yield { message, ...read };
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#messages.return();
  }
}

/** An error about a value names its row, which callers know, and not its message. */
function withRow<T>(rowsBefore: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const { column, fault, row } = error;
    throw new CodedError('invalid_input', `${column} ${fault} at row ${rowsBefore + row}`, {
      hint: 'JSON has neither NaN nor infinities: they can stand there as text or null',
      cause: error,
    });
  }
}

/** The schema from the first message of a stream. */
function readFirst({ kind, header }: ArrowMessage): ReceivedField[] {
  if (kind !== 'schema') throw new InvalidArrow('the stream does not begin with a schema');
  return readSchema(header);
}
