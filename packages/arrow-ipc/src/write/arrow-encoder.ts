import { type Batch, type Column, type EncodedRows, joinBytes } from '@framehold/columns';
import { BodyLayout } from './body-layout.ts';
import type { ColumnWriter } from './column-writer.ts';
import { writerForType } from './writer-for-type.ts';

/** Offsets are 32-bit; a batch has to end well before they do. */
const MAX_PENDING_BYTES = 2 ** 30;
const noRowEnds = new Uint32Array(0);

export interface ArrowPieces {
  readonly rows: number;
  /** One record batch message, cut at any places. */
  readonly pieces: readonly Uint8Array[];
}

/** Rows as record batches of Arrow IPC. */
export interface ArrowEncoder {
  /** About the size of the next `take`: without header and padding. */
  readonly pendingBytes: number;
  readonly pendingRows: number;
  /**
   * Appends rows [fromRow, toRow) of the batch, but stops a few rows behind the one that makes `maxBytes` pending. Takes at least
   * one row. Returns the next row. The batch may change afterwards.
   */
  encodeRows(batch: Batch, fromRow: number, toRow: number, maxBytes?: number): number;
  /** The pending rows, in memory of their own that is not written to again. */
  take(): ArrowPieces;
  /** The same, in one piece. */
  takeMessage(): EncodedRows;
}

export function createArrowEncoder(columns: readonly Column[]): ArrowEncoder {
  const writers = columns.map((column) => writerForType(column.type));
  let bytes = 0;
  let rows = 0;

  function bytesOf({ vectors }: Batch, fromRow: number, toRow: number): number {
    let sum = 0;
    for (const [i, vector] of vectors.entries()) sum += (writers[i] as ColumnWriter).bytesOf(vector, fromRow, toRow);
    return sum;
  }

  /** The first row behind which at least `enough` bytes have been added, or `toRow`. */
  function cut(batch: Batch, fromRow: number, toRow: number, enough: number): number {
    if (bytesOf(batch, fromRow, toRow) < enough) return toRow;
    let low = fromRow + 1;
    let high = toRow;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (bytesOf(batch, fromRow, middle) < enough) low = middle + 1;
      else high = middle;
    }
    // Bitmaps that begin at a whole byte are copied and not shifted.
    const aligned = Math.min(Math.ceil(low / 8) * 8, toRow);
    return bytesOf(batch, low, aligned) < enough / 16 ? aligned : low;
  }

  function take(): ArrowPieces {
    const body = new BodyLayout();
    for (const writer of writers) writer.take(body);
    const taken = { rows, pieces: body.message(rows) };
    rows = 0;
    bytes = 0;
    return taken;
  }

  return {
    get pendingBytes() {
      return bytes;
    },
    get pendingRows() {
      return rows;
    },
    encodeRows(batch, fromRow, toRow, maxBytes = MAX_PENDING_BYTES) {
      if (batch.vectors.length !== writers.length) {
        throw new RangeError(`a batch of ${batch.vectors.length} columns where ${writers.length} are expected`);
      }
      if (fromRow >= toRow) return fromRow;
      const end = cut(batch, fromRow, toRow, Math.min(maxBytes, MAX_PENDING_BYTES) - bytes);
      bytes += bytesOf(batch, fromRow, end);
      for (const [i, vector] of batch.vectors.entries()) (writers[i] as ColumnWriter).append(vector, fromRow, end);
      rows += end - fromRow;
      return end;
    },
    take,
    takeMessage() {
      const taken = take();
      return { rows: taken.rows, bytes: joinBytes(taken.pieces), rowEnds: noRowEnds };
    },
  };
}
