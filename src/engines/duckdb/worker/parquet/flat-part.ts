import { type FileHandle, open } from 'node:fs/promises';
import type { Batch, Column } from '@framehold/columns';
import { startWriteOut } from '@framehold/duckdb';
import { ParquetWriter } from '@framehold/parquet';
import { Checksum } from '../../../../core/rows/checksum.ts';
import type { PartFacts } from '../../../../core/rows/frame-engine.ts';
import type { FileChecksum } from './checksum.ts';
import { parquetNames } from './parquet-names.ts';

export interface FlatPart extends Pick<PartFacts, 'rows' | 'uncompressedBytes'>, FileChecksum {
  /** Of its columns, as they were given. */
  readonly names: readonly string[];
}

/**
 * Writes rows as an uncompressed Parquet file, to be fsynced by the caller. The next row group is made while one is
 * written, and no more than that is held.
 */
export async function writeFlatPart(
  path: string,
  columns: readonly Column[],
  batches: AsyncIterable<Batch>,
  signal: AbortSignal,
): Promise<FlatPart> {
  const names = columns.map((column) => column.name);
  const written = parquetNames(names);
  const writer = new ParquetWriter(
    columns.map(({ type }, index) => ({ name: written.names[index] ?? '', type })),
    written.metadata,
  );
  await using file = await open(path, 'w');
  const out = new Output(file);
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

/** So many bytes are sent to the disk while the next ones are made: less is left to be waited for in the end. */
const sentBytes = 8 * 1024 * 1024;

/** Takes the next pieces while the last ones are written. */
class Output {
  readonly #file: FileHandle;
  readonly #checksum = new Checksum();
  #writing: Promise<void> = Promise.resolve();
  #unsent = 0;
  #bytes = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(pieces: readonly Uint8Array[]): Promise<void> {
    await this.#writing;
    const isSent = this.#unsent >= sentBytes;
    if (isSent) this.#unsent = 0;
    this.#writing = isSent ? this.#sendAndWrite(pieces) : writeAll(this.#file, pieces);
    this.#writing.catch(() => {});
    for (const piece of pieces) {
      this.#checksum.update(piece);
      this.#bytes += piece.length;
      this.#unsent += piece.length;
    }
  }

  async settled(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  async #sendAndWrite(pieces: readonly Uint8Array[]): Promise<void> {
    await startWriteOut(this.#file.fd);
    await writeAll(this.#file, pieces);
  }

  async end(): Promise<FileChecksum> {
    await this.#writing;
    return { checksum: this.#checksum.digest(), bytes: this.#bytes };
  }
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
