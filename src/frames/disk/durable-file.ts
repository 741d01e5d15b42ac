import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf, storageError } from '../../core/errors/storage-error.ts';
import { noTimings, type Timings } from '../../core/logs/timings.ts';
import { makeFolder } from '../../core/system/make-folder.ts';

export interface OpenDirectory extends AsyncDisposable {
  sync(): Promise<void>;
}

/** File operations that survive a power cut once they resolve, with errors that a caller may see. */
export class DurableFiles {
  readonly #timings: Timings;
  #failedSync: unknown;

  /** `timings`: of the waits for the disk. */
  constructor(timings: Timings = noTimings) {
    this.#timings = timings;
  }

  /** Whether it is over with writing until a restart. */
  get isReadOnly(): boolean {
    return this.#failedSync !== undefined;
  }

  /** Counts the time of a write that waits for the disk. */
  async timed<T>(what: 'log' | 'sync', write: () => Promise<T>): Promise<T> {
    const begunMs = performance.now();
    const written = await write();
    this.#timings.add(performance.now() - begunMs, what);
    return written;
  }

  /** After a failed fsync the kernel may have dropped unwritten pages: no later sync can be trusted. */
  assertWritable(): void {
    if (this.#failedSync === undefined) return;
    throw new AppError('storage_read_only', 'the storage failed to keep a write; nothing is written until a restart', {
      hint: 'check the disk, then restart the server; frames can still be read',
      cause: this.#failedSync,
    });
  }

  /** An engine syncs files itself; when that failed, the rule is the same. */
  noteFailedSync(cause: unknown): void {
    this.#failedSync ??= cause ?? new Error('fsync failed');
  }

  async writeFile(path: string, text: string, mode?: number): Promise<void> {
    await storage(async () => {
      const file = await open(path, 'wx', mode);
      try {
        await file.writeFile(text);
        await this.#sync(file);
      } finally {
        await file.close();
      }
    });
  }

  /** Makes a folder with its missing parents. */
  async makeFolder(path: string): Promise<void> {
    for (const made of await storage(() => makeFolder(path))) await this.syncDirectory(dirname(made));
  }

  async syncDirectory(path: string): Promise<void> {
    await using directory = await this.openDirectory(path);
    await directory.sync();
  }

  /** Opened before the step that cannot be taken back: after it the process may have no descriptor left to sync with. */
  async openDirectory(path: string): Promise<OpenDirectory> {
    const directory = await storage(() => open(path, 'r'));
    return {
      sync: () => storage(() => this.#sync(directory)),
      // Synced data is safe even if the close fails; failing here would leave a step half done.
      [Symbol.asyncDispose]: () => directory.close().catch(() => {}),
    };
  }

  async rename(from: string, to: string): Promise<void> {
    await storage(() => rename(from, to));
  }

  /** False when something is already at `to`. */
  async linkNew(from: string, to: string): Promise<boolean> {
    try {
      await storage(() => link(from, to));
      return true;
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') return false;
      throw error;
    }
  }

  async remove(path: string): Promise<void> {
    try {
      await storage(() => unlink(path));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }

  async #sync(file: FileHandle): Promise<void> {
    try {
      await this.timed('sync', () => file.sync());
    } catch (error) {
      // Some file systems report a full disk only now; the written data is lost then.
      if (errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT') throw error;
      this.noteFailedSync(error);
      throw new AppError('storage_read_only', 'the storage failed to keep a write', { cause: error });
    }
  }
}

/** Runs `task` and turns errors of the file system into AppErrors. */
export async function storage<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw storageError(error);
  }
}
