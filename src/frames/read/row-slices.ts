import type { EncodedRows } from '@framehold/columns';
import type { RowPieces } from './row-load.ts';

/** Encoded rows, ready to be sent. */
export interface SentRows {
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** Their memory belongs to the sender: it may be released once they are sent. */
  readonly isOwned?: boolean;
}

/** The rows [fromRow, toRow) of a piece that begins at `pieceRow`; undefined when it has none of them. */
export function sliceRows(piece: EncodedRows, pieceRow: number, fromRow: number, toRow: number): SentRows | undefined {
  const from = Math.max(fromRow - pieceRow, 0);
  const to = Math.min(toRow - pieceRow, piece.rows);
  if (from >= to) return undefined;
  if (from === 0 && to === piece.rows) return { bytes: piece.bytes, rows: piece.rows };
  const start = from === 0 ? 0 : (piece.rowEnds[from - 1] ?? 0);
  return { bytes: piece.bytes.subarray(start, piece.rowEnds[to - 1]), rows: to - from };
}

export function* slicesOf(
  { fromRow: firstRow, pieces }: RowPieces,
  fromRow: number,
  toRow: number,
): Generator<SentRows> {
  let pieceRow = firstRow;
  for (const piece of pieces) {
    const sent = sliceRows(piece, pieceRow, fromRow, toRow);
    if (sent !== undefined) yield sent;
    pieceRow += piece.rows;
  }
}
