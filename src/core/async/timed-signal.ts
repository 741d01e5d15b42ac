/**
 * A signal that aborts with another, or with a TimeoutError when the time is over. Node 20 lets go of an
 * `AbortSignal.timeout` that only `AbortSignal.any` follows, which then never aborts.
 */
export class TimedSignal implements Disposable {
  readonly signal: AbortSignal;
  readonly #late = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(signal: AbortSignal, timeoutMs: number) {
    const late = this.#late;
    this.#timer = setTimeout(() => late.abort(new DOMException('it took too long', 'TimeoutError')), timeoutMs);
    this.#timer.unref();
    this.signal = AbortSignal.any([signal, late.signal]);
  }

  /** Whether the time was over first. */
  get isLate(): boolean {
    return this.#late.signal.aborted;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
