import { FrameholdError } from './errors.ts';
import { type Column, rowMaker } from './rows/cells.ts';
import { ResultStream } from './rows/result-stream.ts';
import type { HttpAnswer } from './transport.ts';

/** What a statement gave. Its rows are read once, as they come. */
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
    // As the external database tells of a statement that fails on its first rows.
    if (typeof error === 'string') {
      throw new FrameholdError('sql_error', error, { position: typeof position === 'number' ? position : undefined });
    }
    return new Result<Row>(stream);
  }

  /** Empty for a statement that gives no rows. */
  get columns(): readonly Column[] {
    return this.#stream.columns;
  }

  /** Of a statement that changes rows: how many. */
  get updated(): number | undefined {
    const { updated } = this.#stream.facts;
    return typeof updated === 'number' ? updated : undefined;
  }

  /** What ran the statement, where the call named an engine. With rows it is known when all have been read. */
  get engine(): string | undefined {
    const { engine } = this.#stream.facts;
    return typeof engine === 'string' ? engine : undefined;
  }

  /** All rows, as objects. */
  async rows(): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const batch of this.batches()) for (const row of batch) rows.push(row);
    return rows;
  }

  /** The rows as arrays of their cells: for columns of the same name. */
  async *values(): AsyncGenerator<readonly unknown[], void, undefined> {
    for await (const rows of this.#stream.batches()) yield* rows;
  }

  /** The rows, so many at a time as have come together. */
  async *batches(): AsyncGenerator<Row[], void, undefined> {
    const make = rowMaker(this.columns) as (cells: readonly unknown[]) => Row;
    for await (const rows of this.#stream.batches()) yield rows.map(make);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const rows of this.batches()) yield* rows;
  }

  /** Gives up rows that were not read. */
  cancel(): Promise<void> {
    return this.#stream.close();
  }
}
