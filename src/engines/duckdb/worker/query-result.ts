import type { Batch } from '../../../core/batch.ts';
import type { Column } from '../../../core/data-type.ts';
import { importChunk } from './arrow-import.ts';
import { api, offLoop, type Pointer, pointer, type ResultStruct } from './c-api.ts';
import { DuckDbError } from './duckdb-error.ts';
import { resultColumns } from './logical-type.ts';
import { NativeSlab } from './native-slab.ts';

/** What of a result need not be computed any more. */
export type ChunksThere = 'none' | 'firstChunk' | 'all';

/** The rows of a statement. Unless all of them are there, they are computed as they are asked for, one chunk ahead. */
export class QueryResult {
  readonly columns: readonly Column[];
  readonly #result: ResultStruct;
  readonly #arrowOptions: Pointer;
  readonly #slab = NativeSlab.take();
  readonly #there: ChunksThere;
  readonly #connection: Pointer;
  #ahead: Promise<Pointer> | undefined;
  #isFetching = false;
  #chunks = 0;

  /** `columns`: where they are known. */
  constructor(connection: Pointer, result: ResultStruct, there: ChunksThere, columns?: readonly Column[]) {
    this.#result = result;
    this.#there = there;
    this.#connection = connection;
    try {
      this.columns = columns ?? resultColumns(result);
    } catch (error) {
      api.destroyResult(result);
      throw error;
    }
    const options: [Pointer | number] = [0n];
    api.arrowOptions(connection, options);
    this.#arrowOptions = pointer(options[0]);
  }

  /** Of a result that was read: whether hardly any work was behind it. */
  get wasShort(): boolean {
    return this.#there !== 'none' && this.#chunks <= 1;
  }

  /** A batch holds until the next one is asked for: they share their memory. */
  async *batches(): AsyncGenerator<Batch, void, undefined> {
    this.#ahead = this.#there === 'none' ? this.#fetch() : Promise.resolve(pointer(api.fetchChunk(this.#result)));
    for (;;) {
      const chunk = await this.#ahead;
      this.#ahead = undefined;
      if (chunk === 0n) break;
      // The next chunk is computed on the thread pool while this one is taken over and encoded.
      this.#ahead = this.#fetch();
      this.#ahead.catch(() => {});
      yield this.#import(chunk);
    }
    this.#throwError();
  }

  /** The same where all chunks are there. */
  *batchesAtOnce(): Generator<Batch, void, undefined> {
    for (;;) {
      const chunk = pointer(api.fetchChunk(this.#result));
      if (chunk === 0n) break;
      yield this.#import(chunk);
    }
    this.#throwError();
  }

  #import(chunk: Pointer): Batch {
    this.#chunks++;
    return importChunk(chunk, this.#arrowOptions, this.columns, this.#slab);
  }

  #throwError(): void {
    const error = api.resultError(this.#result);
    if (error !== null && error !== '') throw new DuckDbError(error);
  }

  async #fetch(): Promise<Pointer> {
    this.#isFetching = true;
    try {
      return pointer(await offLoop(api.fetchChunk, this.#result));
    } finally {
      this.#isFetching = false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Who has enough rows does not wait for the next ones to be found.
    if (this.#isFetching) api.interrupt(this.#connection);
    const chunk = await this.#ahead?.catch(() => 0n);
    if (chunk !== undefined && chunk !== 0n) api.destroyChunk([chunk]);
    this[Symbol.dispose]();
  }

  /** Where nothing was fetched ahead. */
  [Symbol.dispose](): void {
    this.#slab.giveBack();
    api.destroyArrowOptions([this.#arrowOptions]);
    api.destroyResult(this.#result);
  }
}
