interface Waiter {
  readonly units: number;
  start(): void;
}

/** A number of units of something. Those who must wait get theirs in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting: Waiter[] = [];

  constructor(units: number) {
    this.#free = units;
  }

  /** Runs a task with one unit. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    const release = await this.acquire(1);
    try {
      return await task();
    } finally {
      release();
    }
  }

  /** Gives what releases the units again. More units than there are is a mistake of the caller: it would wait for ever. */
  async acquire(units: number, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#waiting.length === 0 && units <= this.#free) this.#free -= units;
    else await this.#wait(units, signal);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#free += units;
      this.#startWaiting();
    };
  }

  #wait(units: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        units,
        start() {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal?.reason);
        // Those behind may need fewer.
        this.#startWaiting();
      };
      this.#waiting.push(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #startWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined && next.units <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.units;
      next.start();
    }
  }
}
