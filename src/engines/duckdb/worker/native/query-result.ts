import type { Batch } from '../../../../core/batch.ts';
import type { Column } from '../../../../core/data-type.ts';
import { api, offLoop, type Pointer, pointer, type ResultStruct, vectorRows } from './c-api.ts';
import { chunkToBatch } from './chunk-to-batch.ts';
import { DuckDbError } from './duckdb-error.ts';
import { type FlatLayout, flatLayouts } from './flat-vectors.ts';
import { resultColumns } from './logical-type.ts';
import { NativeSlab } from './native-slab.ts';

/** Chunks are fetched ahead up to so much, by the size of the one before: DuckDB decodes in bursts, a row group at a time. */
const mostAheadBytes = 8 * 1024 * 1024;
/** Fetches are in order only where one thread does them all, as WorkerProcess sees to. */
const mostAhead = process.env.UV_THREADPOOL_SIZE === '1' ? 8 : 1;

/** What of a result need not be computed any more. */
export type ChunksThere = 'none' | 'firstChunk' | 'all';

/** The rows of a statement. Unless all of them are there, they are computed as they are asked for, and a little ahead. */
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

  /** Of a result that was read: whether hardly any work was behind it. */
  get wasShort(): boolean {
    return this.#there !== 'none' && this.#chunks <= 1;
  }

  /**
   * A batch holds until the next one is asked for: they share their memory. Of rows that are sure to come, unless they cannot
   * be read, several chunks are fetched ahead.
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
      // Whoever waits for it hears of it.
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

  /** Nothing is fetched any more, and what was is dropped. */
  async #settled(): Promise<void> {
    for (const fetched of this.#ahead.splice(0)) {
      const chunk = await fetched.catch(() => 0n);
      if (chunk !== 0n) api.destroyChunk([chunk]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Who has enough rows does not wait for the next ones to be found.
    if (this.#fetching > 0) api.interrupt(this.#connection);
    await this.#settled();
    this[Symbol.dispose]();
  }

  /** Where nothing was fetched ahead. */
  [Symbol.dispose](): void {
    this.#slab.giveBack();
    api.destroyArrowOptions([this.#arrowOptions]);
    api.destroyResult(this.#result);
  }
}

/** What DuckDB says to each fetch behind the end of a result, in front of the error that was there before. */
const fetchedBehindEnd =
  /^(?:Invalid Input Error: Attempting to execute an unsuccessful or closed pending query result(?:\nError: |$))+/;

function withoutFetchesBehindEnd(message: string): string {
  return message.replace(fetchedBehindEnd, '');
}
