import type { Batch, Column } from '@framehold/columns';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { RecodeRows } from '../../../../core/sql/sql.ts';
import { type EncodedPieces, type RowEncoder, rowEncoder } from '../../../../encoding/row-encoder.ts';

/** Encoded rows leave the worker in pieces of about this size. */
const pieceBytes = 1024 * 1024;

/** Encodes the rows of a result that are wanted of it, in pieces. */
export class ResultEncoder {
  /** The columns of the result. */
  readonly columns: readonly Column[];
  readonly #wanted: RecodeRows;
  readonly #select: (batch: Batch) => Batch;
  readonly #encoder: RowEncoder;
  #rows = 0;

  constructor(columns: readonly Column[], wanted: RecodeRows) {
    this.#wanted = wanted;
    this.#select = columnSelection(columns, wanted.columns);
    this.columns = this.#select({ columns, rows: 0, vectors: [] }).columns;
    this.#encoder = rowEncoder(this.columns, wanted.form);
  }

  /** The number of rows so far. */
  get rows(): number {
    return this.#rows;
  }

  get hasEnough(): boolean {
    const { toRow = Infinity, countAll = false } = this.#wanted;
    return this.#rows >= toRow && !countAll;
  }

  /** Takes all rows of the batch, and gives the pieces that are full. */
  *encode(batch: Batch): Generator<EncodedPieces, void, undefined> {
    const { fromRow = 0, toRow = Infinity } = this.#wanted;
    const from = Math.max(0, Math.min(batch.rows, fromRow - this.#rows));
    const to = Math.min(batch.rows, toRow - this.#rows);
    const selected = from < to ? this.#select(batch) : batch;
    for (let at = from; at < to; ) {
      at = this.#encoder.encodeRows(selected, at, to, pieceBytes);
      if (this.#encoder.pendingBytes >= pieceBytes) yield this.#encoder.take();
    }
    this.#rows += batch.rows;
  }

  /** The last piece; undefined where nothing is left for it. */
  rest(): EncodedPieces | undefined {
    return this.#encoder.pendingRows > 0 ? this.#encoder.take() : undefined;
  }
}

/** The named columns, in that order. */
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
