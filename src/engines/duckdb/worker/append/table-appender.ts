import type { ArrowColumn } from '../../../../encoding/arrow/read/columns/column.ts';
import { unsupported } from '../../../../encoding/arrow/read/format/schema.ts';
import { api, offLoop, type Pointer, pointer, vectorRows } from '../native/c-api.ts';
import { DuckDbError } from '../native/duckdb-error.ts';
import { vectorApi } from '../native/vector-api.ts';
import { SliceTooLarge, VectorFiller } from './vector-filler.ts';

/** What the elements of a column's lists may take in a chunk, when it holds more than one row or just one. */
const maxListBytes = 64 * 1024 * 1024;
const maxListBytesOfRow = 512 * 1024 * 1024;

/** Appends Arrow columns to a table. One chunk is appended on the thread pool while the next is filled here. */
export class TableAppender implements AsyncDisposable {
  readonly #appender: Pointer;
  readonly #filler = new VectorFiller();
  #filling: Pointer;
  #appending: Pointer;
  #pending: Promise<number> | undefined;
  /** Into whose memory the chunks point. */
  #columns: readonly ArrowColumn[] | undefined;
  #closed = false;

  constructor(connection: Pointer, table: string, columnCount: number) {
    const out: [Pointer | number] = [0n];
    const created = vectorApi.createAppender(connection, 'temp', 'main', table, out);
    this.#appender = pointer(out[0]);
    if (created !== 0) {
      const message = vectorApi.appenderError(this.#appender) ?? 'no appender';
      vectorApi.destroyAppender([this.#appender]);
      throw new DuckDbError(message);
    }
    const types = Array.from({ length: columnCount }, (_, index) =>
      pointer(vectorApi.appenderColumnType(this.#appender, index)),
    );
    this.#filling = createChunk(types);
    this.#appending = createChunk(types);
    for (const type of types) api.destroyType([type]);
  }

  /** Puts rows from `start` on into a chunk, as many as fit; `append` must follow, and `settle` before other columns. */
  fill(columns: readonly ArrowColumn[], start: number, available: number): number {
    if (this.#columns !== undefined && this.#columns !== columns) throw new Error('the columns before are not settled');
    this.#columns = columns;
    for (let count = Math.min(available, vectorRows); ; count >>= 1) {
      vectorApi.resetChunk(this.#filling);
      this.#filler.maxListBytes = count === 1 ? maxListBytesOfRow : maxListBytes;
      const tooLarge = columns.find((column, index) => !this.#fillColumn(index, column, start, count));
      if (tooLarge === undefined) {
        vectorApi.setChunkSize(this.#filling, count);
        return count;
      }
      if (count === 1) throw unsupported(tooLarge.field, `a list with too many elements (row ${start})`);
    }
  }

  #fillColumn(index: number, column: ArrowColumn, start: number, count: number): boolean {
    try {
      this.#filler.fill(vectorApi.chunkVector(this.#filling, index), column, { start, count, at: null });
      return true;
    } catch (error) {
      if (error instanceof SliceTooLarge) return false;
      throw error;
    }
  }

  async append(): Promise<void> {
    await this.#appended();
    [this.#filling, this.#appending] = [this.#appending, this.#filling];
    this.#pending = offLoop(vectorApi.appendChunk, this.#appender, this.#appending);
    this.#pending.catch(() => {});
  }

  /** Waits until DuckDB has its own copy of all rows. */
  async settle(): Promise<void> {
    await this.#appended();
    this.#columns = undefined;
  }

  async #appended(): Promise<void> {
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
    // Destroying it would first write what it holds.
    if (!this.#closed) vectorApi.clearAppender(this.#appender);
    vectorApi.destroyAppender([this.#appender]);
    api.destroyChunk([this.#filling]);
    api.destroyChunk([this.#appending]);
  }
}

function createChunk(types: readonly Pointer[]): Pointer {
  return pointer(vectorApi.createChunk(new BigUint64Array(types), types.length));
}
