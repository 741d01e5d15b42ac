import { AppError } from '../app-error.ts';
import { FairQueue } from './fair-queue.ts';
import { LinkedAbort } from './linked-abort.ts';

export interface FairSharesOptions {
  /** Everything that there is to share: bytes, or places. */
  readonly units: number;
  /** What of it, for messages: `bytes of request bodies in memory`. */
  readonly what: string;
  readonly hint?: string | undefined;
  /** What one tenant leaves to the others though it is alone. Default: a tenth. */
  readonly reserve?: number | undefined;
  /** So long a tenant with less than an equal share waits until those with more lose what they hold. */
  readonly graceMs?: number | undefined;
  /** So long a holder may sit still while others wait. */
  readonly stillMs?: number | undefined;
}

export interface ShareOptions {
  /** In which turn it waits. The first part is the tenant's, or the address that stands for it. */
  readonly lane: string;
  /** Ends who holds it. Default: what it holds cannot be taken back. */
  readonly revoke?: ((error: AppError) => void) | undefined;
}

export interface TakeOptions {
  readonly signal?: AbortSignal | undefined;
  /** It is refused where it would have to wait for longer. Default: no limit. */
  readonly waitMs?: number | undefined;
  /** It waits only with less than an equal share, which it then gets from others. Default: it may wait for what becomes free. */
  readonly onlyBelowShare?: boolean | undefined;
}

export interface ShareFigures {
  readonly units: number;
  readonly held: number;
  /** Those that wait now. */
  readonly waiting: number;
  /** Since the start. */
  readonly refused: number;
  readonly revoked: number;
}

/** Of one tenant. It is there while it holds something or waits. */
interface Account {
  readonly key: string;
  readonly shares: Set<Share>;
  readonly queue: FairQueue<void>;
  held: number;
  /** When its queue began to wait for its turn. */
  since: number;
}

const lookMs = 100;
/** So long after somebody lost what it had for another, nobody gets more than an equal share. */
const contendedMs = 5000;

/**
 * A capacity that tenants share. One that is alone may take all but a reserve. Beside others each has an equal share, and may take
 * more while enough is left for one that comes. What comes free goes to the tenant that holds least; within it, callers and
 * connections take turns. One that waits with less than an equal share gets it after a short time from those with more: from the
 * holder that has made no progress for longest.
 */
