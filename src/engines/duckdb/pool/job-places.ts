import { FairShares, type ShareFigures } from '../../../core/async/fair-shares.ts';
import { LinkedAbort } from '../../../core/async/linked-abort.ts';
import type { Share } from '../../../core/async/share.ts';
import { AppError } from '../../../core/errors/app-error.ts';

/** Open jobs of all tenants for each running one: suspended jobs and jobs that wait for their client are open, too. */
export const mostOpenPerWorker = 5;
/** So long one waits beside a tenant that has more. */
const graceMs = 50;

export interface EnterOptions {
  readonly signal: AbortSignal;
  readonly lane?: string | undefined;
  /** For a request that was let in already: it may wait even if the queue is full. */
  readonly isLetIn?: boolean | undefined;
}

/** The work of a job in its process, which can be suspended. */
export interface SuspendableJob {
  suspend(): void;
  resume(): void;
}

/**
 * Runs the jobs of one kind, at most `workers` at once. Tenants share the places: when a tenant waits, a job of a tenant with
 * more places is suspended until its next turn.
 */
export class JobPlaces {
  readonly open: FairShares;
  readonly running: FairShares;
  readonly #maxQueue: number;
  #waiting = 0;

  constructor({ workers, maxQueue }: { readonly workers: number; readonly maxQueue: number }) {
    const units = mostOpenPerWorker * workers;
    // A job that only computes is busy although it sends no message.
    const common = { graceMs, stillMs: Number.POSITIVE_INFINITY };
    this.open = new FairShares({ ...common, units, reserve: workers, what: 'jobs that DuckDB may have begun' });
    this.running = new FairShares({ ...common, units: workers, reserve: 0, what: 'places of DuckDB processes' });
    this.#maxQueue = maxQueue;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Use of the places. */
  get figures(): ShareFigures {
    return this.running.figures;
  }

  /** Waits for a place. */
  async enter({ signal, lane = '', isLetIn = false }: EnterOptions): Promise<JobPlace> {
    signal.throwIfAborted();
    const hasJobs = this.open.heldBy(lane) > 0;
    const place = new JobPlace(this, lane, signal);
    if (place.tryEnter()) return place;
    this.#waiting++;
    try {
      if (!isLetIn && hasJobs && this.#waiting > this.#maxQueue) {
        throw new AppError('overloaded', `${this.#maxQueue} jobs are waiting already`, {
          hint: 'try again in a moment',
          retryAfterSeconds: 1,
        });
      }
      await place.enter();
      return place;
    } catch (error) {
      place[Symbol.dispose]();
      throw error;
    } finally {
      this.#waiting--;
    }
  }
}

/** The place of one job, until it is disposed of. */
export class JobPlace implements Disposable {
  readonly #places: JobPlaces;
  readonly #lane: string;
  readonly #abort: LinkedAbort;
  readonly #open: Share;
  #running: Share;
  #job: SuspendableJob | undefined;
  #isSuspended = false;
  #isOver = false;

  constructor(places: JobPlaces, lane: string, signal: AbortSignal) {
    this.#places = places;
    this.#lane = lane;
    this.#abort = new LinkedAbort([signal]);
    this.#open = places.open.open({ lane, revoke: (error) => this.#abort.abort(error) });
    this.#running = this.#newShare(lane);
  }

  /** Aborted also when other tenants need the places that the tenant has beyond its share. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Takes a place only if one is free now. */
  tryEnter(): boolean {
    return this.#open.tryTake(1) && this.#running.tryTake(1);
  }

  async enter(): Promise<void> {
    const { signal } = this;
    if (this.#open.units === 0) await this.#open.take(1, { signal });
    await this.#running.take(1, { signal });
  }

  /** From now on it is this job that has the place. */
  begin(job: SuspendableJob): void {
    this.#job = job;
    if (this.#isSuspended) job.suspend();
  }

  /** The process waits for its client: others may run meanwhile. */
  leave(): void {
    this.#running[Symbol.dispose]();
    this.#open.progress();
  }

  /** The client has done its part. */
  goOn(): void {
    // Of a job that is over, the sender may still be waited for.
    if (this.#isOver) return;
    this.#open.progress();
    // Before other jobs of its tenant: otherwise those would begin, and all of them be suspended in turn.
    const [owner = ''] = this.#lane.split('#');
    this.#running[Symbol.dispose]();
    const share = this.#newShare(owner);
    this.#running = share;
    if (share.tryTake(1)) {
      this.#resume();
      return;
    }
    this.#isSuspended = true;
    this.#job?.suspend();
    share.take(1).then(
      () => this.#resume(),
      // Disposed of.
      () => {},
    );
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#running[Symbol.dispose]();
    this.#open[Symbol.dispose]();
    this.#abort[Symbol.dispose]();
    this.#resume();
  }

  #newShare(lane: string): Share {
    return this.#places.running.open({ lane, revoke: () => this.goOn() });
  }

  #resume(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.#job?.resume();
  }
}
