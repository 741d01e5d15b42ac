import type { TimeoutList } from '@framehold/async';

/** A time limit that can stand still. Its one timer runs on meanwhile and looks again: setting one costs more than pausing. */
export class Deadline {
  readonly #timeoutMs: number;
  #leftMs: number;
  /** Undefined while it stands still. */
  #startedAt: number | undefined;
  readonly #timeouts: TimeoutList | undefined;
  #clearTimer: (() => void) | undefined;
  #controller: AbortController | undefined;
  #isOver = false;
  #whenOver: () => void;

  /** `timeouts`: shared with others of the same length. */
  constructor(timeoutMs: number, whenOver = (): void => {}, timeouts?: TimeoutList) {
    this.#timeouts = timeouts;
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
    this.#clearTimer ??= this.#lookAfter(this.#leftMs);
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
    this.#clearTimer?.();
    this.#clearTimer = undefined;
  }

  #lookAfter(ms: number): () => void {
    if (this.#timeouts?.timeoutMs === ms) return this.#timeouts.start(this.#look);
    const timer = setTimeout(this.#look, Math.max(0, ms));
    return () => clearTimeout(timer);
  }

  readonly #look = (): void => {
    this.#clearTimer = undefined;
    if (this.#startedAt === undefined) return;
    const leftMs = this.#leftMs - (performance.now() - this.#startedAt);
    if (leftMs > 0) {
      this.#clearTimer = this.#lookAfter(leftMs);
      return;
    }
    this.#isOver = true;
    this.#controller?.abort();
    this.#whenOver();
  };
}
