import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AppError } from '../../core/app-error.ts';
import { errnoOf, storageError } from '../../core/storage-error.ts';
import { type DurableFiles, storage } from '../disk/durable-file.ts';
import type { KnownFile } from './tail.ts';

const mostCopiedBytes = 64 * 1024;

/** A log file of this process that is being written. */
export class LogFile implements AsyncDisposable {
  readonly name: string;
  readonly #file: FileHandle;
  readonly #durable: DurableFiles;
  #size: number;
  #isBroken = false;

  private constructor(name: string, file: FileHandle, durable: DurableFiles, size: number) {
    this.name = name;
    this.#file = file;
    this.#durable = durable;
    this.#size = size;
  }

  /** Makes the file with these first bytes. What is written to it is on the disk when the write returns (`O_DSYNC`). */
  static async create(path: string, name: string, head: Uint8Array, durable: DurableFiles): Promise<LogFile> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;
    return storage(async () => {
      const file = await open(path, flags);
      const log = new LogFile(name, file, durable, 0);
      try {
        await log.append([head]);
      } catch (error) {
        await file.close().catch(() => {});
        throw error;
      }
      return log;
    });
  }

  get known(): KnownFile {
    return { name: this.name, size: this.#size };
  }

  /** It is not known what is behind the last record: then another file is begun. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Durable when it resolves. */
  async append(pieces: readonly Uint8Array[]): Promise<void> {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    try {
      await this.#durable.timed('log', () => this.#write(pieces, bytes));
      this.#size += bytes;
    } catch (error) {
      this.#isBroken = !(await this.#takeBack()) || errnoOf(error) === 'EIO';
      throw this.#failure(error);
    }
  }

  async #write(pieces: readonly Uint8Array[], bytes: number): Promise<void> {
    // To copy small pieces costs less than to hand over a list of them.
    const all = bytes <= mostCopiedBytes ? [Buffer.concat(pieces, bytes)] : (pieces as Uint8Array[]);
    const [only] = all;
    const { bytesWritten } =
      all.length === 1 && only !== undefined
        ? await this.#file.write(only, 0, bytes, this.#size)
        : await this.#file.writev(all, this.#size);
    if (bytesWritten === bytes) return;
    // A short write tells of a disk that is about to be full: the rest, or the error, comes with the next call.
    const rest = Buffer.concat(pieces).subarray(bytesWritten);
    for (let at = 0; at < rest.length; ) {
      const next = await this.#file.write(rest, at, rest.length - at, this.#size + bytesWritten + at);
      if (next.bytesWritten === 0) throw Object.assign(new Error('nothing was written'), { code: 'ENOSPC' });
      at += next.bytesWritten;
    }
  }

  /** So that rows of a refused append are not found by the next start. False: the file that is begun next counts from their row on. */
  async #takeBack(): Promise<boolean> {
    try {
      await this.#file.truncate(this.#size);
      await this.#file.datasync();
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
    await this.#file.close().catch(() => {});
  }
}
