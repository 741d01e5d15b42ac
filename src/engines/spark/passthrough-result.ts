import { arrowIpcStream } from '@framehold/arrow-ipc';
import type { Column, EncodedRows } from '@framehold/columns';
import type { SqlResult } from '../../core/sql/sql.ts';
import type { QueryBatches } from './query-batches.ts';

const noRowEnds = new Uint32Array(0);

/** Record batches of the cluster, passed on unchanged. */
export class PassthroughResult implements SqlResult {
  readonly columns: readonly Column[];
  readonly #batches: QueryBatches;
  totalRows = 0;

  constructor(batches: QueryBatches) {
    this.columns = batches.head.columns;
    this.#batches = batches;
  }

  async *rows(): AsyncGenerator<EncodedRows, void, undefined> {
    for await (const { messages } of this.#batches) {
      for (const { rows, bytes } of messages) {
        if (rows === 0) continue;
        this.totalRows += rows;
        yield { rows, bytes, rowEnds: noRowEnds };
      }
    }
  }

  arrowStream(): AsyncGenerator<Uint8Array, void, undefined> {
    return arrowIpcStream(this.columns, this.rows());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#batches.end();
  }
}
