import type { Session } from '@framehold/duckdb';

const idleMs = 1000;
/** Less work than this frees little. The memory itself cannot be asked for: the kernel may keep the process from /proc. */
const leastWorkMs = 20;

/** Once the process has been idle for a moment, the memory that its last jobs have freed goes back to the system. */
export class IdleMemory {
  readonly #sessions: readonly Session[];
  readonly #timer: NodeJS.Timeout;
  /** While a job runs: its beginning. */
  #begunAt: number | undefined;
  /** The longest job since memory was given back. */
  #longestMs = 0;

  constructor(sessions: readonly Session[]) {
    this.#sessions = sessions;
    this.#timer = setTimeout(() => this.#return(), idleMs).unref();
  }

  begin(): void {
    this.#begunAt = performance.now();
  }

  end(): void {
    this.#longestMs = Math.max(this.#longestMs, performance.now() - (this.#begunAt ?? 0));
    this.#begunAt = undefined;
    this.#timer.refresh();
  }

  #return(): void {
    if (this.#begunAt !== undefined || this.#longestMs < leastWorkMs) return;
    this.#longestMs = 0;
    for (const session of this.#sessions) session.limitMemory(1);
  }
}
