import { FrameholdError } from './errors.ts';
import { type Column, rowMaker } from './rows/cells.ts';
import { ResultStream } from './rows/result-stream.ts';
import type { HttpAnswer } from './transport.ts';

/** The result of a statement. Its rows are read once, as they come. */
export class Result<Row> implements AsyncIterable<Row> {
  readonly #stream: ResultStream;

  private constructor(stream: ResultStream) {
    this.#stream = stream;
  }

  static async open<Row>(answer: HttpAnswer, unexpected: () => Error): Promise<Result<Row>> {
    const stream = await ResultStream.open(answer).catch((error: unknown) => {
      throw error instanceof SyntaxError ? unexpected() : error;
    });
    const { error, position } = stream.facts;
    // The external database reports so a statement that fails on its first rows.
    if (typeof error === 'string') {
      throw new FrameholdError('sql_error', error, { position: typeof position === 'number' ? position : undefined });
    }
    return new Result<Row>(stream);
  }

  /** Empty for a statement that gives no rows. */
  get columns(): readonly Column[] {
    return this.#stream.columns;
  }

  /** For a statement that changes rows: their number. */
  get updated(): number | undefined {
    const { updated } = this.#stream.facts;
    return typeof updated === 'number' ? updated : undefined;
  }

  /** The engine that ran the statement, if the call named one. With rows it is known when all have been read. */
  get engine(): string | undefined {
    const { engine } = this.#stream.facts;
    return typeof engine === 'string' ? engine : undefined;
  }

  /** All rows, as objects. Of columns of the same name, the second is `a_1`. */
  async rows(): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const batch of this.batches()) for (const row of batch) rows.push(row);
    return rows;
  }

  /** The rows as arrays of their cells. */
  async *values(): AsyncGenerator<readonly unknown[], void, undefined> {
    for await (const rows of this.#stream.batches()) yield* rows;
  }

  /** The rows, in groups as they arrive. */
  async *batches(): AsyncGenerator<Row[], void, undefined> {
    const make = rowMaker(this.columns) as (cells: readonly unknown[]) => Row;
    for await (const rows of this.#stream.batches()) yield rows.map(make);
  }

  [Symbol.asyncIterator](): AsyncIterator<Row, void, undefined> {
    return new RowIterator(this.batches());
  }

  /** Gives up rows that were not read. */
  cancel(): Promise<void> {
    return this.#stream.close();
  }
}

/** Gives the rows of batches one by one. A generator in a generator would take several times as long. */
export class RowIterator<Row> implements AsyncIterator<Row, void, undefined> {
  readonly #batches: AsyncIterator<readonly Row[], void, undefined>;
  #rows: readonly Row[] = [];
  #at = 0;

  constructor(batches: AsyncIterator<readonly Row[], void, undefined>) {
    this.#batches = batches;
  }

  next(): Promise<IteratorResult<Row, void>> {
    return this.#at < this.#rows.length ? Promise.resolve(this.#take()) : this.#nextBatch();
  }

  async return(): Promise<IteratorResult<Row, void>> {
    this.#rows = [];
    await this.#batches.return?.();
    return { done: true, value: undefined };
  }

  async #nextBatch(): Promise<IteratorResult<Row, void>> {
    do {
      const step = await this.#batches.next();
      if (step.done === true) return step;
      [this.#rows, this.#at] = [step.value, 0];
    } while (this.#rows.length === 0);
    return this.#take();
  }

  #take(): IteratorResult<Row, void> {
    const value = this.#rows[this.#at] as Row;
    this.#at += 1;
    return { done: false, value };
  }
}
