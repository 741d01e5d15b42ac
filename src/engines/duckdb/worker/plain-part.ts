import { type FileHandle, open } from 'node:fs/promises';
import type { Batch } from '../../../core/batch.ts';
import type { Column } from '../../../core/data-type.ts';
import type { PartFacts } from '../../../core/frame-engine.ts';
import { ParquetWriter } from '../../../encoding/parquet/parquet-writer.ts';
import { Checksum, type FileChecksum } from './checksum.ts';
import { parquetNames } from './parquet-names.ts';

export interface PlainPart extends Pick<PartFacts, 'rows' | 'uncompressedBytes'>, FileChecksum {
  /** Of its columns, as they were given. */
  readonly names: readonly string[];
}

/**
 * Writes rows as an uncompressed Parquet file, to be fsynced by the caller. The next row group is made while one is
 * written, and no more than that is held.
 */
export async function writePlainPart(
  path: string,
  columns: readonly Column[],
  batches: AsyncIterable<Batch>,
  signal: AbortSignal,
): Promise<PlainPart> {
  const names = columns.map((column) => column.name);
  const written = parquetNames(names);
  const writer = new ParquetWriter(
    columns.map(({ type }, index) => ({ name: written.names[index] ?? '', type })),
    written.metadata,
  );
  await using file = await open(path, 'w');
  const out = new Output(file, path);
  try {
    for await (const batch of batches) {
      signal.throwIfAborted();
      for (const pieces of writer.append(batch)) await out.write(pieces);
    }
    for (const pieces of writer.finish()) await out.write(pieces);
  } finally {
    // The file must not be closed under what is still being written.
    await out.settled();
  }
  const { rows, uncompressedBytes } = writer;
  return { ...(await out.end()), names, rows, uncompressedBytes };
}

/** So many bytes are brought to the disk while the next ones are made: less is left to be waited for in the end. */
const syncedBytes = 8 * 1024 * 1024;

/** Takes the next pieces while the last ones are written. */
class Output {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #checksum = new Checksum();
  #writing: Promise<void> = Promise.resolve();
  #syncing: Promise<void> | undefined;
  #failedSync: { readonly error: unknown } | undefined;
  #unsynced = 0;
  #bytes = 0;

  constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  async write(pieces: readonly Uint8Array[]): Promise<void> {
    await this.#writing;
    if (this.#unsynced >= syncedBytes) this.#syncAhead();
    this.#assertSynced();
    this.#writing = writeAll(this.#file, pieces);
    this.#writing.catch(() => {});
    for (const piece of pieces) {
      this.#checksum.update(piece);
      this.#bytes += piece.length;
      this.#unsynced += piece.length;
    }
  }

  async settled(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  #syncAhead(): void {
    if (this.#syncing !== undefined) return;
    this.#unsynced = 0;
    this.#syncing = syncData(this.#path)
      .catch((error: unknown) => {
        this.#failedSync = { error };
      })
      .finally(() => {
        this.#syncing = undefined;
      });
  }

  /** The system tells of what it could not write only once: the last fsync would succeed. */
  #assertSynced(): void {
    if (this.#failedSync !== undefined) throw this.#failedSync.error;
  }

  async end(): Promise<FileChecksum> {
    await this.#writing;
    await this.#syncing;
    this.#assertSynced();
    return { checksum: this.#checksum.digest(), bytes: this.#bytes };
  }
}

/** By a descriptor of its own, so that nobody who has given up must wait until a slow disk is done. */
async function syncData(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  await file.datasync();
}

async function writeAll(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  let rest = pieces;
  while (rest.length > 0) {
    let { bytesWritten } = await file.writev(rest);
    const after: Uint8Array[] = [];
    for (const piece of rest) {
      if (bytesWritten < piece.length) after.push(piece.subarray(bytesWritten));
      bytesWritten = Math.max(0, bytesWritten - piece.length);
    }
    rest = after;
  }
}
