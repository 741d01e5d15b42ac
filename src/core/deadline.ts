/** A time limit that can stand still. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
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

  /** From now on the whole time. */
  restart(): void {
    this.pause();
    this.#leftMs = this.#timeoutMs;
    this.resume();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs -= performance.now() - this.#startedAt;
  }
}
