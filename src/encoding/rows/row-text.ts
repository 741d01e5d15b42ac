import type { Batch, ByteSink, EncodedRows } from '@framehold/columns';

/** Rows as text, one behind the other. */
export interface RowTextEncoder {
  /** The size of the next `take`. */
  readonly pendingBytes: number;
  readonly pendingRows: number;
  encode(batch: Batch): void;
  /**
   * Appends rows [fromRow, toRow) of the batch, but stops behind the row that makes `maxBytes` pending.
   * Returns the row to go on with. A batch must not change until its last row is encoded.
   */
  encodeRows(batch: Batch, fromRow: number, toRow: number, maxBytes?: number): number;
  /** The pending rows, in memory of their own that may be transferred. */
  take(): EncodedRows;
}

/** Writes the rows of batches that all have the same columns. */
export interface RowWriter {
  readonly columnCount: number;
  bind(batch: Batch): void;
  /** Puts a row at `at` and returns where it ends. */
  write(row: number, at: number): number;
}

/** `start`: bytes before the first row that its writer needs for itself. */
export function createRowTextEncoder(sink: ByteSink, writer: RowWriter, start = 0): RowTextEncoder {
  let rowEnds = new Uint32Array(1024);
  let rows = 0;
  let end = start;
  let bound: Batch | undefined;

  function bind(batch: Batch): void {
    const { columnCount } = writer;
    if (batch.vectors.length !== columnCount) {
      throw new RangeError(`a batch of ${batch.vectors.length} columns where ${columnCount} are expected`);
    }
    writer.bind(batch);
    bound = batch;
  }

  function encodeRows(batch: Batch, fromRow: number, toRow: number, maxBytes = Number.POSITIVE_INFINITY): number {
    if (batch !== bound) bind(batch);
    const enough = maxBytes + start;
    let row = fromRow;
    while (row < toRow && end < enough) {
      end = writer.write(row++, end);
      if (rows === rowEnds.length) rowEnds = grown(rowEnds);
      rowEnds[rows++] = end - start;
    }
    if (row >= batch.rows) bound = undefined;
    return row;
  }

  return {
    get pendingBytes() {
      return end - start;
    },
    get pendingRows() {
      return rows;
    },
    encode(batch) {
      encodeRows(batch, 0, batch.rows);
    },
    encodeRows,
    take() {
      const taken = { rows, bytes: sink.take(start, end), rowEnds: rowEnds.slice(0, rows) };
      rows = 0;
      end = start;
      return taken;
    },
  };
}

function grown(values: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(values.length * 2);
  larger.set(values);
  return larger;
}
