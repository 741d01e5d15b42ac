import { AppError, serverStopping } from '../core/app-error.ts';
import { mostOfOne } from '../core/connection-limit.ts';
import { limitedAs, type Principal } from '../core/principal.ts';
import { Tally } from '../core/tally.ts';
import { TailReads } from './tail-reads.ts';
import { TimerWheel } from './timer-wheel.ts';

export interface FollowersOptions {
  readonly maxFollowers: number;
  /** How long a follower may hear nothing. */
  readonly progressIntervalMs: number;
}

/** All that wait for rows, by whatever door, and what they share. */
export class Followers implements Disposable {
  readonly progressIntervalMs: number;
  readonly timers = new TimerWheel();
  readonly tails = new TailReads();
  /** May change: those that are connected stay. */
  most: number;
  readonly #ends = new Set<(error: AppError) => void>();
  readonly #byTenant = new Tally<string>();
  #isClosed = false;

  constructor({ maxFollowers, progressIntervalMs }: FollowersOptions) {
    this.most = maxFollowers;
    this.progressIntervalMs = progressIntervalMs;
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Those of the caller's tenant. */
  countOf(principal: Principal): number {
    return this.#byTenant.of(limitedAs(principal));
  }

  /** Counts one more, until what this gives is called. `end` is called when the server stops. */
  enter(principal: Principal, end: (error: AppError) => void): () => void {
    if (this.#isClosed) throw serverStopping();
    if (this.#ends.size >= this.most) throw tooMany(`${this.most} followers are connected already`);
    const whose = limitedAs(principal);
    const most = principal.credential === 'none' ? this.most : mostOfOne(this.most);
    if (this.#byTenant.add(whose) > most) {
      this.#byTenant.remove(whose);
      throw tooMany(`${most} followers of your tenant are connected already`);
    }
    this.#ends.add(end);
    return () => {
      if (this.#ends.delete(end)) this.#byTenant.remove(whose);
    };
  }

  /** Ends all, and refuses those that come. */
  endAll(): void {
    this.#isClosed = true;
    for (const end of [...this.#ends]) end(serverStopping());
  }

  [Symbol.dispose](): void {
    this.endAll();
    this.tails[Symbol.dispose]();
    this.timers[Symbol.dispose]();
  }
}

function tooMany(message: string): AppError {
  return new AppError('overloaded', message, {
    hint: 'try again in a moment; the operator can raise server.max_followers',
    retryAfterSeconds: 1,
  });
}
