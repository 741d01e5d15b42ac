import { abortable } from '@framehold/async';
import type { LiveFile } from '../../../core/sql/live-tables.ts';

interface Entry {
  readonly file: Promise<LiveFile>;
  readonly controller: AbortController;
  users: number;
  isLoaded: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** Files that several statements read: each is found by its key for a while after it was asked for, and goes with its last reader. */
export class KeptFiles implements AsyncDisposable {
  readonly #keepMs: number;
  readonly #entries = new Map<string, Entry>();

  /** 0: nothing is cached. */
  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  async use(key: string, signal: AbortSignal, load: (signal: AbortSignal) => Promise<LiveFile>): Promise<LiveFile> {
    if (this.#keepMs === 0) return await load(signal);
    const entry = this.#entries.get(key) ?? this.#start(key, load);
    entry.users++;
    let isOver = false;
    const leave = async (): Promise<void> => {
      if (isOver) return;
      isOver = true;
      entry.users--;
      await this.#dropUnused(key, entry);
    };
    try {
      const file = await abortable(entry.file, signal);
      return { ...file, [Symbol.asyncDispose]: leave };
    } catch (error) {
      await leave();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const entries = [...this.#entries];
    this.#entries.clear();
    await Promise.all(entries.map(([key, entry]) => this.#dropUnused(key, entry)));
  }

  #start(key: string, load: (signal: AbortSignal) => Promise<LiveFile>): Entry {
    const controller = new AbortController();
    const file = load(controller.signal);
    const entry: Entry = { file, controller, users: 0, isLoaded: false, timer: undefined };
    this.#entries.set(key, entry);
    const forget = (): void => {
      clearTimeout(entry.timer);
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      void this.#dropUnused(key, entry);
    };
    entry.timer = setTimeout(forget, this.#keepMs).unref();
    file.then(() => {
      entry.isLoaded = true;
    }, forget);
    return entry;
  }

  /** The next caller may still want the entry while it is fetched. A fetch without any caller left is cancelled. */
  async #dropUnused(key: string, entry: Entry): Promise<void> {
    if (entry.users > 0) return;
    const isFound = this.#entries.get(key) === entry;
    if (isFound && entry.isLoaded) return;
    if (isFound) this.#entries.delete(key);
    clearTimeout(entry.timer);
    entry.controller.abort(new Error('nobody waits for it any more'));
    const file = await entry.file.catch(() => undefined);
    await file?.[Symbol.asyncDispose]();
  }
}
