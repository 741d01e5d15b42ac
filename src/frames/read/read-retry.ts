import { sleep } from '@framehold/async';
import { AppError } from '../../core/errors/app-error.ts';

const busyPauseMs = 100;
const mostBusyMs = 10_000;
const mostCrashes = 1;

/** Retry policy of a read that has already sent rows. It cannot restart, but it can continue. */
export class ReadRetry {
  #busyMs = 0;
  #crashes = 0;

  progressed(): void {
    this.#busyMs = 0;
  }

  /** Resolves when the rest may be retried, else throws the error. */
  async waitOrThrow(error: unknown, hasSent: boolean, signal: AbortSignal): Promise<void> {
    const code = error instanceof AppError ? error.code : undefined;
    if (code === 'engine_crashed' && this.#crashes < mostCrashes) {
      this.#crashes++;
      return;
    }
    if (code !== 'overloaded' || !hasSent || this.#busyMs >= mostBusyMs) throw error;
    this.#busyMs += busyPauseMs;
    await sleep(busyPauseMs, signal);
  }
}
