import type { Batch } from '../../../core/batch.ts';
import type { Column } from '../../../core/data-type.ts';
import { type ArrowStream, readAt } from './arrow-stream.ts';
import { vectorOfColumn } from './vector-of-column.ts';

/** The rows of a stream in our own layout; `columns` are those that `columnOfField` gives. */
export async function* batchesOf(
  stream: ArrowStream,
  columns: readonly Column[],
): AsyncGenerator<Batch, void, undefined> {
  for await (const { message, rows, columns: sent } of stream.rows()) {
    yield {
      columns,
      rows,
      // Only where any of the rows is wanted.
      get vectors() {
        return readAt(message, () =>
          sent.map((column, index) => vectorOfColumn(column, (columns[index] as Column).type)),
        );
      },
    };
  }
}
