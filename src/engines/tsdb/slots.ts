import { AppError } from '../../core/app-error.ts';

export interface SlotsOptions {
  /** How many may be held at once. */
  readonly max: number;
  /** How many callers may wait for one. */
  readonly maxWaiting: number;
}

type Release = () => void;

/** A fixed number of places, given out in the order of asking. */
export class Slots {
  readonly #options: SlotsOptions;
  #held = 0;
  /** In order of arrival; each takes over a place without it ever becoming free. */
  readonly #waiting = new Set<() => void>();

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** Rejects with `overloaded` when the queue is full or no place came free in time, and with the signal's reason. */
  async acquire({ signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }): Promise<Release> {
    if (this.#held < this.#options.max) {
      this.#held += 1;
      return this.#releaseOnce();
    }
    if (this.#waiting.size >= this.#options.maxWaiting) throw this.#overloaded('and the queue for them is full');
    await this.#turn(signal, timeoutMs);
    return this.#releaseOnce();
  }

  #turn(signal: AbortSignal, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(onTurn);
        settle();
      };
      const onTurn = () => leave(resolve);
      const onAbort = () => leave(() => reject(signal.reason));
      const onTimeout = () => leave(() => reject(this.#overloaded(`and none came free within ${timeoutMs} ms`)));
      const timer = setTimeout(onTimeout, timeoutMs);
      signal.addEventListener('abort', onAbort);
      this.#waiting.add(onTurn);
    });
  }

  #releaseOnce(): Release {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const [next] = this.#waiting;
      if (next === undefined) this.#held -= 1;
      else next();
    };
  }

  #overloaded(why: string): AppError {
    const message = `all ${this.#options.max} connections to the external database are in use, ${why}`;
    return new AppError('overloaded', message, { hint: 'send the request again shortly', retryAfterSeconds: 1 });
  }
}
