/** A time limit that can stand still. Its one timer runs on meanwhile and looks again: setting one costs more than pausing. */
export class Deadline {
  readonly #timeoutMs: number;
  #leftMs: number;
  /** Undefined while it stands still. */
  #startedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #controller: AbortController | undefined;
  #isOver = false;
  #whenOver: () => void;

  constructor(timeoutMs: number, whenOver = (): void => {}) {
    this.#timeoutMs = timeoutMs;
    this.#leftMs = timeoutMs;
    this.#whenOver = whenOver;
    this.resume();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  /** In place of what was to happen before. */
  whenOver(act: () => void): void {
    this.#whenOver = act;
  }

  resume(): void {
    if (this.#isOver || this.#startedAt !== undefined) return;
    this.#startedAt = performance.now();
    this.#timer ??= setTimeout(this.#look, Math.max(0, this.#leftMs));
  }

  /** From now on the whole time. */
  restart(): void {
    this.pause();
    this.#leftMs = this.#timeoutMs;
    this.resume();
  }

  pause(): void {
    if (this.#startedAt === undefined) return;
    this.#leftMs -= performance.now() - this.#startedAt;
    this.#startedAt = undefined;
  }

  /** Stands still for good, and no timer is left. */
  stop(): void {
    this.pause();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (this.#startedAt === undefined) return;
    const leftMs = this.#leftMs - (performance.now() - this.#startedAt);
    if (leftMs > 0) {
      this.#timer = setTimeout(this.#look, leftMs);
      return;
    }
    this.#isOver = true;
    this.#controller?.abort();
    this.#whenOver();
  };
}
