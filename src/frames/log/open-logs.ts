import type { FileHandle } from 'node:fs/promises';
import { Semaphore } from '../../core/async/semaphore.ts';

/** Of a process. More frames than these may be written: to open a file costs little beside a durable write. */
const defaultMost = 128;

/** The log files of a process that are open, for writing. Frames, connections and leases need files as well. */
export class OpenLogs {
  readonly #turns: Semaphore;
  /** Those that are not being written, the least recently written one first. Keys are the objects of their owners. */
  readonly #idle = new Map<object, FileHandle>();

  /** `most`: so many at once. */
  constructor(most = defaultMost) {
    this.#turns = new Semaphore(most);
  }

  /** Writes to the file of an owner, which is opened where it is not. One call for each owner at a time. */
  async write<T>(owner: object, open: () => Promise<FileHandle>, task: (file: FileHandle) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      const file = this.#take(owner) ?? (await this.#open(open));
      try {
        return await task(file);
      } finally {
        this.#idle.set(owner, file);
      }
    });
  }

  /** Nothing where it is not open. */
  async close(owner: object): Promise<void> {
    await this.#take(owner)
      ?.close()
      .catch(() => {});
  }

  async #open(open: () => Promise<FileHandle>): Promise<FileHandle> {
    // Each turn counts as an open file.
    while (this.#idle.size + this.#turns.taken > this.#turns.units) {
      const [oldest] = this.#idle.keys();
      if (oldest === undefined) break;
      await this.close(oldest);
    }
    return open();
  }

  #take(owner: object): FileHandle | undefined {
    const file = this.#idle.get(owner);
    this.#idle.delete(owner);
    return file;
  }
}
