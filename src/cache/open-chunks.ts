import { type FileHandle, open } from 'node:fs/promises';
import { type Chunk, ChunkTable, firstReadBytes } from './chunk-file.ts';

/** A file of a chunk; it is the right one if `name` fits. */
export interface ChunkFile {
  readonly path: string;
  /** Identifies the chunk. */
  readonly name: string;
  /** Size of the file. */
  readonly bytes: number;
}

interface OpenChunk {
  readonly file: FileHandle;
  readonly table: ChunkTable;
}

interface Place {
  readonly opened: Promise<OpenChunk | undefined>;
  readers: number;
  isEvicted: boolean;
}

/** Open files of chunks, so that a hot one is opened once. */
export class OpenChunks {
  readonly #most: number;
  /** Least recently used first. */
  readonly #places = new Map<ChunkFile, Place>();

  constructor(most = 2048) {
    this.#most = most;
  }

  /** Rows [fromRow, toRow) of the chunk, counted from its first, and perhaps some around them. Undefined where the file is damaged. */
  async read(chunk: ChunkFile, fromRow: number, toRow: number): Promise<Chunk | undefined> {
    const place = this.#placeOf(chunk);
    place.readers++;
    try {
      const opened = await place.opened;
      if (opened === undefined || toRow > opened.table.rows) return undefined;
      const span = opened.table.span(fromRow, toRow);
      const bytes = Buffer.allocUnsafeSlow(span.length);
      const { bytesRead } = await opened.file.read(bytes, 0, span.length, span.offset);
      return bytesRead === span.length ? opened.table.piecesOf(span, bytes) : undefined;
    } finally {
      place.readers--;
      if (place.isEvicted) this.#closeUnread(place);
    }
  }

  close(chunk: ChunkFile): void {
    const place = this.#places.get(chunk);
    if (place === undefined) return;
    this.#places.delete(chunk);
    place.isEvicted = true;
    this.#closeUnread(place);
  }

  closeAll(): void {
    for (const chunk of [...this.#places.keys()]) this.close(chunk);
  }

  #placeOf(chunk: ChunkFile): Place {
    const known = this.#places.get(chunk);
    const place = known ?? { opened: openChunk(chunk), readers: 0, isEvicted: false };
    if (known === undefined) place.opened.catch(() => this.close(chunk));
    else this.#places.delete(chunk);
    this.#places.set(chunk, place);
    if (this.#places.size > this.#most) {
      const [oldest] = this.#places.keys();
      if (oldest !== undefined) this.close(oldest);
    }
    return place;
  }

  #closeUnread(place: Place): void {
    if (place.readers > 0) return;
    place.opened.then(
      (opened) => opened?.file.close().catch(() => {}),
      () => {},
    );
  }
}

async function openChunk({ path, name, bytes }: ChunkFile): Promise<OpenChunk | undefined> {
  const file = await open(path, 'r');
  try {
    const table = await readTable(file, name);
    if (table?.fileBytes === bytes) return { file, table };
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
  await file.close().catch(() => {});
  return undefined;
}

async function readTable(file: FileHandle, name: string): Promise<ChunkTable | undefined> {
  const head = Buffer.alloc(firstReadBytes);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  const length = ChunkTable.bytesOf(head.subarray(0, bytesRead));
  if (length === undefined || length <= bytesRead) return ChunkTable.parse(head.subarray(0, bytesRead), name);
  const table = Buffer.alloc(length);
  await file.read(table, 0, length, 0);
  return ChunkTable.parse(table, name);
}
