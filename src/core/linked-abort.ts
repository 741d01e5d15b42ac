/**
 * A controller that also aborts with a signal, until it is let go. `AbortSignal.any` costs a small call several times as
 * much, and stays attached to a longer-lived signal in Node 20.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #source: AbortSignal;
  readonly #follow = (): void => this.#controller.abort(this.#source.reason);

  constructor(source: AbortSignal) {
    this.#source = source;
    if (source.aborted) this.#follow();
    else source.addEventListener('abort', this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  unlink(): void {
    this.#source.removeEventListener('abort', this.#follow);
  }
}
