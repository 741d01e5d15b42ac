import { crc32 } from 'node:zlib';
import type { EncodedRows } from '@framehold/columns';

/** Consecutive rows, as a file holds them and as readers cut them. */
export interface Chunk {
  readonly fromRow: number;
  readonly pieces: readonly EncodedRows[];
}

const magic = Buffer.from('FHCHUNK1');
const headBytes = magic.length + 8;
/** A read of a page within a chunk has at most a block more on either side. */
const blockBytes = 32 * 1024;
const blockFields = 4;
/** The bytes of a block begin at a multiple of it: the ends of its rows are read as numbers in their place. */
const alignment = 8;
const mostTableBytes = 16 * 1024 * 1024;

/** The places of a chunk's rows in its file. Blocks are checked one by one, so that a part can be read without the rest. */
export class ChunkTable {
  readonly #rows: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #bytes: Uint32Array;
  readonly #sums: Uint32Array;
  readonly #rowStarts: Float64Array;
  readonly #offsets: Float64Array;

  private constructor(fields: Uint32Array, dataOffset: number) {
    const count = fields.length / blockFields;
    const column = (at: number): Uint32Array =>
      Uint32Array.from({ length: count }, (_, i) => fields[i * blockFields + at] ?? 0);
    this.#rows = column(0);
    this.#ends = column(1);
    this.#bytes = column(2);
    this.#sums = column(3);
    this.#rowStarts = new Float64Array(count + 1);
    this.#offsets = new Float64Array(count + 1);
    this.#offsets[0] = dataOffset;
    for (let i = 0; i < count; i++) {
      this.#rowStarts[i + 1] = at(this.#rowStarts, i) + at(this.#rows, i);
      this.#offsets[i + 1] = at(this.#offsets, i) + aligned(at(this.#ends, i) * 4 + at(this.#bytes, i));
    }
  }

  /** Bytes of the table at the start of a file; undefined if the file is no chunk. */
  static bytesOf(head: Buffer): number | undefined {
    if (head.length < headBytes || !head.subarray(0, magic.length).equals(magic)) return undefined;
    const bytes = headBytes + head.readUInt32LE(magic.length);
    return bytes > mostTableBytes ? undefined : bytes;
  }

  /** Undefined where it is damaged, or of another chunk. */
  static parse(bytes: Buffer, name: string): ChunkTable | undefined {
    const length = ChunkTable.bytesOf(bytes);
    if (length === undefined || bytes.length < length || (length - headBytes) % (blockFields * 4) !== 0)
      return undefined;
    const table = bytes.subarray(headBytes, length);
    if (crc32(table, crc32(name)) !== bytes.readUInt32LE(magic.length + 4)) return undefined;
    const fields = Uint32Array.from({ length: table.length / 4 }, (_, i) => table.readUInt32LE(i * 4));
    return new ChunkTable(fields, aligned(length));
  }

  get rows(): number {
    return this.#rowStarts.at(-1) ?? 0;
  }

  /** Size of the whole file. */
  get fileBytes(): number {
    return this.#offsets.at(-1) ?? 0;
  }

  /** Its size in memory. */
  get bytes(): number {
    return this.#rows.length * (4 * blockFields + 16) + 600;
  }

  /** The blocks with rows [fromRow, toRow) of the chunk, and their places. */
  span(fromRow: number, toRow: number): BlockSpan {
    const first = this.#blockOf(fromRow);
    const end = this.#blockOf(toRow - 1) + 1;
    return { first, end, offset: at(this.#offsets, first), length: at(this.#offsets, end) - at(this.#offsets, first) };
  }

  /** The rows of blocks that were read. Undefined where a byte of them is not as it was written. */
  piecesOf({ first, end }: BlockSpan, bytes: Buffer): Chunk | undefined {
    const pieces: EncodedRows[] = [];
    let offset = 0;
    for (let block = first; block < end; block++) {
      const endsBytes = at(this.#ends, block) * 4;
      const length = endsBytes + at(this.#bytes, block);
      const data = bytes.subarray(offset, offset + length);
      if (data.length !== length || crc32(data) !== at(this.#sums, block)) return undefined;
      pieces.push({
        rows: at(this.#rows, block),
        rowEnds: new Uint32Array(data.buffer, data.byteOffset, at(this.#ends, block)),
        bytes: data.subarray(endsBytes),
      });
      offset += aligned(length);
    }
    return { fromRow: at(this.#rowStarts, first), pieces };
  }

  #blockOf(row: number): number {
    let [low, high] = [0, this.#rows.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (at(this.#rowStarts, middle) <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

export interface BlockSpan {
  /** Blocks [first, end). */
  readonly first: number;
  readonly end: number;
  /** In the file. */
  readonly offset: number;
  readonly length: number;
}

/** Enough to hold the length of the table of most files, and the table. */
export const firstReadBytes = 4096;

/** The file of a chunk, in parts to be written one behind the other. `name`: identifies the chunk. */
export function encodeChunk(name: string, pieces: readonly EncodedRows[]): readonly Uint8Array[] {
  const blocks = pieces.flatMap((piece) => [...blocksOf(piece)]);
  const table = Buffer.alloc(blocks.length * blockFields * 4);
  const data: Uint8Array[] = [];
  for (const [i, { rows, rowEnds, bytes }] of blocks.entries()) {
    const ends = new Uint8Array(rowEnds.buffer, rowEnds.byteOffset, rowEnds.byteLength);
    const fields = [rows, rowEnds.length, bytes.byteLength, crc32(bytes, crc32(ends))];
    for (const [field, value] of fields.entries()) table.writeUInt32LE(value, (i * blockFields + field) * 4);
    const length = ends.byteLength + bytes.byteLength;
    data.push(ends, bytes, new Uint8Array(aligned(length) - length));
  }
  const head = Buffer.alloc(headBytes);
  magic.copy(head);
  head.writeUInt32LE(table.length, magic.length);
  head.writeUInt32LE(crc32(table, crc32(name)), magic.length + 4);
  const padding = new Uint8Array(aligned(headBytes + table.length) - headBytes - table.length);
  return [head, table, padding, ...data].filter((part) => part.byteLength > 0);
}

/** A piece in blocks, where its rows can be cut apart. */
function* blocksOf(piece: EncodedRows): Generator<EncodedRows> {
  const { rows, bytes, rowEnds } = piece;
  if (rowEnds.length !== rows) {
    yield { rows, bytes, rowEnds: new Uint32Array() };
    return;
  }
  let [row, start] = [0, 0];
  while (row < rows) {
    const from = row;
    do row++;
    while (row < rows && at(rowEnds, row) - start <= blockBytes);
    const end = at(rowEnds, row - 1);
    const begin = start;
    yield {
      rows: row - from,
      bytes: bytes.subarray(begin, end),
      rowEnds: rowEnds.slice(from, row).map((each) => each - begin),
    };
    start = end;
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

function at(values: { readonly [index: number]: number | undefined }, index: number): number {
  return values[index] ?? 0;
}
