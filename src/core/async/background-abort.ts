import { LinkedAbort } from './linked-abort.ts';

/** A hundredth of the usual speed, since this work has the processor last. */
const bytesPerMs = 1000;
const leastMs = 10 * 60_000;

export interface BackgroundAbortOptions {
  /** Of the rows that are worked on. */
  readonly bytes: number;
  /** Default: ten minutes, and a second for each megabyte. */
  readonly timeoutMs?: number | undefined;
}

/** Stops work on stored rows that nobody waits for: with any of some signals, or when it takes so long that it must hang. */
export class BackgroundAbort extends LinkedAbort implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #isLate = false;

  constructor({ bytes, timeoutMs = leastMs + bytes / bytesPerMs }: BackgroundAbortOptions, ...sources: AbortSignal[]) {
    super(...sources);
    this.#timer = setTimeout(() => {
      this.#isLate = !this.signal.aborted;
      this.abort(new DOMException(`it took longer than ${timeoutMs / 1000} s`, 'TimeoutError'));
    }, timeoutMs);
    this.#timer.unref();
  }

  /** Whether the time was over first. */
  get isLate(): boolean {
    return this.#isLate;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.unlink();
  }
}
