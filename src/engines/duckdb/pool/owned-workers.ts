import { AppError, serverStopping } from '../../../core/errors/app-error.ts';
import type { Logger } from '../../../core/logs/logger.ts';
import { OwnerQueues } from './owner-queues.ts';
import { type PoolSettings, type WorkerExit, type WorkerOwner, WorkerProcess, workerExits } from './worker-process.ts';

export interface OwnedWorkersOptions {
  readonly entry: URL;
  readonly workers: number;
  /** Jobs that may wait for a worker; one more is refused. */
  readonly maxQueue: number;
  /** Children beyond the workers, of jobs that wait for their clients or for others: they take memory, if no time. */
  readonly mostParked: number;
  readonly settings: PoolSettings;
  readonly logger: Logger;
  /** Start the children at once rather than with the first job. */
  readonly warm: boolean;
}

export interface AcquireOptions {
  readonly signal: AbortSignal;
  /** Only a child of this owner runs the job. Default: one of the server's own. */
  readonly owner?: WorkerOwner | undefined;
  readonly lane?: string | undefined;
  /** For a request that was let in already: it may wait even if the queue is full. */
  readonly isLetIn?: boolean | undefined;
}

/** Children beyond `workers` are kept this long after the parked ones resume: on a busy machine, others will be parked soon. */
const surplusMs = 3000;

/**
 * How long an owner waits before a child of an owner with more children is ended for it, and how long a child may at least work
 * for its owner. A few times the start of a process, so that owners in turn do not spend most of the time on starts.
 */
export const turnMs = 250;
const startsPerTurn = 2;
/** A statement is several jobs: its next one may be about to arrive at a child that has been idle for less. */
const betweenJobsMs = 20;
/** As a caller's next statement may be: so long its child stays beside a tenant that has another one. */
const betweenStatementsMs = 2000;

const ownWork: WorkerOwner = { key: '', tenant: '', sql: undefined };

/** After a child that did not even start, wait this long before the next try. */
const restartDelayMs = 1000;

/**
 * The child processes of a pool, and the jobs that wait for one. A child that dies is replaced. A child has one owner for all its
 * life: if all children belong to other owners, the one that has been idle longest ends, and a new one takes its place.
 */
export class OwnedWorkers implements AsyncDisposable {
  readonly #options: OwnedWorkersOptions;
  readonly #all = new Set<WorkerProcess>();
  /** The one used last is at the end. */
  readonly #idle: WorkerProcess[] = [];
  /** For each child: the end of its turn, and the time since which it has been idle. */
  readonly #turns = new WeakMap<WorkerProcess, { readonly endsAt: number; idleAt: number }>();
  #recheck: { readonly atMs: number; readonly timer: NodeJS.Timeout } | undefined;
  #surplusEnds: NodeJS.Timeout | undefined;
  readonly #ending = new Set<WorkerProcess>();
  readonly #queues = new OwnerQueues();
  /** Owners of starting children. After a failed start the owner stays here until the next try. */
  readonly #starting = new Set<{ readonly owner: WorkerOwner }>();
  /** All reasons are there from the start: a monitor that watches increases would miss the first one. */
  readonly #exits = new Map(workerExits.map((reason) => [reason, 0]));
  #parked = 0;
  #closed = false;

