import { sleep } from '@framehold/async';
import { isTransient } from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';

export interface IdleQueueOptions {
  /** Time without new work before work begins. */
  readonly quietMs: number;
  readonly logger: Logger;
}

type Work = (signal: AbortSignal) => Promise<void>;

const longestWaitMs = 30_000;
const mostAttempts = 3;

/** Does work that can wait: one piece at a time, in a quiet moment; urgent work first, and soon. */
export class IdleQueue {
  readonly #options: IdleQueueOptions;
  readonly #queue = new Map<string, { readonly work: Work; readonly isUrgent: boolean }>();
  readonly #controller = new AbortController();
  #lastMs = 0;
  /** Abandoned tasks, since the start. */
  failures = 0;
  #working: Promise<void> | undefined;

  constructor(options: IdleQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** The same key waits only once. */
  enqueue(key: string, work: Work, { isUrgent = false } = {}): void {
    if (this.#controller.signal.aborted) return;
    this.#lastMs = performance.now();
    this.#queue.set(key, { work, isUrgent });
    this.#begin();
  }

  #begin(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      // It may have been added since the last look.
      if (this.#queue.size > 0) this.#begin();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#queue.clear();
    this.#controller.abort(new Error('the store closes'));
    await this.#working;
  }

  async #work(): Promise<void> {
    const { signal } = this.#controller;
    try {
      for (;;) {
        if (this.#queue.size === 0) return;
        await this.#quiet(signal);
        const [key, next] = this.#urgent() ?? [...this.#queue][0] ?? [];
        if (key === undefined || next === undefined) continue;
        this.#queue.delete(key);
        await this.#attempt(key, next.work, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#options.logger.error('rewriting of parts stopped', { error: String(error) });
    }
  }

  #urgent() {
    for (const entry of this.#queue) if (entry[1].isUrgent) return entry;
    return undefined;
  }

  async #quiet(signal: AbortSignal): Promise<void> {
    const { quietMs } = this.#options;
    const since = performance.now();
    for (;;) {
      const restMs = this.#lastMs + quietMs - performance.now();
      if (this.#urgent() !== undefined || restMs <= 0 || performance.now() - since > longestWaitMs) return;
      await sleep(restMs, signal);
    }
  }

  async #attempt(key: string, work: Work, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work(signal);
      } catch (error) {
        if (signal.aborted) throw error;
        if (!isTransient(error) || attempt === mostAttempts) {
          this.failures++;
          this.#options.logger.warn('parts of a frame could not be rewritten', { key, error: String(error) });
          return;
        }
        await sleep(this.#options.quietMs * attempt, signal);
      }
    }
  }
}
