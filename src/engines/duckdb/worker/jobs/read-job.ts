import { type Connection, DuckDbError } from '@framehold/duckdb';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { ReadRows } from '../../../../core/rows/frame-engine.ts';
import { type EncodedPieces, rowEncoder } from '../../../../encoding/row-encoder.ts';
import { queryReadable } from '../parquet/parquet-relation.ts';
import { partRanges, rangeRelation, selected, selection } from '../parquet/part-rows.ts';
import { resourceError } from '../resource-error.ts';

/** A longer chunk is cut into pieces: a slightly longer one is not, for a small rest would be left. */
const pieceBytes = 1.25 * 1024 * 1024;

/** The rows of a frame, encoded, in the order in which they were written. */
export async function* readRows(connection: Connection, job: ReadRows): AsyncGenerator<EncodedPieces, void, undefined> {
  const { columns, select } = job;
  const encoder = rowEncoder(selected(columns, select), job.form);
  let row = job.fromRow;
  try {
    for (const range of partRanges(job.parts, job.fromRow, job.toRow)) {
      await using result = await queryReadable(connection, selection(rangeRelation(range, columns), select));
      for await (const batch of result.batches(range.to - range.from)) {
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
