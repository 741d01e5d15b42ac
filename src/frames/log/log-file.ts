import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AppError } from '../../core/errors/app-error.ts';
import { errnoOf, storageError } from '../../core/errors/storage-error.ts';
import { type DurableFiles, storage } from '../disk/durable-file.ts';
import type { OpenLogs } from './open-logs.ts';
import type { KnownFile } from './tail.ts';

const mostCopiedBytes = 64 * 1024;

interface LogPlace {
  readonly path: string;
  readonly name: string;
  readonly durable: DurableFiles;
  readonly openLogs: OpenLogs;
}

/** Written bytes are on the disk when the write returns. */
const openFlags = constants.O_WRONLY | constants.O_DSYNC;

/** A log file of this process that is being written. Between appends it may be closed. */
export class LogFile implements AsyncDisposable {
  readonly name: string;
  readonly #path: string;
  readonly #durable: DurableFiles;
  readonly #openLogs: OpenLogs;
  #size = 0;
  #isBroken = false;

  private constructor({ path, name, durable, openLogs }: LogPlace) {
    this.#path = path;
    this.name = name;
    this.#durable = durable;
    this.#openLogs = openLogs;
  }

  /** Makes the file with these first bytes, at a path from which the caller moves it before it is appended to. */
  static async create(temporary: string, head: Uint8Array, place: LogPlace): Promise<LogFile> {
    const log = new LogFile(place);
    const make = () => open(temporary, openFlags | constants.O_CREAT | constants.O_EXCL);
    try {
      await log.#append([head], make);
      return log;
    } catch (error) {
      await log[Symbol.asyncDispose]();
      throw error;
    }
  }

  get known(): KnownFile {
    return { name: this.name, size: this.#size };
  }

  /** The bytes behind the last record are unknown: then another file is begun. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Durable when it resolves. */
  append(pieces: readonly Uint8Array[]): Promise<void> {
    return this.#append(pieces, () => this.#reopen());
  }

  async #append(pieces: readonly Uint8Array[], opened: () => Promise<FileHandle>): Promise<void> {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    await this.#openLogs.write(
      this,
      () => storage(opened),
      async (file) => {
        try {
          await this.#durable.timed('log', () => this.#write(file, pieces, bytes));
          this.#size += bytes;
        } catch (error) {
          this.#isBroken = !(await this.#takeBack(file)) || errnoOf(error) === 'EIO';
          throw this.#failure(error);
        }
      },
    );
  }

  async #reopen(): Promise<FileHandle> {
    try {
      return await open(this.#path, openFlags);
    } catch (error) {
      // Another process took this one for dead, and removed the file.
      this.#isBroken = errnoOf(error) === 'ENOENT';
      throw error;
    }
  }

  async #write(file: FileHandle, pieces: readonly Uint8Array[], bytes: number): Promise<void> {
    // To copy small pieces costs less than to hand over a list of them.
    const all = bytes <= mostCopiedBytes ? [Buffer.concat(pieces, bytes)] : (pieces as Uint8Array[]);
    const [only] = all;
    const { bytesWritten } =
      all.length === 1 && only !== undefined
        ? await file.write(only, 0, bytes, this.#size)
        : await file.writev(all, this.#size);
    if (bytesWritten === bytes) return;
    // A short write means a nearly full disk: the rest, or the error, comes with the next call.
    const rest = Buffer.concat(pieces).subarray(bytesWritten);
    for (let at = 0; at < rest.length; ) {
      const next = await file.write(rest, at, rest.length - at, this.#size + bytesWritten + at);
      if (next.bytesWritten === 0) throw Object.assign(new Error('nothing was written'), { code: 'ENOSPC' });
      at += next.bytesWritten;
    }
  }

  /** So that rows of a refused append are not found by the next start. False: the file that is begun next counts from their row on. */
  async #takeBack(file: FileHandle): Promise<boolean> {
    try {
      await file.truncate(this.#size);
      await file.datasync();
      return true;
    } catch {
      return false;
    }
  }

  #failure(error: unknown): unknown {
    if (errnoOf(error) !== 'EIO') return storageError(error);
    this.#durable.noteFailedSync(error);
    return new AppError('storage_read_only', 'the storage failed to keep a write', { cause: error });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#openLogs.close(this);
  }
}
