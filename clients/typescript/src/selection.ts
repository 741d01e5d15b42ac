import { Result, RowIterator } from './result.ts';
import type { HttpAnswer } from './transport.ts';

/** The formats of rows. */
export type Format = 'json' | 'ndjson' | 'csv' | 'tsv' | 'parquet' | 'arrow';

/** Makes something of rows that come in a format. `@framehold/client/arrow` has one. */
export interface Reader<Made> {
  readonly format: Format;
  read(bytes: AsyncIterable<Uint8Array>): Promise<Made>;
}

export interface SelectionSource {
  /** Asks the server. */
  open(format: Format): Promise<HttpAnswer>;
  /** Of an answer that is none of Framehold's. */
  unexpected(): Error;
}

/**
 * Rows that are asked for when they are used, and once: `await` it for a Result, iterate over it, or call one of its methods.
 */
export class Selection<Row> implements PromiseLike<Result<Row>>, AsyncIterable<Row> {
  readonly #source: SelectionSource;
  #result: Promise<Result<Row>> | undefined;
  #isOpen = false;

  constructor(source: SelectionSource) {
    this.#source = source;
  }

  // biome-ignore lint/suspicious/noThenProperty: as a promise is.
  then<Made = Result<Row>, Otherwise = never>(
    onResult?: ((result: Result<Row>) => Made | PromiseLike<Made>) | null,
    onError?: ((error: unknown) => Otherwise | PromiseLike<Otherwise>) | null,
  ): Promise<Made | Otherwise> {
    this.#result ??= this.#open('json').then((answer) => Result.open<Row>(answer, () => this.#source.unexpected()));
    return this.#result.then(onResult, onError);
  }

  /** All rows, as objects. */
  async rows(): Promise<Row[]> {
    return (await this).rows();
  }

  /** The bytes of a file with these rows, as they come. */
  bytes(format: Format): Promise<HttpAnswer> {
    return this.#open(format);
  }

  /** The result of a reader of the rows, such as a table of Arrow. */
  async read<Made>(reader: Reader<Made>): Promise<Made> {
    return reader.read(await this.#open(reader.format));
  }

  [Symbol.asyncIterator](): AsyncIterator<Row, void, undefined> {
    return new RowIterator(this.#batches());
  }

  async *#batches(): AsyncGenerator<Row[], void, undefined> {
    yield* (await this).batches();
  }

  async #open(format: Format): Promise<HttpAnswer> {
    if (this.#isOpen) throw new TypeError('these rows were asked for before; ask again by another call');
    this.#isOpen = true;
    return this.#source.open(format);
  }
}
