import { type ByteSink, plainBytes, type Vector } from '@framehold/columns';

/** Writes the values of one type. Made once a column, bound to each batch. */
export interface ValueWriter {
  bind(vector: Vector): void;
  /** Puts the value of a row at `at` and returns where it ends; never called for NULL. */
  write(row: number, at: number): number;
}

/** A column's values, NULL among them. */
export class Cell {
  readonly #sink: ByteSink;
  readonly #values: ValueWriter;
  readonly #write: (row: number, at: number) => number;
  #validity: Uint8Array | null = null;

  constructor(sink: ByteSink, values: ValueWriter) {
    this.#sink = sink;
    this.#values = values;
    this.#write = values.write;
  }

  bind(vector: Vector): void {
    this.#validity = vector.validity === null ? null : plainBytes(vector.validity);
    this.#values.bind(vector);
  }

  isNull(row: number): boolean {
    const validity = this.#validity;
    return validity !== null && (((validity[row >> 3] as number) >> (row & 7)) & 1) === 0;
  }

  write(row: number, at: number): number {
    return this.isNull(row) ? this.#sink.null(at) : this.#write(row, at);
  }
}
