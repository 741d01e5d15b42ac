import { type ArrowColumn, toVector } from '@framehold/arrow-ipc';
import type { DataType, Vector } from '@framehold/columns';
import { api, offLoop, type Pointer, pointer } from '../c/c-api.ts';
import { DuckDbError } from '../c/duckdb-error.ts';
import { vectorApi } from '../c/vector-api.ts';
import { VectorFiller } from './vector-filler.ts';

/** A chunk of DuckDB and the vectors that own its memory. */
interface FilledChunk {
  readonly chunk: Pointer;
  vectors: readonly Vector[];
}

/** Appends rows to a table. One chunk is appended on the thread pool while the next is filled here. */
export class TableAppender implements AsyncDisposable {
  readonly #appender: Pointer;
  readonly #types: readonly DataType[];
  readonly #filler = new VectorFiller();
  #filling: FilledChunk;
  #appending: FilledChunk;
  #pending: Promise<number> | undefined;
  #closed = false;

  constructor(connection: Pointer, table: string, types: readonly DataType[]) {
    this.#types = types;
    const out: [Pointer | number] = [0n];
    const created = vectorApi.createAppender(connection, 'temp', 'main', table, out);
    this.#appender = pointer(out[0]);
    if (created !== 0) {
      const message = vectorApi.appenderError(this.#appender) ?? 'no appender';
      vectorApi.destroyAppender([this.#appender]);
      throw new DuckDbError(message);
    }
    const nativeTypes = types.map((_, index) => pointer(vectorApi.appenderColumnType(this.#appender, index)));
    this.#filling = createChunk(nativeTypes);
    this.#appending = createChunk(nativeTypes);
    for (const type of nativeTypes) api.destroyType([type]);
  }

  /** Puts the rows of columns into a chunk, at most `vectorRows`; `append` must follow, and `settle` before their message ends. */
  fill(columns: readonly ArrowColumn[], rows: number): void {
    const { chunk } = this.#filling;
    const vectors = columns.map((column, index) => toVector(column, this.#types[index] as DataType));
    this.#filling.vectors = vectors;
    vectorApi.resetChunk(chunk);
    vectors.forEach((vector, index) => {
      this.#filler.fill(vectorApi.chunkVector(chunk, index), vector, columns[index] as ArrowColumn);
    });
    vectorApi.setChunkSize(chunk, rows);
  }

  async append(): Promise<void> {
    await this.settle();
    [this.#filling, this.#appending] = [this.#appending, this.#filling];
    this.#pending = offLoop(vectorApi.appendChunk, this.#appender, this.#appending.chunk);
    this.#pending.catch(() => {});
  }

  /** Waits until DuckDB has its own copy of all rows. */
  async settle(): Promise<void> {
    const state = await this.#pending;
    this.#pending = undefined;
    if (state !== undefined && state !== 0) throw this.#error();
  }

  async close(): Promise<void> {
    await this.settle();
    this.#closed = true;
    if ((await offLoop(vectorApi.closeAppender, this.#appender)) !== 0) throw this.#error();
  }

  #error(): DuckDbError {
    return new DuckDbError(vectorApi.appenderError(this.#appender) ?? 'append failed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pending?.catch(() => {});
    // Destroying the appender would first write the rows in it.
    if (!this.#closed) vectorApi.clearAppender(this.#appender);
    vectorApi.destroyAppender([this.#appender]);
    api.destroyChunk([this.#filling.chunk]);
    api.destroyChunk([this.#appending.chunk]);
  }
}

function createChunk(types: readonly Pointer[]): FilledChunk {
  return { chunk: pointer(vectorApi.createChunk(new BigUint64Array(types), types.length)), vectors: [] };
}
