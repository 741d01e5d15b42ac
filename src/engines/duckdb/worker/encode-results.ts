import { AppError } from '../../../core/app-error.ts';
import type { Batch } from '../../../core/batch.ts';
import type { Column } from '../../../core/data-type.ts';
import type { RecodeRows } from '../../../core/sql.ts';
import { type EncodedPieces, rowEncoder } from './row-encoder.ts';

/** A batch holds until the next one is asked for. */
export interface ResultRows extends AsyncDisposable {
  readonly columns: readonly Column[];
  batches(): AsyncIterable<Batch>;
}

/** Encoded rows leave the worker in pieces of about this size. */
const pieceBytes = 1024 * 1024;

/** The columns of the results, then their rows in pieces, one result behind the other; returns how many rows they have. */
export async function* encodeResults(
  all: AsyncIterable<ResultRows>,
  job: RecodeRows,
  renamed?: readonly Column[],
): AsyncGenerator<readonly Column[] | EncodedPieces, number, undefined> {
  const { fromRow = 0, toRow = Infinity, countAll = false } = job;
  let encoder: ReturnType<typeof rowEncoder> | undefined;
  let select: (batch: Batch) => Batch = (batch) => batch;
  let row = 0;
  let first: readonly Column[] | undefined;
  for await (const each of all) {
    await using result = each;
    if (first === undefined || encoder === undefined) {
      first = result.columns;
      select = columnSelection(renamed ?? first, job.columns);
      const { columns } = select({ columns: renamed ?? first, rows: 0, vectors: [] });
      encoder = rowEncoder(columns, job.form);
      yield columns;
    } else assertSameTypes(first, result.columns);
    for await (const batch of result.batches()) {
      const from = Math.max(0, Math.min(batch.rows, fromRow - row));
      const to = Math.min(batch.rows, toRow - row);
      const selected = from < to ? select(batch) : batch;
      for (let at = from; at < to; ) {
        at = encoder.encodeRows(selected, at, to, pieceBytes);
        if (encoder.pendingBytes >= pieceBytes) yield encoder.take();
      }
      row += batch.rows;
      if (row >= toRow && !countAll) break;
    }
  }
  if (encoder !== undefined && encoder.pendingRows > 0) yield encoder.take();
  return row;
}

/** Columns by name, in the order asked for. */
function columnSelection(columns: readonly Column[], names: readonly string[] | undefined): (batch: Batch) => Batch {
  if (names === undefined) return (batch) => ({ ...batch, columns });
  const indices = names.map((name) => {
    const index = columns.findIndex((column) => column.name === name);
    if (index >= 0) return index;
    throw new AppError('invalid_parameter', `the result has no column ${JSON.stringify(name)}`, {
      hint: `its columns are ${columns.map((column) => column.name).join(', ')}`,
    });
  });
  const selected = indices.map((index) => columns[index] as Column);
  return ({ rows, vectors }) => ({
    columns: selected,
    rows,
    vectors: vectors.length === 0 ? [] : indices.map((index) => vectors[index] as Batch['vectors'][number]),
  });
}

/** Parameters may change a result's types from one row to the next, and one stream has one schema. */
function assertSameTypes(first: readonly Column[], next: readonly Column[]): void {
  const same = JSON.stringify(first) === JSON.stringify(next);
  if (!same) throw new AppError('sql_error', 'the rows of parameters give results of different types');
}
