/** A time limit that can stand still. */
export class Deadline {
  readonly #controller = new AbortController();
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#leftMs = timeoutMs;
    this.resume();
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  resume(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#controller.abort(), Math.max(0, this.#leftMs));
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs -= performance.now() - this.#startedAt;
  }
}
