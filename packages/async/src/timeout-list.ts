interface Timeout {
  readonly dueMs: number;
  readonly act: () => void;
}

/**
 * Timeouts of one length. Nearly all of them are cleared before their time: one timer for all of them looks when it fires, because to
 * set and clear a timer of its own costs a small call more than this list does. It keeps no process alive.
 */
export class TimeoutList {
  readonly timeoutMs: number;
  /** In the order in which they are due. */
  readonly #waiting = new Set<Timeout>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  /** Gives what clears it. */
  start(act: () => void): () => void {
    const timeout = { dueMs: performance.now() + this.timeoutMs, act };
    this.#waiting.add(timeout);
    this.#timer ??= setTimeout(this.#look, this.timeoutMs).unref();
    return () => void this.#waiting.delete(timeout);
  }

  readonly #look = (): void => {
    for (const timeout of this.#waiting) {
      const leftMs = timeout.dueMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(this.#look, Math.ceil(leftMs)).unref();
        return;
      }
      this.#waiting.delete(timeout);
      timeout.act();
    }
    this.#timer = undefined;
  };
}
