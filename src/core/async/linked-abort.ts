/**
 * A controller that also aborts with any of some signals, or with a TimeoutError when a time is over, until it is disposed.
 * `AbortSignal.any` costs a small call several times as much, and stays attached to longer-lived signals in Node 20. Node 20
 * also lets go of an `AbortSignal.timeout` that only `AbortSignal.any` follows, which then never aborts.
 */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #follow = (): void => this.abort(this.#sources.find((source) => source.aborted)?.reason);
  readonly #timer: NodeJS.Timeout | undefined;
  #isLate = false;

  constructor(sources: readonly AbortSignal[], timeoutMs?: number) {
    this.#sources = sources;
    for (const source of sources) {
      if (source.aborted) this.#follow();
      else source.addEventListener('abort', this.#follow, { once: true });
    }
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#late(timeoutMs), timeoutMs).unref();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time was over first. */
  get isLate(): boolean {
    return this.#isLate;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const source of this.#sources) source.removeEventListener('abort', this.#follow);
  }

  #late(timeoutMs: number): void {
    this.#isLate = !this.signal.aborted;
    this.abort(new DOMException(`it took longer than ${timeoutMs / 1000} s`, 'TimeoutError'));
  }
}
