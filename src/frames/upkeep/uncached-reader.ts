import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { type Identity, identityOf } from '../disk/part.ts';

const pageBytes = 64 * 1024;
/** A multiple of the block size of any disk, and small enough to be hashed in one turn of the event loop. */
export const blockBytes = 4 * pageBytes;

/** The types of Node.js name it, and do not say that it is a value. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Memory: new (pages: {
      readonly initial: number;
      readonly maximum: number;
    }) => { readonly buffer: ArrayBuffer };
  };
};

/** Not on every platform. */
const direct: number | undefined = constants.O_DIRECT;

/**
 * Reads whole files past the page cache of the system, where possible: pages of other readers stay in it, and the bytes are those
 * of the disk. One file at a time.
 */
export class UncachedReader {
  readonly #block = alignedBlock();

  /** Returns the file's identity, which was the same before and after. Undefined if it was not, or the file is missing. */
  async read(
    path: string,
    onBlock: (bytes: Uint8Array) => void,
    beforeBlock: () => Promise<void>,
  ): Promise<Identity | undefined> {
    let file: FileHandle;
    try {
      file = await this.#open(path);
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ESTALE'].includes(errnoOf(error) ?? '')) return undefined;
      throw error;
    }
    try {
      const before = identityOf(await file.stat({ bigint: true }));
      for (let at = 0; ; at += blockBytes) {
        await beforeBlock();
        const { bytesRead } = await file.read(this.#block, 0, blockBytes, at);
        if (bytesRead > 0) onBlock(this.#block.subarray(0, bytesRead));
        // Behind the end of the file no offset is aligned.
        if (bytesRead < blockBytes) break;
      }
      const after = identityOf(await file.stat({ bigint: true }));
      return before.size === after.size && before.mtimeNs === after.mtimeNs ? after : undefined;
    } finally {
      await file.close();
    }
  }

  async #open(path: string): Promise<FileHandle> {
    if (direct === undefined) return open(path, 'r');
    let file: FileHandle;
    try {
      file = await open(path, constants.O_RDONLY | direct);
    } catch (error) {
      if (errnoOf(error) !== 'EINVAL') throw error;
      return open(path, 'r');
    }
    try {
      await file.read(this.#block, 0, blockBytes, 0);
      return file;
    } catch (error) {
      await file.close();
      // The file system accepts the flag but no such read.
      if (errnoOf(error) !== 'EINVAL') throw error;
      return open(path, 'r');
    }
  }
}

/** Direct reads want memory that begins at a page, as that of WebAssembly does. */
function alignedBlock(): Uint8Array {
  const pages = blockBytes / pageBytes;
  return new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer);
}