  constructor(options: OwnedWorkersOptions) {
    this.#options = options;
    if (options.warm) for (let n = 0; n < options.workers; n++) this.#start(ownWork);
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  get startingCount(): number {
    return this.#starting.size;
  }

  get waitingCount(): number {
    return this.#queues.size;
  }

  /** Children that ended since the start, by the reason. */
  get exits(): ReadonlyMap<WorkerExit, number> {
    return this.#exits;
  }

  get pids(): readonly number[] {
    return [...this.#all].flatMap((worker) => worker.pid ?? []);
  }

  /** Starts a child, if there is none yet, for a job that will follow. */
  expect(owner: WorkerOwner): void {
    if (!this.#closed && this.#all.size === 0 && this.#starting.size === 0) this.#start(owner);
  }

  /** The job of a child begins to wait, or goes on: meanwhile another child may work in its place. */
  park(isParked: boolean): void {
    this.#parked += isParked ? 1 : -1;
    if (isParked) this.#startForDemand();
    else this.#surplusEnds ??= setTimeout(() => this.#endSurplus(), surplusMs).unref();
  }

  get #room(): number {
    const { workers } = this.#options;
    return workers + Math.min(this.#parked, this.#options.mostParked);
  }

  #endSurplus(): void {
    this.#surplusEnds = undefined;
    while (this.#all.size > this.#room) {
      // Ends a child whose owner waits for no starting one: a ready child is worth more than a starting one.
      const index = this.#idle.findIndex(({ owner }) => this.#startingOf(owner) === 0);
      const [worker] = index < 0 ? [] : this.#idle.splice(index, 1);
      if (worker === undefined) return;
      this.#end(worker);
    }
  }

  #end(worker: WorkerProcess): void {
    this.#all.delete(worker);
    this.#ending.add(worker);
    worker.kill('not_needed');
  }

  #start(owner: WorkerOwner): void {
    const start = { owner };
    const begunAt = performance.now();
    this.#starting.add(start);
    const { entry, settings, logger } = this.#options;
    const failed = (error: unknown): void => {
      if (this.#closed) return;
      logger.error('a worker did not start', { error });
      if ([...this.#all].every((other) => other.ended)) this.#failWaiting(error);
      setTimeout(() => {
        this.#starting.delete(start);
        this.#startForDemand();
      }, restartDelayMs).unref();
    };
    let worker: WorkerProcess;
    try {
      worker = new WorkerProcess(entry, settings, owner, logger);
    } catch (error) {
      // Without memory the system makes no process, and Node throws at once. The caller still puts its job into the queue.
      setImmediate(failed, error);
      return;
    }
    this.#all.add(worker);
    worker.ready.then(() => {
      this.#starting.delete(start);
      const now = performance.now();
      this.#turns.set(worker, { endsAt: now + Math.max(turnMs, startsPerTurn * (now - begunAt)), idleAt: now });
      this.release(worker);
    }, failed);
    worker.exited.then(() => {
      if (!this.#closed) this.#exits.set(worker.exit, (this.#exits.get(worker.exit) ?? 0) + 1);
      this.#all.delete(worker);
      this.#ending.add(worker);
      void worker.cleared().then(() => this.#ending.delete(worker));
      const index = this.#idle.indexOf(worker);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#startForDemand();
    });
  }

  /** Starts as many children as the waiting jobs need and the pool may have, or the minimum of a pool that is kept warm. */
  #startForDemand(): void {
    const { warm, workers } = this.#options;
    while (warm && this.#hasRoom(workers)) this.#start(ownWork);
    // Parked children may stay so for long: one more is ready for the next job.
    if (warm && this.#idle.length + this.#starting.size === 0 && this.#hasRoom(this.#room)) this.#start(ownWork);
    for (const { owner } of this.#queues.turns()) {
      while (this.#missing(owner) > 0) {
        if (!this.#hasRoom(this.#room) && !this.#endIdleFor(owner) && !this.#isShutOut(owner)) break;
        this.#start(owner);
      }
    }
  }

  /** All children work for others, perhaps for long: a tenant that has none gets one more than there should be. */
  #isShutOut(owner: WorkerOwner): boolean {
    if (this.#idle.length > 0 || !this.#hasRoom(this.#room + this.#options.workers)) return false;
    const isStarting = [...this.#starting].some((start) => start.owner.tenant === owner.tenant);
    return this.#childrenOf(owner) === 0 && !isStarting;
  }

  #childrenOf({ tenant }: WorkerOwner): number {
    return [...this.#all].filter((worker) => worker.owner.tenant === tenant).length;
  }

  #hasRoom(most: number): boolean {
    return !this.#closed && this.#all.size < most && this.#starting.size < most;
  }

  /** Makes room for a child of this owner. False where all are at work, or may be in a moment. */
  #endIdleFor(owner: WorkerOwner): boolean {
    if (this.#closed || this.#starting.size >= this.#room) return false;
    const now = performance.now();
    const hasChild = this.#childrenOf(owner) > 0;
    const leftMs = this.#idle.map((worker) => {
      const mostMs = hasChild && worker.owner.tenant !== owner.tenant ? betweenStatementsMs : betweenJobsMs;
      return (this.#turns.get(worker)?.idleAt ?? 0) + mostMs - now;
    });
    const index = leftMs.findIndex((ms) => ms <= 0);
    const [worker] = index < 0 ? [] : this.#idle.splice(index, 1);
    if (worker !== undefined) this.#end(worker);
    else if (leftMs.length > 0) this.#recheckIn(Math.min(...leftMs));
    return worker !== undefined;
  }

  #recheckIn(ms: number): void {
    const atMs = performance.now() + ms;
    if (this.#recheck !== undefined && this.#recheck.atMs <= atMs) return;
    clearTimeout(this.#recheck?.timer);
    const recheck = (): void => {
      this.#recheck = undefined;
      this.#startForDemand();
    };
    this.#recheck = { atMs, timer: setTimeout(recheck, ms).unref() };
  }

  /** A child of the owner, in its turn. `listed`: the catalogs that it should show. */
  acquire(
    { signal, lane, owner = ownWork, isLetIn = false }: AcquireOptions,
    listed: string | undefined,
  ): Promise<WorkerProcess> {
    signal.throwIfAborted();
    if (this.#closed) return Promise.reject(serverStopping());
    for (let idle = this.#takeIdle(owner, listed); idle !== undefined; idle = this.#takeIdle(owner, listed)) {
      if (!idle.ended) return Promise.resolve(idle);
    }
    if (!isLetIn && this.#queues.isFullFor(owner, this.#options.maxQueue)) {
      return Promise.reject(
        new AppError('overloaded', `${this.#queues.size} jobs are waiting already`, {
          hint: 'try again in a moment',
          retryAfterSeconds: 1,
        }),
      );
    }
    const worker = this.#queues.wait(owner, { signal, lane });
    this.#startForDemand();
    return worker;
  }

  /**
   * The child used last. A query of catalogs prefers a child that shows the same ones, then one that shows any: building them
   * takes time, and oids are valid in one process only.
   */
  #takeIdle({ key }: WorkerOwner, listed: string | undefined): WorkerProcess | undefined {
    const find = (fits: (worker: WorkerProcess) => boolean): number =>
      this.#idle.findLastIndex((worker) => worker.owner.key === key && fits(worker));
    let index = listed === undefined ? -1 : find((worker) => worker.listed === listed);
    if (index < 0 && listed !== undefined) index = find((worker) => worker.listed !== undefined);
    if (index < 0) index = find(() => true);
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0];
  }

  /** Its job is over. */
  release(worker: WorkerProcess): void {
    if (worker.ended || this.#closed) return;
    const other = this.#neglected(worker);
    const isSurplus = this.#all.size > this.#room && this.#surplusEnds === undefined;
    if (isSurplus && this.#startingOf(worker.owner) === 0) {
      // The only child of its owner may be the surplus one, which was started to serve.
      if (this.#childrenOf(worker.owner) > 1 || !this.#queues.serve(worker)) this.#end(worker);
    } else if (other !== undefined) {
      this.#end(worker);
      this.#start(other);
    } else if (!this.#queues.serve(worker)) {
      const turn = this.#turns.get(worker);
      if (turn !== undefined) turn.idleAt = performance.now();
      this.#idle.push(worker);
      this.#startForDemand();
    }
  }

  /** An owner that has waited for long, has fewer children than the owner of this child, and none starting. */
  #neglected(worker: WorkerProcess): WorkerOwner | undefined {
    const now = performance.now();
    if (now < (this.#turns.get(worker)?.endsAt ?? 0)) return undefined;
    const isNeglected = ({ owner, since }: { readonly owner: WorkerOwner; readonly since: number }): boolean =>
      now - since >= turnMs && this.#childrenOf(owner) < this.#childrenOf(worker.owner) && this.#missing(owner) > 0;
    return this.#queues.turns().find(isNeglected)?.owner;
  }

  /** Jobs of the owner that wait without a child starting for them. */
  #missing(owner: WorkerOwner): number {
    return this.#queues.sizeOf(owner) - this.#startingOf(owner);
  }

  #startingOf({ key }: WorkerOwner): number {
    return [...this.#starting].filter((start) => start.owner.key === key).length;
  }

  #failWaiting(cause: unknown): void {
    this.#queues.refuseAll(
      new AppError('engine_crashed', 'no worker process could be started', { retryAfterSeconds: 1, cause }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#surplusEnds);
    this.#failWaiting(new Error('the pool is closed'));
    const workers = [...this.#all, ...this.#ending];
    for (const worker of workers) worker.kill('not_needed');
    await Promise.all(workers.map((worker) => worker.cleared()));
  }
}
