import { sleep } from '@framehold/async';
import { ConnectFailure } from './connect-failure.ts';

const firstDelayMs = 50;
const growth = 4;
const longestDelayMs = 60_000;
const jitterMs = 500;
const jitterFromMs = 2000;
const mostTries = 15;
const longestServerDelayMs = 600_000;
/** Enough for a server that is quickly back. */
const refusedRetryMs = 1000;

/** PySpark's rule for retries. */
export function isRetriable(thrown: unknown): thrown is ConnectFailure {
  if (!(thrown instanceof ConnectFailure)) return false;
  if (thrown.status === 'UNAVAILABLE' || thrown.facts.retryDelayMs !== undefined) return true;
  return thrown.status === 'INTERNAL' && thrown.message.includes('INVALID_CURSOR.DISCONNECTED');
}

/** The port is closed, or another server answers: time will hardly help, and callers wait. */
function isRefusedAtOnce({ cause }: ConnectFailure): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || /CERT|SSL|TLS|EPROTO/.test(code);
}

export interface RetriesOptions {
  /** The time for retries after the first of several failures in a row. */
  readonly retryForMs: number;
  readonly signal: AbortSignal;
}

/** Waits between tries as PySpark does, for `retryForMs` at most. */
export class Retries {
  readonly #options: RetriesOptions;
  #tries = 0;
  #delayMs = firstDelayMs;
  #failingSince: number | undefined;
  #triedAt = Number.POSITIVE_INFINITY;

  constructor(options: RetriesOptions) {
    this.#options = options;
  }

  /** Something came through. */
  reset(): void {
    this.#tries = 0;
    this.#delayMs = firstDelayMs;
    this.#failingSince = undefined;
  }

  /** Resolves when the next try is due; throws the error if no try is left. */
  async next(thrown: unknown): Promise<void> {
    const { retryForMs, signal } = this.#options;
    if (signal.aborted || !isRetriable(thrown)) throw thrown;
    const now = performance.now();
    // Connecting takes no longer than `retryForMs`: after twice that the call was connected, even without a response.
    if (now - this.#triedAt > 2 * retryForMs) this.reset();
    this.#failingSince ??= now;
    this.#tries += 1;
    let delayMs = Math.max(this.#delayMs, Math.min(thrown.facts.retryDelayMs ?? 0, longestServerDelayMs));
    if (delayMs >= jitterFromMs) delayMs += Math.random() * jitterMs;
    const mostMs = isRefusedAtOnce(thrown) ? Math.min(retryForMs, refusedRetryMs) : retryForMs;
    if (this.#tries > mostTries || now + delayMs - this.#failingSince > mostMs) throw thrown;
    this.#delayMs = Math.min(this.#delayMs * growth, longestDelayMs);
    await sleep(delayMs, signal).catch(() => {
      throw thrown;
    });
    this.#triedAt = performance.now();
  }
}

/** The same once more until it works, fails for good, or the time is over. */
export async function retrying<T>(options: RetriesOptions, act: () => Promise<T>): Promise<T> {
  const retries = new Retries(options);
  for (;;) {
    try {
      return await act();
    } catch (thrown) {
      await retries.next(thrown);
    }
  }
}
