import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { withTimeout } from '@framehold/async';
import { AppError } from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import { storage } from '../disk/durable-file.ts';

/** Why no frame can be written for now. `storage_silent`: the storage does not answer. */
export type WriteTrouble = 'storage_read_only' | 'storage_full' | 'storage_silent';

const intervalMs = 2000;
/** A write that takes longer counts as failed until it ends. */
const silentMs = 2000;
const probeBytes = 4096;

/** Writes a little again and again: within five seconds the server knows whether frames can be written, also without puts. */
export class WriteProbe implements Disposable {
  readonly #write: () => Promise<void>;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #isWriting = false;
  #isDisposed = false;
  #trouble: WriteTrouble | undefined;

  private constructor(write: () => Promise<void>, logger: Logger) {
    this.#write = write;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.#look(), intervalMs).unref();
  }

  /** Resolves when it is known for the first time. */
  static async start(write: () => Promise<void>, logger: Logger): Promise<WriteProbe> {
    const probe = new WriteProbe(write, logger);
    await probe.#look();
    return probe;
  }

  /** Undefined where frames can be written. */
  get trouble(): WriteTrouble | undefined {
    return this.#trouble;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    // A write that is not answered keeps a thread of the process.
    if (this.#isWriting) return;
    this.#isWriting = true;
    const writing = this.#write()
      .then(() => undefined, troubleOf)
      .then((trouble) => {
        this.#isWriting = false;
        this.#note(trouble);
      });
    await withTimeout(writing, silentMs, () => this.#note('storage_silent'));
  }

  #note(trouble: WriteTrouble | undefined): void {
    const before = this.#trouble;
    this.#trouble = trouble;
    if (trouble === before || this.#isDisposed) return;
    if (trouble === undefined) this.#logger.info('frames can be written again');
    else {
      this.#logger.warn('the directory of the frames cannot be written: frames are read, and every write fails', {
        reason: trouble,
      });
    }
  }
}

function troubleOf(error: unknown): WriteTrouble {
  return error instanceof AppError && error.code === 'storage_full' ? 'storage_full' : 'storage_read_only';
}

/** Durable before it resolves, and removed. No file stays open: an open one keeps its file system from becoming read-only. */
export async function writeAndRemove(path: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;
  await storage(async () => {
    const file = await open(path, flags);
    try {
      await file.write(Buffer.alloc(probeBytes), 0, probeBytes, 0);
    } finally {
      await file.close();
      await unlink(path).catch(() => {});
    }
  });
}
