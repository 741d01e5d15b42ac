import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { vi } from 'vitest';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';

/** The stores of this process live as long as it does: that one is over must be said. */
export async function tellOfEnd(coldDirectory: string): Promise<void> {
  const processes = join(coldDirectory, '.framehold', 'leases');
  for (const name of await readdir(processes)) {
    const path = join(processes, name);
    if (name.endsWith('.living')) await rename(path, path.replace(/living$/, 'ended'));
  }
}

/** A process that dies in the middle of its work, as its files see it: its next steps never happen. */
export class Death implements Disposable {
  #stepsLeft = Number.POSITIVE_INFINITY;
  #release = (): void => {};
  readonly #released = new Promise<never>((_, reject) => {
    this.#release = () => reject(new Error('killed'));
  });
  #die = (): void => {};
  readonly died = new Promise<'died'>((resolve) => {
    this.#die = () => resolve('died');
  });
  #victim: DurableFiles | undefined;

  constructor() {
    this.#released.catch(() => {});
    for (const name of ['writeFile', 'syncDirectory', 'openDirectory', 'rename', 'linkNew', 'remove'] as const) {
      const real = DurableFiles.prototype[name] as (...args: unknown[]) => Promise<never>;
      const death = this;
      vi.spyOn(DurableFiles.prototype, name).mockImplementation(function (this: DurableFiles, ...args: unknown[]) {
        return death.#step(this, () => real.apply(this, args));
      } as never);
    }
  }

  /** The next store that does anything dies before its n-th step. */
  after(steps: number): void {
    this.#stepsLeft = steps;
  }

  release(): void {
    this.#release();
  }

  [Symbol.dispose](): void {
    this.release();
    vi.restoreAllMocks();
  }

  #step(durable: DurableFiles, act: () => Promise<never>): Promise<never> {
    this.#victim ??= durable;
    if (durable !== this.#victim) return act();
    if (--this.#stepsLeft > 0) return act();
    this.#die();
    return this.#released;
  }
}
