import type { Handle } from '../../core/names/handle.ts';

/** One writer at a time for each handle, in the order of their arrival. */
export class HandleLocks {
  readonly #tails = new Map<Handle, Promise<void>>();
  readonly #waiting = new Map<Handle, number>();

  async run<T>(handle: Handle, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(handle);
    let release = (): void => {};
    const mine = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#tails.set(handle, mine);
    try {
      if (before !== undefined) await this.#wait(handle, before);
      return await task();
    } finally {
      if (this.#tails.get(handle) === mine) this.#tails.delete(handle);
      release();
    }
  }

  /** Whether another task waits for the lock. */
  hasWaiting(handle: Handle): boolean {
    return this.#waiting.has(handle);
  }

  async #wait(handle: Handle, before: Promise<void>): Promise<void> {
    this.#waiting.set(handle, (this.#waiting.get(handle) ?? 0) + 1);
    await before;
    const waiting = (this.#waiting.get(handle) ?? 1) - 1;
    if (waiting === 0) this.#waiting.delete(handle);
    else this.#waiting.set(handle, waiting);
  }

  isHeld(handle: Handle): boolean {
    return this.#tails.has(handle);
  }

  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
