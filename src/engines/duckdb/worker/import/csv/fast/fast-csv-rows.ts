import { type Batch, type Column, CR, LF, QUOTE } from '@framehold/columns';
import { batchRows, FastColumn, type FastField, fieldEnds, unsure } from './fast-column.ts';
import { readQuotedText, readText } from './fast-texts.ts';
import { NeedsFullReader } from './line-blocks.ts';

export type LineEnd = '\n' | '\r\n';

/** Takes rows out of bytes, until there is a batch of them. */
export class FastCsvRows {
  readonly #delimiter: number;
  readonly #lineEndBytes: number;
  readonly #fieldEnds: Uint8Array;
  readonly #frameColumns: readonly Column[];
  /** As the frame has them. */
  readonly #columns: readonly FastColumn[];
  /** As the file has them. */
  readonly #columnsOfFile: readonly FastColumn[];
  #rows = 0;

  constructor(fields: readonly FastField[], delimiter: string, lineEnd: LineEnd) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#lineEndBytes = lineEnd.length;
    this.#fieldEnds = fieldEnds(this.#delimiter);
    this.#frameColumns = fields.map((field) => field.column);
    this.#columns = fields.map((field) => new FastColumn(field, this.#fieldEnds));
    const ofFile = [...this.#columns];
    for (const [place, { index }] of fields.entries()) ofFile[index] = this.#columns[place] as FastColumn;
    this.#columnsOfFile = ofFile;
  }

  get count(): number {
    return this.#rows;
  }

  get isFull(): boolean {
    return this.#rows === batchRows;
  }

  /**
   * Reads the rows from `start` on until the batch is full, or `limit`, which is behind a line end. Gives where it
   * stopped: before `limit` also where that line end is inside of quotes.
   */
  read(bytes: Buffer, start: number, limit: number): number {
    const ends = this.#fieldEnds;
    const delimiter = this.#delimiter;
    const columns = this.#columnsOfFile;
    const last = columns.length - 1;
    const lineEndBytes = this.#lineEndBytes;
    let rowStart = start;
    let row = this.#rows;
    rows: for (; rowStart < limit && row < batchRows; row++) {
      let at = rowStart;
      for (let index = 0; index <= last; index++) {
        const column = columns[index] as FastColumn;
        const byte = bytes[at] as number;
        if (ends[byte] === 0) at = column.read(column, bytes, at, row);
        else if (byte !== QUOTE) column.setNull(row);
        else {
          const end = quoted(column, bytes, at + 1, limit, row);
          if (end === undefined) break rows;
          at = end;
        }
        if (at < 0) throw new NeedsFullReader('a value may not be of its type');
        if (index < last && bytes[at++] !== delimiter) throw new NeedsFullReader('a field or a row ends early or late');
      }
      if (lineEndBytes === 2 && bytes[at++] !== CR) throw new NeedsFullReader('a line ends otherwise');
      if (bytes[at++] !== LF) throw new NeedsFullReader('a line ends otherwise');
      if (at - rowStart === lineEndBytes) throw new NeedsFullReader('a line is empty');
      rowStart = at;
    }
    this.#rows = row;
    return rowStart;
  }

  /** The rows so far. They hold until more are read. */
  take(): Batch {
    const rows = this.#rows;
    const vectors = this.#columns.map((column) => column.take(rows));
    this.#rows = 0;
    return { columns: this.#frameColumns, rows, vectors };
  }
}

/** End of a field whose first quote is before `start`. Undefined: not before `limit`. */
function quoted(column: FastColumn, bytes: Buffer, start: number, limit: number, row: number): number | undefined {
  if (column.read === readText) return readQuotedText(column, bytes, start, limit, row);
  const end = column.read(column, bytes, start, row);
  return end < 0 || bytes[end] !== QUOTE ? unsure : end + 1;
}
