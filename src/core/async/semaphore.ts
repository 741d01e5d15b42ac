import { FairQueue, type WaitOptions } from './fair-queue.ts';

export interface SemaphoreOptions {
  /** Default: any number may wait. */
  readonly maxWaiting: number;
  /** The error for a caller that finds the queue full. */
  readonly overloaded: () => Error;
}

/** A number of units of something. Callers that must wait take turns; without lanes they come in the order of asking. */
export class Semaphore {
  readonly units: number;
  #free: number;
  readonly #queue = new FairQueue<void>();
  readonly #options: SemaphoreOptions | undefined;

  constructor(units: number, options?: SemaphoreOptions) {
    this.units = units;
    this.#free = units;
    this.#options = options;
  }

  /** How many units are taken. */
  get taken(): number {
    return this.units - this.#free;
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#queue.size;
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

  /** Returns a function that releases the units. Asking for more units than there are never resolves. */
  async acquire(options: WaitOptions = {}): Promise<() => void> {
    const { units = 1, signal } = options;
    signal?.throwIfAborted();
    if (this.#queue.size === 0 && units <= this.#free) this.#free -= units;
    else if (this.#options !== undefined && this.#queue.size >= this.#options.maxWaiting) {
      throw this.#options.overloaded();
    } else {
      await this.#queue.wait(options).catch((error: unknown) => {
        // Those behind may need fewer.
        this.#serveWaiting();
        throw error;
      });
    }
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#free += units;
      this.#serveWaiting();
    };
  }

  #serveWaiting(): void {
    for (let units = this.#queue.nextUnits; units !== undefined && units <= this.#free; units = this.#queue.nextUnits) {
      this.#free -= units;
      this.#queue.serve();
    }
  }
}
