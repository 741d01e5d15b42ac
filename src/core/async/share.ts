import type { AppError } from '../errors/app-error.ts';
import { LinkedAbort } from './linked-abort.ts';

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

/** What shares are of. */
export interface SharedCapacity {
  tryTake(share: Share, units: number): boolean;
  /** Resolves when they are taken. */
  wait(share: Share, units: number, wait: LinkedAbort, options: TakeOptions): Promise<void>;
  giveBack(share: Share, units: number): void;
  refusal(owner: string): AppError;
}

/** One for all: the stack of an error takes longer than the rest of a hot page. */
const givenBack = new Error('the share was given back');

/** What one request holds of a capacity, until it is disposed of. */
export class Share implements Disposable {
  readonly lane: string;
  /** The first part of its lane. */
  readonly owner: string;
  readonly #capacity: SharedCapacity;
  readonly #revoke: ((error: AppError) => void) | undefined;
  #units = 0;
  #progressAt = performance.now();
  #isSettled = false;
  /** While it waits. */
  #wait: LinkedAbort | undefined;
  #end: Error | undefined;

  constructor(capacity: SharedCapacity, { lane, revoke }: ShareOptions) {
    this.#capacity = capacity;
    this.lane = lane;
    this.owner = ownerOf(lane);
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
    if (!this.#capacity.tryTake(this, units)) return false;
    this.#units += units;
    this.#progressAt = performance.now();
    return true;
  }

  /** So many more, or `overloaded`. */
  takeNow(units: number): void {
    if (!this.tryTake(units)) throw this.#capacity.refusal(this.owner);
  }

  /** So many more, in its turn. Rejects with `overloaded` where that takes too long, and where what it held was taken back. */
  async take(units: number, options: TakeOptions = {}): Promise<void> {
    if (this.tryTake(units)) return;
    using wait = new LinkedAbort(options.signal === undefined ? [] : [options.signal]);
    this.#wait = wait;
    try {
      await this.#capacity.wait(this, units, wait, options);
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
    this.#capacity.giveBack(this, given);
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

export function ownerOf(lane: string): string {
  const end = lane.indexOf('#');
  return end < 0 ? lane : lane.slice(0, end);
}
