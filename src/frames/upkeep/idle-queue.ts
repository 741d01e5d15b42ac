import { isTransient } from '../../core/app-error.ts';
import { sleep } from '../../core/async/limited-wait.ts';
import type { Logger } from '../../core/logger.ts';

export interface IdleQueueOptions {
  /** How long nothing new must have come before work begins. */
  readonly quietMs: number;
  readonly logger: Logger;
}

const longestWaitMs = 30_000;
const mostAttempts = 3;

/** Does work that can wait: one piece at a time, in a quiet moment. */
export class IdleQueue {
  readonly #options: IdleQueueOptions;
  readonly #queue = new Map<string, (signal: AbortSignal) => Promise<void>>();
  readonly #controller = new AbortController();
  #lastMs = 0;
  #working: Promise<void> | undefined;

  constructor(options: IdleQueueOptions) {
    this.#options = options;
  }

  /** The same key waits only once. */
  enqueue(key: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#controller.signal.aborted) return;
    this.#lastMs = performance.now();
    this.#queue.set(key, work);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
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
        const [next] = this.#queue;
        if (next === undefined) return;
        await this.#quiet(signal);
        const [key, work] = next;
        this.#queue.delete(key);
        await this.#attempt(key, work, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#options.logger.error('recompression stopped', { error: String(error) });
    }
  }

  async #quiet(signal: AbortSignal): Promise<void> {
    const { quietMs } = this.#options;
    const since = performance.now();
    for (;;) {
      const restMs = this.#lastMs + quietMs - performance.now();
      if (restMs <= 0 || performance.now() - since > longestWaitMs) return;
      await sleep(restMs, signal);
    }
  }

  async #attempt(key: string, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work(signal);
      } catch (error) {
        if (signal.aborted) throw error;
        if (!isTransient(error) || attempt === mostAttempts) {
          this.#options.logger.warn('a frame keeps its first compression', { key, error: String(error) });
          return;
        }
        await sleep(this.#options.quietMs * attempt, signal);
      }
    }
  }
}
