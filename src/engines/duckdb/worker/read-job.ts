import { AppError } from '../../../core/app-error.ts';
import type { EncodedRows, PartSource, ReadRows } from '../../../core/frame-engine.ts';
import { createExecJsonEncoder, type ExecJsonEncoder } from '../../../encoding/exec-json.ts';
import { DuckDbError, resourceError } from './duckdb-error.ts';
import { parquetRelation, queryReadable } from './parquet-relation.ts';
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
export async function* readRows(connection: Connection, job: ReadRows): AsyncGenerator<EncodedRows, void, undefined> {
  const encoder = encoderFor(job);
  let row = job.fromRow;
  try {
    for (const range of partRanges(job)) {
      await using result = await queryReadable(connection, rangeRelation(range, job.columns));
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

/** Encoders of the last jobs: a new one's code is not yet the one that the compiler made fast. */
const encoders = new Map<string, ExecJsonEncoder>();
const maxEncoders = 16;

function encoderFor({ columns, form }: ReadRows): ExecJsonEncoder {
  const key = `${form} ${JSON.stringify(columns)}`;
  const known = encoders.get(key);
  if (known !== undefined) {
    // What a cancelled job left in it.
    known.take();
    return known;
  }
  const encoder = createExecJsonEncoder(columns, { quoteLargeNum: form === 'exec-json-quoted' });
  if (encoders.size >= maxEncoders) encoders.clear();
  encoders.set(key, encoder);
  return encoder;
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

/** Only the row groups that hold the range are read, by a virtual column that one of the frame's own may hide. */
function rangeRelation({ part, from, to }: PartRange, columns: ReadRows['columns']): string {
  const relation = parquetRelation([part.path]);
  if (from === 0 && to === part.rows) return relation;
  const isHidden = columns.some((column) => column.name.toLowerCase() === rowNumberColumn);
  return isHidden
    ? `${relation} LIMIT ${to - from} OFFSET ${from}`
    : `${relation} WHERE ${rowNumberColumn} BETWEEN ${from} AND ${to - 1}`;
}
