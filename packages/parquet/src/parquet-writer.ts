import type { Batch, Column } from '@framehold/columns';
import { ChunkBuilder } from './column-chunk.ts';
import { type FooterColumn, fileFooter, type PlacedChunk, type RowGroup, rowGroup } from './file-footer.ts';
import { parquetType } from './parquet-type.ts';
import { TextDictionary } from './text-dictionary.ts';

/** Rows in a row group: small enough that a page in the middle of a frame is cheap to reach. */
export const rowGroupRows = 65_536;
/** A row group ends before that where its rows are long. */
const mostGroupBytes = 64 * 1024 * 1024;
/** What is taken over at once; in between it is looked how large the row group has become. */
const stepRows = 8192;
const stepBytes = 8 * 1024 * 1024;

const mark = Buffer.from('PAR1');

/** Whether a file can be written here; what is nested or rare is left to DuckDB. */
export function canWriteParquet(columns: readonly Column[]): boolean {
  return columns.length > 0 && columns.every(({ type }) => parquetType(type) !== undefined);
}

/**
 * Rows as the bytes of a Parquet file, a row group at a time and not compressed: made to be written at the speed at which
 * rows come in. Texts that repeat are written once a row group.
 */
export class ParquetWriter {
  readonly #builders: readonly ChunkBuilder[];
  readonly #columns: readonly FooterColumn[];
  readonly #metadata: ReadonlyMap<string, string>;
  readonly #groups: RowGroup[] = [];
  /** Of the row group that is being gathered. */
  #rows = 0;
  #position = 0;

  constructor(columns: readonly Column[], metadata: ReadonlyMap<string, string> = new Map()) {
    const dictionary = new TextDictionary();
    this.#builders = columns.map((column) => new ChunkBuilder(column, dictionary));
    this.#columns = this.#builders.map(({ column: { name }, type }) => ({ name, type }));
    this.#metadata = metadata;
  }

  /** Of the row groups that were given away so far. */
  get rows(): number {
    return this.#groups.reduce((sum, { rows }) => sum + rows, 0);
  }

  get uncompressedBytes(): number {
    return this.#groups.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Takes over the rows of a batch; yields the row groups that have become full, each as pieces to be written. */
  *append({ rows, vectors }: Batch): Generator<Uint8Array[], void, undefined> {
    const batchBytes = vectors.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
    const step = Math.max(1, Math.min(stepRows, Math.floor((stepBytes * rows) / Math.max(1, batchBytes))));
    for (let from = 0; from < rows; ) {
      const to = Math.min(rows, from + step, from + rowGroupRows - this.#rows);
      let bytes = 0;
      for (const [index, builder] of this.#builders.entries()) {
        const vector = vectors[index];
        if (vector === undefined) throw new TypeError('a batch lacks a column');
        builder.append(vector, from, to);
        bytes += builder.bytes;
      }
      this.#rows += to - from;
      from = to;
      if (this.#rows === rowGroupRows || bytes >= mostGroupBytes) yield this.#takeGroup();
    }
  }

  /** The last rows and the end of the file. */
  *finish(): Generator<Uint8Array[], void, undefined> {
    if (this.#rows > 0) yield this.#takeGroup();
    const footer = fileFooter({ columns: this.#columns, groups: this.#groups, metadata: this.#metadata });
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    yield [...this.#begin(), footer, length, mark];
  }

  #takeGroup(): Uint8Array[] {
    const pieces = this.#begin();
    const chunks: PlacedChunk[] = [];
    for (const builder of this.#builders) {
      const { pieces: pages, ...chunk } = builder.take();
      chunks.push({ ...chunk, offset: this.#position });
      pieces.push(...pages);
      this.#position += chunk.bytes;
    }
    this.#groups.push(rowGroup(this.#rows, chunks, this.#columns));
    this.#rows = 0;
    return pieces;
  }

  #begin(): Uint8Array[] {
    if (this.#position > 0) return [];
    this.#position = mark.length;
    return [mark];
  }
}
