import { allBits, andBits, bitAt, clearBit, sliceBits } from '../../../../encoding/arrow/read/columns/bits.ts';
import type { ArrowColumn } from '../../../../encoding/arrow/read/columns/column.ts';

/** Which rows of a column go into a vector: those from `start` on, or those that `at` lists (-1 for a null). */
export interface Rows {
  readonly start: number;
  readonly count: number;
  readonly at: Int32Array | null;
}

export function rowAt({ start, at }: Rows, index: number): number {
  return at === null ? start + index : (at[index] as number);
}

/** A bit for each of the rows, set where a value is present; null when all are. `parent` has no bit where its own row is null. */
export function presentRows(column: ArrowColumn, rows: Rows, parent: Uint8Array | null): Uint8Array | null {
  const { validity } = column;
  if (rows.at === null) {
    const own = validity === null ? null : sliceBits(validity, rows.start, rows.count);
    return andBits(own, parent);
  }
  let bits: Uint8Array | null = null;
  for (let index = 0; index < rows.count; index++) {
    const row = rows.at[index] as number;
    if (row >= 0 && (validity === null || bitAt(validity, row))) continue;
    bits ??= allBits(rows.count);
    clearBit(bits, index);
  }
  return andBits(bits, parent);
}
