import type { Handle } from '../../core/handle.ts';

/** One writer at a time for each handle, in the order in which they came. */
export class HandleLocks {
  readonly #tails = new Map<Handle, Promise<void>>();

  async run<T>(handle: Handle, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(handle);
    let release = (): void => {};
    const mine = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#tails.set(handle, mine);
    try {
      await before;
      return await task();
    } finally {
      if (this.#tails.get(handle) === mine) this.#tails.delete(handle);
      release();
    }
  }

  isHeld(handle: Handle): boolean {
    return this.#tails.has(handle);
  }

  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
