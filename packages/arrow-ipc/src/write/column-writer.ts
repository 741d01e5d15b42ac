import type { Vector } from '@framehold/columns';
import type { BodyLayout } from './body-layout.ts';

/** Gathers the rows of one column, or of a part of one. */
export interface ColumnWriter {
  /** Bytes that rows [from, to) of the vector add. */
  bytesOf(vector: Vector, from: number, to: number): number;
  append(vector: Vector, from: number, to: number): void;
  /** Hands all rows to the body and starts anew. */
  take(body: BodyLayout): void;
}

export function validityBytes(vector: Vector, rows: number): number {
  return vector.validity === null ? 0 : rows / 8;
}
