import type { Batch, Column, Vector } from '@framehold/columns';
import type { ArrowColumn } from '../columns/column.ts';
import type { ArrowStream } from '../columns/stream.ts';
import { readAt } from '../format/messages.ts';
import { isFolded, sliceColumn, sliceEnds } from './column-slices.ts';
import { toVector } from './to-vector.ts';

/** The rows of a stream in our own layout; `columns` are from `toColumn`. */
export async function* toBatches(
  stream: ArrowStream,
  columns: readonly Column[],
): AsyncGenerator<Batch, void, undefined> {
  for await (const { message, rows, columns: sent } of stream.rows()) {
    const ends = readAt(message, () => (sent.some(isFolded) ? sliceEnds(sent, rows) : [rows]));
    let from = 0;
    for (const to of ends) {
      const slice = ends.length === 1 ? sent : sent.map((column) => sliceColumn(column, from, to));
      yield {
        columns,
        rows: to - from,
        // Only where any of the rows is wanted.
        get vectors() {
          return readAt(message, () => vectorsOf(slice, columns));
        },
      };
      from = to;
    }
  }
}

function vectorsOf(sent: readonly ArrowColumn[], columns: readonly Column[]): Vector[] {
  return sent.map((column, index) => toVector(column, (columns[index] as Column).type));
}
