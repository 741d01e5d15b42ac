import { FairShares, type ShareFigures } from '../core/async/fair-shares.ts';
import { limitedAs, type Principal } from '../core/callers/principal.ts';
import { type AppError, serverStopping } from '../core/errors/app-error.ts';
import { TailReads } from './tail-reads.ts';
import { TimerWheel } from './timer-wheel.ts';

export interface FollowersOptions {
  readonly maxFollowers: number;
  /** Most time without a message to a follower. */
  readonly progressIntervalMs: number;
}

export interface FollowerPlace {
  /** Resolves when it counts among them. Rejects where there are too many. */
  readonly entered: Promise<void>;
  leave(): void;
}

/** Most time that a follower waits for a place of its tenant's share. */
const mostWaitMs = 2000;

/** All followers, on HTTP and Flight, and their shared state. */
export class Followers implements Disposable {
  readonly progressIntervalMs: number;
  readonly timers = new TimerWheel();
  readonly tails = new TailReads();
  readonly #places: FairShares;
  readonly #ends = new Set<(error: AppError) => void>();
  #isClosed = false;

  constructor({ maxFollowers, progressIntervalMs }: FollowersOptions) {
    this.#places = new FairShares({
      units: maxFollowers,
      what: 'places for followers',
      waitMs: mostWaitMs,
      hint: 'try again in a moment; the operator can raise server.max_followers',
    });
    this.progressIntervalMs = progressIntervalMs;
  }

  get size(): number {
    return this.#places.figures.held;
  }

  get figures(): ShareFigures {
    return this.#places.figures;
  }

  /** May change: connected followers stay. */
  set most(most: number) {
    this.#places.units = most;
  }

  /** Those of the caller's tenant. */
  countOf(principal: Principal): number {
    return principal.credential === 'none' ? this.size : this.#places.heldBy(limitedAs(principal));
  }

  /** Counts one more, until it leaves. `end` is called when the server stops, or when others should have its place. */
  enter(lane: string, end: (error: AppError) => void, signal: AbortSignal): FollowerPlace {
    if (this.#isClosed) throw serverStopping();
    const place = this.#places.open({ lane, revoke: end });
    this.#ends.add(end);
    const leave = (): void => {
      this.#ends.delete(end);
      place[Symbol.dispose]();
    };
    const entered = place.take(1, { signal, onlyBelowShare: true });
    entered.catch(leave);
    return { entered, leave };
  }

  /** Ends all followers, and refuses new ones. */
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
