import { GrowingBits, GrowingBytes, type Vector, vectorPart } from '@framehold/columns';
import type { BodyLayout } from './body-layout.ts';
import { type ColumnWriter, validityBytes } from './column-writer.ts';
import { GrowingOffsets } from './growing-offsets.ts';
import { GrowingValidity } from './growing-validity.ts';

export class NullColumn implements ColumnWriter {
  #rows = 0;

  bytesOf(): number {
    return 0;
  }

  append(_vector: Vector, from: number, to: number): void {
    this.#rows += to - from;
  }

  take(body: BodyLayout): void {
    body.node(this.#rows, this.#rows);
    this.#rows = 0;
  }
}

export class BooleanColumn implements ColumnWriter {
  readonly #validity = new GrowingValidity();
  readonly #bits = new GrowingBits();

  bytesOf(vector: Vector, from: number, to: number): number {
    return (to - from) / 8 + validityBytes(vector, to - from);
  }

  append(vector: Vector, from: number, to: number): void {
    this.#validity.append(vector.validity, from, to);
    this.#bits.append(vectorPart(vector.data), from, to);
  }

  take(body: BodyLayout): void {
    this.#validity.take(body);
    const length = Math.ceil(this.#bits.count / 8);
    body.buffer(this.#bits.take(), length);
  }
}

/** Values of one width. */
export class FixedColumn implements ColumnWriter {
  readonly #width: number;
  readonly #validity = new GrowingValidity();
  readonly #data = new GrowingBytes();

  constructor(width: number) {
    this.#width = width;
  }

  bytesOf(vector: Vector, from: number, to: number): number {
    return (to - from) * this.#width + validityBytes(vector, to - from);
  }

  append(vector: Vector, from: number, to: number): void {
    this.#validity.append(vector.validity, from, to);
    this.#data.append(vectorPart(vector.data), from * this.#width, to * this.#width);
  }

  take(body: BodyLayout): void {
    this.#validity.take(body);
    const { length } = this.#data;
    body.buffer(this.#data.take(), length);
  }
}

/** Text and binary. */
export class BytesColumn implements ColumnWriter {
  readonly #validity = new GrowingValidity();
  readonly #offsets = new GrowingOffsets();
  readonly #data = new GrowingBytes();

  bytesOf(vector: Vector, from: number, to: number): number {
    const offsets = vectorPart(vector.offsets);
    const bytes = vectorPart(offsets[to]) - vectorPart(offsets[from]);
    return bytes + (to - from) * 4 + validityBytes(vector, to - from);
  }

  append(vector: Vector, from: number, to: number): void {
    const offsets = vectorPart(vector.offsets);
    this.#validity.append(vector.validity, from, to);
    this.#offsets.append(offsets, from, to);
    this.#data.append(vectorPart(vector.data), vectorPart(offsets[from]), vectorPart(offsets[to]));
  }

  take(body: BodyLayout): void {
    this.#validity.take(body);
    this.#offsets.take(body);
    const { length } = this.#data;
    body.buffer(this.#data.take(), length);
  }
}
