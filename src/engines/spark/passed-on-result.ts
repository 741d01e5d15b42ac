import type { Column } from '../../core/data-type.ts';
import type { EncodedRows } from '../../core/frame-engine.ts';
import type { SqlResult } from '../../core/sql.ts';
import { arrowFields } from '../../encoding/arrow/arrow-columns.ts';
import { endOfStream, schemaMessage } from '../../encoding/arrow/schema-message.ts';
import { ConnectFailure } from './connect-failure.ts';
import type { ResultBatch } from './result-batches.ts';

const noRowEnds = new Uint32Array(0);

/** Record batches of the cluster, handed on as they came. */
export class PassedOnResult implements SqlResult {
  readonly columns: readonly Column[];
  readonly #first: ResultBatch;
  readonly #rest: AsyncGenerator<ResultBatch, void, undefined>;
  totalRows = 0;

  constructor(columns: readonly Column[], first: ResultBatch, rest: AsyncGenerator<ResultBatch, void, undefined>) {
    this.columns = columns;
    this.#first = first;
    this.#rest = rest;
  }

  async *rows(): AsyncGenerator<EncodedRows, void, undefined> {
    try {
      yield* this.#rows(this.#first);
      for await (const batch of this.#rest) yield* this.#rows(batch);
    } finally {
      await this.#rest.return();
    }
  }

  *#rows({ messages, isPlain }: ResultBatch): Generator<EncodedRows, void, undefined> {
    if (!isPlain) throw new ConnectFailure('DATA_LOSS', 'the form of a result changed in its middle');
    for (const { rows, bytes } of messages) {
      if (rows === 0) continue;
      this.totalRows += rows;
      yield { rows, bytes, rowEnds: noRowEnds };
    }
  }

  async *arrowStream(): AsyncGenerator<Uint8Array, void, undefined> {
    yield schemaMessage(arrowFields(this.columns));
    for await (const { bytes } of this.rows()) yield bytes;
    yield endOfStream;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rest.return();
  }
}
