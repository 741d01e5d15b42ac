import { AppError } from '../../../core/app-error.ts';
import type { Column } from '../../../core/data-type.ts';
import type { PartSource, ReadRows } from '../../../core/frame-engine.ts';
import { DuckDbError, resourceError } from './duckdb-error.ts';
import { parquetRelation, queryReadable } from './parquet-relation.ts';
import { type EncodedPieces, rowEncoder } from './row-encoder.ts';
import type { Connection } from './session.ts';

/** Encoded rows leave the worker in pieces of about this size. */
const pieceBytes = 1024 * 1024;
const rowNumberColumn = 'file_row_number';

interface PartRange {
  readonly part: PartSource;
  readonly from: number;
  readonly to: number;
}

/** The rows of a frame, encoded, in the order in which they were written. */
export async function* readRows(connection: Connection, job: ReadRows): AsyncGenerator<EncodedPieces, void, undefined> {
  const { columns, select } = job;
  const encoder = rowEncoder(select?.map((index) => columns[index] as Column) ?? columns, job.form);
  let row = job.fromRow;
  try {
    for (const range of partRanges(job)) {
      await using result = await queryReadable(connection, selection(rangeRelation(range, columns), select));
      for await (const batch of result.batches()) {
        for (let from = 0; from < batch.rows; ) {
          const toChunkEnd = job.chunkRows - (row % job.chunkRows);
          const to = Math.min(batch.rows, from + toChunkEnd);
          const next = encoder.encodeRows(batch, from, to, pieceBytes);
          row += next - from;
          from = next;
          if (row % job.chunkRows === 0 || encoder.pendingBytes >= pieceBytes) yield encoder.take();
        }
      }
    }
    if (encoder.pendingRows > 0) yield encoder.take();
  } catch (error) {
    if (!(error instanceof DuckDbError) || error.interrupted) throw error;
    throw resourceError(error) ?? new AppError('frame_damaged', 'the frame cannot be read', { cause: error });
  }
  if (row !== job.toRow) {
    throw new AppError('frame_damaged', `the frame ended at row ${row}, where ${job.toRow} were expected`);
  }
}

function* partRanges({ parts, fromRow, toRow }: ReadRows): Generator<PartRange> {
  let start = 0;
  for (const part of parts) {
    const from = Math.max(fromRow - start, 0);
    const to = Math.min(toRow - start, part.rows);
    if (from < to) yield { part, from, to };
    start += part.rows;
  }
}

function selection(relation: string, select: ReadRows['select']): string {
  if (select === undefined) return relation;
  return `(SELECT ${select.map((index, n) => `#${index + 1} AS c${n}`).join(', ')} FROM ${relation})`;
}

/** Only the row groups that hold the range are read, by a virtual column that one of the frame's own may hide. */
function rangeRelation({ part, from, to }: PartRange, columns: ReadRows['columns']): string {
  const relation = parquetRelation([part.path]);
  if (from === 0 && to === part.rows) return relation;
  const isHidden = columns.some((column) => column.name.toLowerCase() === rowNumberColumn);
  return isHidden
    ? `${relation} LIMIT ${to - from} OFFSET ${from}`
    : `${relation} WHERE ${rowNumberColumn} BETWEEN ${from} AND ${to - 1}`;
}
