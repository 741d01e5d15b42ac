import type { Batch, Column } from '@framehold/columns';
import { api, offLoop, type Pointer, pointer, type ResultStruct, vectorRows } from '../c/c-api.ts';
import { DuckDbError } from '../c/duckdb-error.ts';
import { resultColumns } from '../types/logical-type.ts';
import { chunkToBatch } from './chunk-to-batch.ts';
import { type FlatLayout, flatLayouts } from './flat-vectors.ts';
import { NativeSlab } from './native-slab.ts';

/** Chunks are fetched ahead up to this size, judged by the last chunk: DuckDB decodes in bursts, a row group at a time. */
const mostAheadBytes = 8 * 1024 * 1024;
/** Fetches are in order only if one thread does them all, which who starts the process may ensure. */
const mostAhead = process.env.UV_THREADPOOL_SIZE === '1' ? 8 : 1;

/** The parts of a result that are computed already. */
export type ChunksThere = 'none' | 'firstChunk' | 'all';

/** The rows of a statement. Unless all of them are computed already, they are computed on demand, and a little ahead. */
export class QueryResult {
  readonly columns: readonly Column[];
  readonly #result: ResultStruct;
  readonly #arrowOptions: Pointer;
  readonly #slab = NativeSlab.take();
  readonly #there: ChunksThere;
  readonly #connection: Pointer;
  readonly #ahead: Promise<Pointer>[] = [];
  #fetching = 0;
  #chunks = 0;
  #layouts: readonly FlatLayout[] | undefined;

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

  /** For a result that was read: whether it took hardly any work. */
  get wasShort(): boolean {
    return this.#there !== 'none' && this.#chunks <= 1;
  }

  /**
   * A batch is valid until the next one is read: they share their memory. Several chunks are fetched ahead of rows that are sure
   * to be read.
   */
  async *batches(sureRows = 0): AsyncGenerator<Batch, void, undefined> {
    if (this.#there === 'none') this.#fetchAhead(1);
    else this.#ahead.push(Promise.resolve(pointer(api.fetchChunk(this.#result))));
    let leftRows = sureRows;
    let mostChunks = 1;
    for (;;) {
      const chunk = await this.#ahead[0];
      this.#ahead.shift();
      if (chunk === undefined || chunk === 0n) break;
      // Computed on the thread pool while this one is taken over and encoded.
      const sureChunks = Math.ceil(leftRows / vectorRows) - 1;
      this.#fetchAhead(Math.max(1, Math.min(mostChunks, sureChunks)));
      const batch = this.#import(chunk);
      yield batch;
      leftRows -= batch.rows;
      mostChunks = Math.min(mostAhead, Math.floor(mostAheadBytes / Math.max(1, this.#slab.copied)));
    }
    const isBehindEnd = this.#ahead.length > 0;
    await this.#settled();
    this.#throwError(isBehindEnd ? withoutFetchesBehindEnd : undefined);
  }

  /** The same if all chunks are computed. */
  *batchesAtOnce(): Generator<Batch, void, undefined> {
    for (;;) {
      const chunk = pointer(api.fetchChunk(this.#result));
      if (chunk === 0n) break;
      yield this.#import(chunk);
    }
    this.#throwError();
  }

  #import(chunk: Pointer): Batch {
    if (this.#chunks === 0) this.#layouts = flatLayouts(this.columns, this.#result);
    this.#chunks++;
    return chunkToBatch(chunk, this.#arrowOptions, this.columns, this.#layouts, this.#slab);
  }

  #throwError(read = (message: string): string => message): void {
    const error = read(api.resultError(this.#result) ?? '');
    if (error !== '') throw new DuckDbError(error);
  }

  #fetchAhead(count: number): void {
    while (this.#ahead.length < count) {
      const fetched = this.#fetch();
      // The reader that awaits it gets the error.
      fetched.catch(() => {});
      this.#ahead.push(fetched);
    }
  }

  async #fetch(): Promise<Pointer> {
    this.#fetching++;
    try {
      return pointer(await offLoop(api.fetchChunk, this.#result));
    } finally {
      this.#fetching--;
    }
  }

  /** Stops fetching and drops the fetched chunks. */
  async #settled(): Promise<void> {
    for (const fetched of this.#ahead.splice(0)) {
      const chunk = await fetched.catch(() => 0n);
      if (chunk !== 0n) api.destroyChunk([chunk]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Ends a fetch of rows that nobody will read.
    if (this.#fetching > 0) api.interrupt(this.#connection);
    await this.#settled();
    this[Symbol.dispose]();
  }

  /** For a result without fetches ahead. */
  [Symbol.dispose](): void {
    this.#slab.giveBack();
    api.destroyArrowOptions([this.#arrowOptions]);
    api.destroyResult(this.#result);
  }
}

/** DuckDB's message for each fetch behind the end of a result, before the earlier error. */
const fetchedBehindEnd =
  /^(?:Invalid Input Error: Attempting to execute an unsuccessful or closed pending query result(?:\nError: |$))+/;

function withoutFetchesBehindEnd(message: string): string {
  return message.replace(fetchedBehindEnd, '');
}
