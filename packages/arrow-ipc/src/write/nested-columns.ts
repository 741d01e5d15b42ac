import { GrowingBytes, type Vector, vectorPart } from '@framehold/columns';
import type { BodyLayout } from './body-layout.ts';
import { type ColumnWriter, validityBytes } from './column-writer.ts';
import { GrowingOffsets } from './growing-offsets.ts';
import { GrowingValidity } from './growing-validity.ts';

/** Lists, and maps as lists of entries. */
export class ListColumn implements ColumnWriter {
  readonly #validity = new GrowingValidity();
  readonly #offsets = new GrowingOffsets();
  readonly #element: ColumnWriter;

  constructor(element: ColumnWriter) {
    this.#element = element;
  }

  bytesOf(vector: Vector, from: number, to: number): number {
    const offsets = vectorPart(vector.offsets);
    const element = this.#element.bytesOf(
      vectorPart(vector.children[0]),
      vectorPart(offsets[from]),
      vectorPart(offsets[to]),
    );
    return element + (to - from) * 4 + validityBytes(vector, to - from);
  }

  append(vector: Vector, from: number, to: number): void {
    const offsets = vectorPart(vector.offsets);
    this.#validity.append(vector.validity, from, to);
    this.#offsets.append(offsets, from, to);
    this.#element.append(vectorPart(vector.children[0]), vectorPart(offsets[from]), vectorPart(offsets[to]));
  }

  take(body: BodyLayout): void {
    this.#validity.take(body);
    this.#offsets.take(body);
    this.#element.take(body);
  }
}

/** Lists of one length. */
export class ArrayColumn implements ColumnWriter {
  readonly #validity = new GrowingValidity();
  readonly #element: ColumnWriter;
  readonly #size: number;

  constructor(element: ColumnWriter, size: number) {
    this.#element = element;
    this.#size = size;
  }

  bytesOf(vector: Vector, from: number, to: number): number {
    const element = this.#element.bytesOf(vectorPart(vector.children[0]), from * this.#size, to * this.#size);
    return element + validityBytes(vector, to - from);
  }

  append(vector: Vector, from: number, to: number): void {
    this.#validity.append(vector.validity, from, to);
    this.#element.append(vectorPart(vector.children[0]), from * this.#size, to * this.#size);
  }

  take(body: BodyLayout): void {
    this.#validity.take(body);
    this.#element.take(body);
  }
}

export class StructColumn implements ColumnWriter {
  readonly #validity = new GrowingValidity();
  readonly #fields: readonly ColumnWriter[];

  constructor(fields: readonly ColumnWriter[]) {
    this.#fields = fields;
  }

  bytesOf(vector: Vector, from: number, to: number): number {
    return childBytes(this.#fields, vector, from, to) + validityBytes(vector, to - from);
  }

  append(vector: Vector, from: number, to: number): void {
    this.#validity.append(vector.validity, from, to);
    appendChildren(this.#fields, vector, from, to);
  }

  take(body: BodyLayout): void {
    this.#validity.take(body);
    for (const field of this.#fields) field.take(body);
  }
}

/** A sparse union. It has no bitmap: a NULL is one of the member. */
export class UnionColumn implements ColumnWriter {
  readonly #tags = new GrowingBytes();
  readonly #members: readonly ColumnWriter[];

  constructor(members: readonly ColumnWriter[]) {
    this.#members = members;
  }

  bytesOf(vector: Vector, from: number, to: number): number {
    return childBytes(this.#members, vector, from, to) + to - from;
  }

  append(vector: Vector, from: number, to: number): void {
    this.#tags.append(vectorPart(vector.data), from, to);
    appendChildren(this.#members, vector, from, to);
  }

  take(body: BodyLayout): void {
    const { length } = this.#tags;
    body.node(length, 0);
    body.buffer(this.#tags.take(), length);
    for (const member of this.#members) member.take(body);
  }
}

/** Keys of a map, and its entries: Arrow allows no NULL there. */
export class RequiredColumn implements ColumnWriter {
  readonly #column: ColumnWriter;

  constructor(column: ColumnWriter) {
    this.#column = column;
  }

  bytesOf(vector: Vector, from: number, to: number): number {
    return this.#column.bytesOf(vector, from, to);
  }

  append(vector: Vector, from: number, to: number): void {
    this.#column.append(vector.validity === null ? vector : { ...vector, validity: null }, from, to);
  }

  take(body: BodyLayout): void {
    this.#column.take(body);
  }
}

function childBytes(writers: readonly ColumnWriter[], vector: Vector, from: number, to: number): number {
  let bytes = 0;
  for (const [i, writer] of writers.entries()) bytes += writer.bytesOf(vectorPart(vector.children[i]), from, to);
  return bytes;
}

function appendChildren(writers: readonly ColumnWriter[], vector: Vector, from: number, to: number): void {
  for (const [i, writer] of writers.entries()) writer.append(vectorPart(vector.children[i]), from, to);
}
