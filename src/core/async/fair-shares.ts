import { FairQueue } from '@framehold/async';
import { AppError } from '../errors/app-error.ts';
import type { LinkedAbort } from './linked-abort.ts';
import { ownerOf, Share, type SharedCapacity, type ShareOptions, type TakeOptions } from './share.ts';

export interface FairSharesOptions {
  /** Everything that there is to share: bytes, or places. */
  readonly units: number;
  /** What of it, for messages: `bytes of request bodies in memory`. */
  readonly what: string;
  readonly hint?: string | undefined;
  /** What one tenant leaves to the others though it is alone. Default: a tenth. */
  readonly reserve?: number | undefined;
  /** So long one waits where it does not say how long. Default: no limit. */
  readonly waitMs?: number | undefined;
  /** So long a tenant with less than an equal share waits until those with more lose what they hold. */
  readonly graceMs?: number | undefined;
  /** So long a holder may sit still while others wait. */
  readonly stillMs?: number | undefined;
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
  readonly owner: string;
  readonly shares: Set<Share>;
  readonly queue: FairQueue<void>;
  held: number;
  /** When its queue began to wait for its turn. */
  since: number;
}

const lookMs = 100;
/** The next look goes on. */
const mostLookMs = 10;
/** So long after somebody lost what it had for another, nobody gets more than an equal share. */
const contendedMs = 5000;

/**
 * A capacity that tenants share. One that is alone may take all but a reserve. Beside others each has an equal share, and may take
 * more while enough is left for one that comes. What comes free goes to the tenant that holds least; within it, callers and
 * connections take turns. One that waits with less than an equal share gets it after a short time from those with more: from the
 * holder that has made no progress for longest.
 */
