/** Precision of its times. */
const tickMs = 250;

/** Timers that may be late by a quarter of a second and of which there may be thousands: they share one of Node's. */
export class TimerWheel implements Disposable {
  readonly #ticks = new Map<number, Set<() => void>>();
  #lastTick = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Calls `task` after this time, unless the returned function is called before. */
  after(ms: number, task: () => void): () => void {
    const now = performance.now();
    if (this.#timer === undefined) {
      this.#lastTick = Math.floor(now / tickMs);
      this.#timer = setInterval(this.#turn, tickMs).unref();
    }
    const tick = Math.max(this.#lastTick + 1, Math.ceil((now + ms) / tickMs));
    const tasks = this.#ticks.get(tick) ?? new Set();
    this.#ticks.set(tick, tasks);
    // The same function may be given twice.
    const once = (): void => task();
    tasks.add(once);
    return () => tasks.delete(once);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#ticks.clear();
  }

  readonly #turn = (): void => {
    const tick = Math.floor(performance.now() / tickMs);
    while (this.#lastTick < tick) {
      this.#lastTick++;
      const tasks = this.#ticks.get(this.#lastTick);
      this.#ticks.delete(this.#lastTick);
      for (const task of tasks ?? []) task();
    }
    if (this.#ticks.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}
