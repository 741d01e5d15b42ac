import type { WaitOptions } from '@framehold/async';
import { FairShares } from './fair-shares.ts';

export interface SemaphoreOptions {
  /** Default: any number may wait. */
  readonly maxWaiting: number;
  /** The error for a caller that finds the queue full. */
  readonly overloaded: () => Error;
}

/** A number of units of something: fair shares without a reserve. Without lanes those that wait come in the order of asking. */
export class Semaphore {
  readonly units: number;
  readonly #shares: FairShares;
  readonly #options: SemaphoreOptions | undefined;

  constructor(units: number, options?: SemaphoreOptions) {
    this.units = units;
    this.#shares = new FairShares({ units, reserve: 0, what: 'units' });
    this.#options = options;
  }

  /** How many units are taken. */
  get taken(): number {
    return this.#shares.figures.held;
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#shares.figures.waiting;
  }

  /** Runs a task with one unit. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await task();
    } finally {
      release();
    }
  }

  /** Returns a function that releases the units. */
  async acquire({ units = 1, signal, lane = '' }: WaitOptions = {}): Promise<() => void> {
    signal?.throwIfAborted();
    const share = this.#shares.open({ lane });
    if (!share.tryTake(units)) {
      if (this.#options !== undefined && this.waiting >= this.#options.maxWaiting) throw this.#options.overloaded();
      await share.take(units, { signal });
    }
    return () => share[Symbol.dispose]();
  }
}