export class FairShares implements SharedCapacity {
  readonly #options: FairSharesOptions;
  readonly #accounts = new Map<string, Account>();
  /** Those of which somebody waits. */
  readonly #lines = new Set<Account>();
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
    return this.#heldByOwner(ownerOf(lane));
  }

  /** Of one request, which holds nothing yet. */
  open(options: ShareOptions): Share {
    return new Share(this, options);
  }

  /** For `Share` alone, as those below. */
  tryTake(share: Share, units: number): boolean {
    const account = this.#accountOf(share.owner);
    const isTaken = account.queue.size === 0 && this.#mayTake(account, units) && !this.#isPromised(account);
    if (isTaken) this.#book(account, share, units);
    else this.#forget(account);
    return isTaken;
  }

  async wait(share: Share, units: number, wait: LinkedAbort, options: TakeOptions): Promise<void> {
    const { waitMs = this.#options.waitMs, onlyBelowShare } = options;
    const { owner } = share;
    if (units > this.#units || waitMs === 0) throw this.refusal(owner);
    if (onlyBelowShare === true && !this.#mayHope(owner, units)) throw this.refusal(owner);
    wait.signal.throwIfAborted();
    const refuse = (): void => wait.abort(this.refusal(owner));
    const timer = waitMs === undefined ? undefined : setTimeout(refuse, waitMs).unref();
    const account = this.#accountOf(owner);
    if (account.queue.size === 0) account.since = performance.now();
    this.#waiting++;
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref();
    try {
      const turn = account.queue.wait({ signal: wait.signal, lane: share.lane, units });
      this.#lines.add(account);
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
      if (account.queue.size === 0) this.#lines.delete(account);
      this.#forget(account);
      this.#serve();
    }
  }

  giveBack(share: Share, units: number): void {
    const account = this.#accounts.get(share.owner);
    if (account === undefined || units === 0) return;
    if (share.units === 0) account.shares.delete(share);
    this.#unbook(account, units);
    this.#forget(account);
    this.#serve();
  }

  refusal(owner: string): AppError {
    this.#refused++;
    const { what, hint = 'try again in a moment' } = this.#options;
    const all = `${this.#held} of ${this.#units} ${what} are taken, ${this.#heldByOwner(owner)} of them by you`;
    return new AppError('overloaded', all, { hint, retryAfterSeconds: 1 });
  }

  get #reserve(): number {
    return Math.min(this.#options.reserve ?? Math.floor(this.#units / 10), this.#units);
  }

  #heldByOwner(owner: string): number {
    return this.#accounts.get(owner)?.held ?? 0;
  }

  #accountOf(owner: string): Account {
    let account = this.#accounts.get(owner);
    if (account === undefined) {
      account = { owner, shares: new Set(), queue: new FairQueue(), held: 0, since: 0 };
      this.#accounts.set(owner, account);
    }
    return account;
  }

  #forget(account: Account): void {
    if (account.held > 0 || account.queue.size > 0) return;
    // One that left its wait may come late, when the tenant has a new account.
    if (this.#accounts.get(account.owner) === account) this.#accounts.delete(account.owner);
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

  #mayHope(owner: string, units: number): boolean {
    const account = this.#accountOf(owner);
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
    for (const other of this.#lines) {
      if (other === account || other.queue.size === 0) continue;
      if (other.held <= account.held && this.#waitsForRoom(other)) return true;
    }
    return false;
  }

  #waitsForRoom(account: Account): boolean {
    return this.#isEntitled(account, account.queue.nextUnits ?? 0);
  }

  /** The one whose turn it is among those that wait. */
  get #next(): Account | undefined {
    let next: Account | undefined;
    for (const account of this.#lines) {
      if (account.queue.size > 0 && (next === undefined || byTurn(account, next) < 0)) next = account;
    }
    return next;
  }

  /** Those that wait, the one whose turn it is first. */
  #turns(): Account[] {
    return [...this.#lines].filter(({ queue }) => queue.size > 0).sort(byTurn);
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
    const next = this.#next;
    if (next === undefined || this.#serveOne(next)) return next !== undefined;
    if (this.#waitsForRoom(next)) return false;
    for (const account of this.#turns()) {
      if (this.#serveOne(account)) return true;
      if (this.#waitsForRoom(account)) return false;
    }
    return false;
  }

  #serveOne(account: Account): boolean {
    const units = account.queue.nextUnits ?? 0;
    if (!this.#mayTake(account, units)) return false;
    account.held += units;
    this.#held += units;
    account.since = performance.now();
    account.queue.serve();
    return true;
  }

  /** Makes room for those that have waited for long enough, for some of many at a time. */
  #look(): void {
    const { graceMs = 250 } = this.#options;
    const now = performance.now();
    const isLate = (account: Account): boolean =>
      now - account.since >= graceMs || (now < this.#contendedUntil && this.#waitsForRoom(account));
    const late = this.#turns().filter(isLate);
    if (late.length === 0) return;
    const revocable = this.#revocable();
    for (const account of late) {
      if (account.queue.size === 0) continue;
      const isEntitled = this.#waitsForRoom(account);
      const revoked = this.#revoked;
      this.#makeRoom(account, revocable, now);
      if (isEntitled && this.#revoked > revoked) this.#contendedUntil = now + contendedMs;
      if (account.queue.size > 0) this.#endNewest(account);
      if (performance.now() - now > mostLookMs) return;
    }
  }

  #makeRoom(account: Account, revocable: readonly Share[], now: number): void {
    const { size, nextUnits = 0 } = account.queue;
    const losing = revocable.filter((share) => share.units > 0 && this.#mayLose(share, account, now));
    const most = losing.reduce((sum, share) => sum + share.units, 0);
    // Nobody loses anything where it would not be enough.
    if (this.#held + nextUnits - most > this.#units) return;
    for (const share of losing) {
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
      newest.end(this.refusal(newest.owner));
    }
  }

  /** Those that have made no progress for longest come first. */
  #revocable(): Share[] {
    const all = [...this.#accounts.values()].flatMap(({ shares }) => [...shares]);
    return all.filter(({ isRevocable }) => isRevocable).sort((one, other) => one.progressAt - other.progressAt);
  }

  /** One that sits still, and any of a tenant with more than an equal share where the one that waits would have no more than that. */
  #mayLose(share: Share, account: Account, now: number): boolean {
    const { stillMs = 2000 } = this.#options;
    if (!share.isWaiting && now - share.progressAt >= stillMs) return true;
    return this.#heldByOwner(share.owner) > this.#equalShare && this.#waitsForRoom(account);
  }
}

function byTurn(one: Account, other: Account): number {
  return one.held - other.held || one.since - other.since;
}

function takenBack(what: string): AppError {
  const message = `others wait for ${what}, of which this request had more than its share or used none for too long`;
  const hint = 'send it again without pauses, or fewer at once';
  return new AppError('overloaded', message, { hint, retryAfterSeconds: 1 });
}