export class FairShares {
  readonly #options: FairSharesOptions;
  readonly #accounts = new Map<string, Account>();
  #units: number;
  #held = 0;
  #waiting = 0;
  #refused = 0;
  #revoked = 0;
  #contendedUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FairSharesOptions) {
    this.#options = options;
    this.#units = options.units;
  }

  get figures(): ShareFigures {
    return {
      units: this.#units,
      held: this.#held,
      waiting: this.#waiting,
      refused: this.#refused,
      revoked: this.#revoked,
    };
  }

  /** May change: what is held stays. */
  set units(units: number) {
    this.#units = units;
    this.#serve();
  }

  heldBy(lane: string): number {
    return this.#accounts.get(ownerOf(lane))?.held ?? 0;
  }

  /** Of one request, which holds nothing yet. */
  open(options: ShareOptions): Share {
    return new Share(this, options);
  }

  /** For `Share` alone, as those below. */
  tryTake(share: Share, units: number): boolean {
    const account = this.#accountOf(share.lane);
    const isTaken = account.queue.size === 0 && this.#mayTake(account, units) && !this.#isPromised(account);
    if (isTaken) this.#book(account, share, units);
    else this.#forget(account);
    return isTaken;
  }

  async wait(share: Share, units: number, wait: LinkedAbort, { waitMs, onlyBelowShare }: TakeOptions): Promise<void> {
    if (units > this.#units || waitMs === 0) throw this.refusal(share.lane);
    if (onlyBelowShare === true && !this.#mayHope(share.lane, units)) throw this.refusal(share.lane);
    wait.signal.throwIfAborted();
    const refuse = (): void => wait.abort(this.refusal(share.lane));
    const timer = waitMs === undefined ? undefined : setTimeout(refuse, waitMs).unref();
    const account = this.#accountOf(share.lane);
    if (account.queue.size === 0) account.since = performance.now();
    this.#waiting++;
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref();
    try {
      const turn = account.queue.wait({ signal: wait.signal, lane: share.lane, units });
      this.#serve();
      // Right after others had to wait this one need not.
      if (performance.now() < this.#contendedUntil) this.#look();
      await turn;
      // Its units are counted already, but not as those of this share.
      if (wait.signal.aborted) this.#unbook(account, units);
      wait.signal.throwIfAborted();
      account.shares.add(share);
    } finally {
      clearTimeout(timer);
      this.#waiting--;
      this.#forget(account);
      this.#serve();
    }
  }

  giveBack(share: Share, units: number): void {
    const account = this.#accounts.get(ownerOf(share.lane));
    if (account === undefined || units === 0) return;
    if (share.units === 0) account.shares.delete(share);
    this.#unbook(account, units);
    this.#forget(account);
    this.#serve();
  }

  refusal(lane: string): AppError {
    this.#refused++;
    const { what, hint = 'try again in a moment' } = this.#options;
    const all = `${this.#held} of ${this.#units} ${what} are taken, ${this.heldBy(lane)} of them by you`;
    return new AppError('overloaded', all, { hint, retryAfterSeconds: 1 });
  }

  get #reserve(): number {
    return Math.min(this.#options.reserve ?? Math.floor(this.#units / 10), this.#units);
  }

  #accountOf(lane: string): Account {
    const key = ownerOf(lane);
    let account = this.#accounts.get(key);
    if (account === undefined) {
      account = { key, shares: new Set(), queue: new FairQueue(), held: 0, since: 0 };
      this.#accounts.set(key, account);
    }
    return account;
  }

  #forget(account: Account): void {
    if (account.held === 0 && account.queue.size === 0) this.#accounts.delete(account.key);
  }

  #book(account: Account, share: Share, units: number): void {
    account.held += units;
    account.shares.add(share);
    this.#held += units;
  }

  #unbook(account: Account, units: number): void {
    account.held -= units;
    this.#held -= units;
  }

  /** No more than an equal share, or the first that it takes. */
  #isEntitled({ held }: Account, units: number): boolean {
    return held === 0 || held + units <= this.#equalShare;
  }

  #mayHope(lane: string, units: number): boolean {
    const account = this.#accountOf(lane);
    const mayHope = this.#isEntitled(account, units);
    this.#forget(account);
    return mayHope;
  }

  get #equalShare(): number {
    return (this.#units - this.#reserve) / Math.max(1, this.#accounts.size);
  }

  #mayTake(account: Account, units: number): boolean {
    const free = this.#units - this.#held - units;
    if (free < 0) return false;
    if (this.#isEntitled(account, units)) return true;
    if (performance.now() < this.#contendedUntil && this.#accounts.size > 1) return false;
    // As many times what stays free as one that is alone may hold of all.
    const reserve = this.#reserve;
    return reserve === 0 || account.held + units <= (free * (this.#units - reserve)) / reserve;
  }

  /** What is free is for another one, who waits until it is enough. */
  #isPromised(account: Account): boolean {
    if (this.#waiting === 0) return false;
    return this.#turns().some((other) => other !== account && other.held <= account.held && this.#waitsForRoom(other));
  }

  #waitsForRoom(account: Account): boolean {
    return this.#isEntitled(account, account.queue.nextUnits ?? 0);
  }

  /** Those that wait, the one whose turn it is first. */
  #turns(): Account[] {
    const waiting = [...this.#accounts.values()].filter(({ queue }) => queue.size > 0);
    return waiting.sort((one, other) => one.held - other.held || one.since - other.since);
  }

  #serve(): void {
    if (this.#waiting === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    while (this.#serveNext()) {}
  }

  #serveNext(): boolean {
    for (const account of this.#turns()) {
      const units = account.queue.nextUnits ?? 0;
      if (this.#mayTake(account, units)) {
        account.held += units;
        this.#held += units;
        account.since = performance.now();
        account.queue.serve();
        return true;
      }
      if (this.#waitsForRoom(account)) return false;
    }
    return false;
  }

  /** Makes room for those that have waited for long enough. */
  #look(): void {
    const { graceMs = 500 } = this.#options;
    const now = performance.now();
    for (const account of this.#turns()) {
      const isEntitled = this.#waitsForRoom(account);
      const isLate = now - account.since >= graceMs || (isEntitled && now < this.#contendedUntil);
      if (account.queue.size === 0 || !isLate) continue;
      const revoked = this.#revoked;
      this.#makeRoom(account, now);
      if (isEntitled && this.#revoked > revoked) this.#contendedUntil = now + contendedMs;
      if (account.queue.size > 0) this.#endNewest(account);
    }
  }

  #makeRoom(account: Account, now: number): void {
    const { size, nextUnits = 0 } = account.queue;
    const revocable = this.#revocable(account, now);
    const most = revocable.reduce((sum, share) => sum + share.units, 0);
    // Nobody loses anything where it would not be enough.
    if (this.#held + nextUnits - most > this.#units) return;
    for (const share of revocable) {
      if (!this.#mayLose(share, account, now)) continue;
      this.#revoked++;
      share.end(takenBack(this.#options.what));
      // Its units were given to whoever waits.
      if (account.queue.size < size) return;
    }
  }

  /** Where all of a tenant that hold something wait for more, none would ever go on. */
  #endNewest({ shares }: Account): void {
    const newest = [...shares].at(-1);
    if (newest !== undefined && [...shares].every(({ isRevocable, isWaiting }) => isRevocable && isWaiting)) {
      newest.end(this.refusal(newest.lane));
    }
  }

  /** Those that have made no progress for longest come first. */
  #revocable(account: Account, now: number): Share[] {
    const all = [...this.#accounts.values()].flatMap(({ shares }) => [...shares]);
    return all
      .filter((share) => share.isRevocable && this.#mayLose(share, account, now))
      .sort((one, other) => one.progressAt - other.progressAt);
  }

  /** One that sits still, and any of a tenant with more than an equal share where the one that waits would have no more than that. */
  #mayLose(share: Share, account: Account, now: number): boolean {
    const { stillMs = 2000 } = this.#options;
    if (!share.isWaiting && now - share.progressAt >= stillMs) return true;
    return this.heldBy(share.lane) > this.#equalShare && this.#waitsForRoom(account);
  }
}

/** One for all: the stack of an error takes longer than the rest of a hot page. */
const givenBack = new Error('the share was given back');

/** What one request holds of a capacity, until it is disposed of. */
export class Share implements Disposable {
  readonly lane: string;
  readonly #shares: FairShares;
  readonly #revoke: ((error: AppError) => void) | undefined;
  #units = 0;
  #progressAt = performance.now();
  #isSettled = false;
  /** While it waits. */
  #wait: LinkedAbort | undefined;
  #end: Error | undefined;

  constructor(shares: FairShares, { lane, revoke }: ShareOptions) {
    this.#shares = shares;
    this.lane = lane;
    this.#revoke = revoke;
  }

  get units(): number {
    return this.#units;
  }

  get progressAt(): number {
    return this.#progressAt;
  }

  get isWaiting(): boolean {
    return this.#wait !== undefined;
  }

  get isRevocable(): boolean {
    return this.#revoke !== undefined && !this.#isSettled;
  }

  /** So many more, where nobody has to wait for them. Throws where what it held was taken back. */
  tryTake(units: number): boolean {
    if (this.#end !== undefined) throw this.#end;
    if (!this.#shares.tryTake(this, units)) return false;
    this.#units += units;
    this.#progressAt = performance.now();
    return true;
  }

  /** So many more, or `overloaded`. */
  takeNow(units: number): void {
    if (!this.tryTake(units)) throw this.#shares.refusal(this.lane);
  }

  /** So many more, in its turn. Rejects with `overloaded` where that takes too long, and where what it held was taken back. */
  async take(units: number, options: TakeOptions = {}): Promise<void> {
    if (this.tryTake(units)) return;
    using wait = new LinkedAbort(options.signal === undefined ? [] : [options.signal]);
    this.#wait = wait;
    try {
      await this.#shares.wait(this, units, wait, options);
    } finally {
      this.#wait = undefined;
    }
    this.#units += units;
    this.#progressAt = performance.now();
  }

  /** Nothing where it was taken back already. */
  give(units: number): void {
    const given = Math.min(units, this.#units);
    this.#units -= given;
    this.#shares.giveBack(this, given);
  }

  /** It did not sit still. */
  progress(): void {
    this.#progressAt = performance.now();
  }

  /** Whoever holds it has what it needs of its client: from now on nothing is taken back. */
  settle(): void {
    this.#isSettled = true;
  }

  /** Takes back what it holds. */
  end(error: AppError): void {
    this.#close(error);
    this.#revoke?.(error);
  }

  [Symbol.dispose](): void {
    this.#close(givenBack);
  }

  #close(error: Error): void {
    this.#end ??= error;
    this.#wait?.abort(this.#end);
    this.give(this.#units);
  }
}

function takenBack(what: string): AppError {
  const message = `others wait for ${what}, of which this request had more than its share or used none for too long`;
  const hint = 'send it again without pauses, or fewer at once';
  return new AppError('overloaded', message, { hint, retryAfterSeconds: 1 });
}

function ownerOf(lane: string): string {
  const end = lane.indexOf('#');
  return end < 0 ? lane : lane.slice(0, end);
}
