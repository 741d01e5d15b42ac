/** Bounds each of many waits with one timer: an upload has tens of thousands of them a second. */
export class IdleTimer {
  readonly #timer: NodeJS.Timeout;
  #reject: ((error: Error) => void) | undefined;

  constructor(timeoutMs: number, late: () => Error) {
    this.#timer = setTimeout(() => this.#reject?.(late()), timeoutMs);
  }

  limit<T>(wait: Promise<T>): Promise<T> {
    this.#timer.refresh();
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      wait.then(resolve, reject);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
