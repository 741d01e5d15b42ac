import { AppError, serverStopping, workTimedOut } from '../../../core/app-error.ts';
import { Deadline } from '../../../core/async/deadline.ts';
import { TimeoutList } from '../../../core/async/timeout-list.ts';
import { errorType } from '../../../core/error-type.ts';
import type { Logger } from '../../../core/logger.ts';
import type { Span } from '../../../core/span.ts';
import { inQueue, type StatementCosts } from '../../../core/statement-costs.ts';
import type { Job } from '../protocol/protocol.ts';
import { Aside, type AsideReason } from './aside.ts';
import { type JobPlace, JobPlaces } from './job-places.ts';
import { OwnerQueues } from './owner-queues.ts';
import { SlowClientClock } from './slow-client-clock.ts';
import type { SpillShares } from './spill-shares.ts';
import { Suspension } from './suspension.ts';
import {
  listingOf,
  type PoolSettings,
  type WorkerExit,
  type WorkerOwner,
  WorkerProcess,
  workerExits,
} from './worker-process.ts';

export interface PoolOptions {
  readonly entry: URL;
  readonly workers: number;
  /** Jobs that may wait for a worker; one more is refused. */
  readonly maxQueue: number;
  /** Children beyond the workers, of jobs that wait for their clients or for others: they take memory, if no time. */
  readonly mostAside: number;
  /** How long a read or a statement may work, the time that its reader takes not counted. 0 = without limit. */
  readonly timeoutMs: number;
  readonly settings: PoolSettings;
  /** How long a job that may take any time may read and write nothing, while it does not wait for its client or for others. */
  readonly stallMs: number;
  /** Of all pools together. Default: each child may spill what its settings say. */
  readonly spill?: SpillShares | undefined;
  readonly logger: Logger;
  /** Start the children at once rather than with the first job. */
  readonly warm: boolean;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  /** Only a child of this owner runs the job. Default: one of the server's own. */
  readonly owner?: WorkerOwner | undefined;
  readonly lane?: string | undefined;
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** Of a request that was let in already: it may wait however many others do. */
  readonly isLetIn?: boolean | undefined;
  /** The time that the reader takes is counted, too. Default false. */
  readonly countsReader?: boolean | undefined;
  /** Of its time, what is used up already. Default: nothing. */
  readonly spentMs?: number | undefined;
  /** Takes the row messages of a job that come together with its answer: then none of them is yielded. */
  readonly takeWhole?: ((messages: readonly Buffer[]) => void) | undefined;
  /** Told at the end what the work took, without waiting for a worker. */
  readonly onSpent?: ((ms: number) => void) | undefined;
  /** What the job is part of, where that is traced. */
  readonly span?: Span | undefined;
  /** Where what the job takes is noted. */
  readonly costs?: StatementCosts | undefined;
}

/** How a pool is. */
export interface PoolFigures {
  readonly busy: number;
  readonly idle: number;
  readonly starting: number;
  /** Jobs that wait for a child. */
  readonly waiting: number;
  /** Jobs that were begun since the start. */
  readonly jobs: number;
  /** Children that ended since the start, by the reason. */
  readonly exits: ReadonlyMap<WorkerExit, number>;
  /** Process ids of the children that live now. */
  readonly pids: readonly number[];
}

/** How long work that may take any time may go on without a sign of life; longer where statements may work longer. */
const leastSilenceMs = 5000;
const backgroundSilenceMs = 60_000;

/** A child that waits so long for its client is held by it: another one may work in its place. */
const heldAfterMs = 500;

/**
 * So long an owner waits before a child of another who has more of them is ended for it, and so long a child may work for its
 * owner before: a few times what a process takes to start, so that owners who take turns do not spend most of the time on that.
 */
const turnMs = 250;
const startsPerTurn = 2;
/** A statement is several jobs: its next one may be on its way to a child that is idle for less. */
const betweenJobsMs = 20;

/** Far longer than what DuckDB computes in memory without a look at a file. */
export const longestStallMs = 10 * 60_000;

const ownWork: WorkerOwner = { key: '', tenant: '', sql: undefined };

/** After a child that did not even start, wait this long before the next try. */
const restartDelayMs = 1000;

interface JobRules {
  /** By each message where a reader may want any amount; writes, copies and checksums take as long as their files are large. */
  readonly timed: 'whole' | 'message' | false;
  /** May run again on another worker when its own has died. Callers' SQL would only end the next one, too. */
  readonly repeatable: boolean;
  /** Work of the server's own, for which tenants share places: reads never wait for writes. Children of callers' SQL have owners. */
  readonly places?: 'read' | 'write';
}

const jobRules = {
  probe: { timed: 'whole', repeatable: true, places: 'read' },
  read: { timed: 'message', repeatable: true, places: 'read' },
  hasChecksum: { timed: false, repeatable: true, places: 'read' },
  countChanges: { timed: false, repeatable: true, places: 'write' },
  write: { timed: false, repeatable: false, places: 'write' },
  warm: { timed: false, repeatable: false, places: 'write' },
  createDatabase: { timed: false, repeatable: false },
  analyze: { timed: 'whole', repeatable: false },
  describe: { timed: 'whole', repeatable: false },
  query: { timed: 'whole', repeatable: false },
  // It takes as long as the other engine does, which has a time limit of its own.
  recode: { timed: false, repeatable: false },
  analyticsTables: { timed: 'whole', repeatable: true },
} as const satisfies Record<Job['kind'], JobRules>;

/**
 * A few warm child processes that share a fair queue of jobs. A child that dies is replaced. It belongs to one owner for all its
 * life: where all are others', the one that has been idle for the longest time ends, and a new one takes its place.
 */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #all = new Set<WorkerProcess>();
  /** Those used last at the end. */
  readonly #idle: WorkerProcess[] = [];
  /** Of each child: when its turn may end, and since when it has been idle. */
  readonly #turns = new WeakMap<WorkerProcess, { readonly endsAt: number; idleAt: number }>();
  #recheck: NodeJS.Timeout | undefined;
  readonly #ending = new Set<WorkerProcess>();
  readonly #queues = new OwnerQueues();
  /** The owners of those that are being started; of one that failed, until the next may be tried. */
  readonly #starting = new Set<{ readonly owner: WorkerOwner }>();
  readonly #deadlines: TimeoutList;
  readonly #places: Readonly<Record<'read' | 'write', JobPlaces>>;
  /** All reasons are there from the start: who watches their growth would miss the first. */
  readonly #exits = new Map(workerExits.map((reason) => [reason, 0]));
  #jobs = 0;
  #busy = 0;
  #aside = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#deadlines = new TimeoutList(options.timeoutMs);
    this.#places = { read: new JobPlaces(options), write: new JobPlaces(options) };
    if (options.warm) for (let n = 0; n < options.workers; n++) this.#start(ownWork);
  }

  get #silenceMs(): number {
    const { timeoutMs } = this.#options;
    return timeoutMs === 0 ? backgroundSilenceMs : Math.max(timeoutMs, leastSilenceMs);
  }

  get figures(): PoolFigures {
    return {
      busy: this.#busy,
      idle: this.#idle.length,
      starting: this.#starting.size,
      waiting: this.#queues.size + this.#places.read.waiting + this.#places.write.waiting,
      jobs: this.#jobs,
      exits: this.#exits,
      pids: [...this.#all].flatMap((worker) => worker.pid ?? []),
    };
  }

  /** Of work on frames: the places that tenants share. */
  get places(): { readonly reads: JobPlaces; readonly writes: JobPlaces } {
    return { reads: this.#places.read, writes: this.#places.write };
  }

  /** Starts a child, where there is none yet, for a job that is to come. */
  expect(owner: WorkerOwner): void {
    if (!this.#closed && this.#all.size === 0 && this.#starting.size === 0) this.#start(owner);
  }

  /** Row messages of a job, then its answer. Where nothing was yielded yet, a job whose worker died runs once more. */
  async *run(job: Job, options: RunOptions): AsyncGenerator<Buffer, unknown, undefined> {
    const { places }: JobRules = jobRules[job.kind];
    if (places === undefined) return yield* this.#run(job, options, undefined);
    using place = await inQueue(options, () => this.#places[places].enter(options));
    return yield* this.#run(job, { ...options, signal: place.signal }, place);
  }

  async *#run(job: Job, options: RunOptions, place: JobPlace | undefined): AsyncGenerator<Buffer, unknown, undefined> {
    const { timeoutMs } = this.#options;
    let yielded = false;
    for (let attempt = 1; ; attempt++) {
      const worker = await inQueue(options, () => this.#acquire(options, listingOf(job)?.signature));
      const working = options.span?.child('worker', { 'framehold.job': job.kind });
      let failure: string | undefined;
      this.#jobs++;
      this.#busy++;
      const { timed, repeatable } = jobRules[job.kind];
      const begunAt = performance.now();
      const leftMs = Math.max(1, timeoutMs - (options.spentMs ?? 0));
      const deadline = timed !== false && timeoutMs > 0 ? new Deadline(leftMs, undefined, this.#deadlines) : undefined;
      const silenceMs = timed === false ? this.#silenceMs : undefined;
      const aside = this.#newAside();
      const suspension = new Suspension(worker, deadline, aside);
      place?.begin({ suspend: () => suspension.suspend('turn'), resume: () => suspension.resume('turn') });
      const spill = this.#options.spill?.watch({
        directory: worker.spillDirectory,
        lane: options.lane ?? worker.owner.tenant,
        suspend: () => suspension.suspend('spill'),
        resume: () => suspension.resume('spill'),
        stop: (error) => worker.stopJob(error),
      });
      const long = place && setTimeout(() => aside.add('long'), turnMs).unref();
      let inputMs = 0;
      const noteInput = (ms: number): void => {
        inputMs += ms;
      };
      const client = { aside, place };
      const input = options.input === undefined ? undefined : this.#watched(options.input, noteInput, client);
      const { signal, takeWhole } = options;
      const { stallMs } = this.#options;
      const progress = { mostMs: stallMs, isExcused: () => aside.waitsForClient };
      const messages = worker.execute(job, { signal, deadline, input, silenceMs, progress, takeWhole });
      const reader = slowClientClock('reader', client);
      let readerMs = 0;
      try {
        for (;;) {
          const step = await messages.next();
          if (step.done === true) return step.value;
          yielded = true;
          if (options.costs !== undefined) options.costs.bytes += step.value.length;
          const clock = options.countsReader === true ? undefined : deadline;
          clock?.pause();
          suspension.isTimed = clock === undefined;
          const yieldedAt = performance.now();
          reader.start();
          yield step.value;
          reader.stop();
          readerMs += performance.now() - yieldedAt;
          if (timed === 'message') clock?.restart();
          else clock?.resume();
          suspension.isTimed = true;
          if (suspension.isSuspended) deadline?.pause();
        }
      } catch (error) {
        failure = errorType(error);
        if (deadline?.isOver === true && !options.signal.aborted) throw workTimedOut(timeoutMs, error);
        const isCrash = error instanceof AppError && error.code === 'engine_crashed';
        if (!isCrash || !repeatable || yielded || attempt > 1) throw error;
        this.#options.logger.warn('a worker died under a read; the read runs once more', { job: job.kind });
      } finally {
        deadline?.stop();
        clearTimeout(long);
        reader.end();
        working?.end(failure);
        await messages.return(undefined);
        spill?.[Symbol.dispose]();
        suspension.end();
        this.#busy--;
        aside.end();
        this.#release(worker);
        const spentMs = performance.now() - begunAt - suspension.ms;
        options.onSpent?.(spentMs);
        if (options.costs !== undefined) noteWork(options.costs, worker, { spentMs, readerMs, inputMs });
      }
    }
  }

  /** The answer of a job that has no rows. */
  async call(job: Job, options: RunOptions): Promise<unknown> {
    const messages = this.run(job, options);
    for (;;) {
      const step = await messages.next();
      if (step.done === true) return step.value;
    }
  }

  /** `onWaited`: told how long each piece was waited for. */
  async *#watched(
    input: AsyncIterable<Uint8Array>,
    onWaited: (ms: number) => void,
    client: JobClient,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const sender = slowClientClock('sender', client);
    let askedAt = performance.now();
    try {
      sender.start();
      for await (const piece of input) {
        sender.stop();
        onWaited(performance.now() - askedAt);
        yield piece;
        askedAt = performance.now();
        sender.start();
      }
    } finally {
      sender.end();
    }
  }

  #newAside(): Aside {
    return new Aside((isAside) => {
      this.#aside += isAside ? 1 : -1;
      if (isAside) this.#startForDemand();
      else this.#endSurplus();
    });
  }

  get #room(): number {
    const { workers } = this.#options;
    return workers + Math.min(this.#aside, this.#options.mostAside);
  }

  #endSurplus(): void {
    while (this.#all.size > this.#room) {
      // One that is ready stays rather than one that is still starting.
      const index = this.#idle.findLastIndex(({ owner }) => this.#startingOf(owner) === 0);
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
      this.#release(worker);
    }, failed);
    worker.exited.then(() => {
      if (!this.#closed) this.#exits.set(worker.exit, (this.#exits.get(worker.exit) ?? 0) + 1);
      this.#all.delete(worker);
      this.#ending.delete(worker);
      const index = this.#idle.indexOf(worker);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#startForDemand();
    });
  }

  /** Starts as many children as the waiting jobs need and the pool may have, or those of a pool that is kept warm. */
  #startForDemand(): void {
    const { warm, workers } = this.#options;
    while (warm && this.#hasRoom(workers)) this.#start(ownWork);
    // Those aside may be so for long: one is there for whoever comes.
    if (warm && this.#idle.length + this.#starting.size === 0 && this.#hasRoom(this.#room)) this.#start(ownWork);
    for (const { owner } of this.#queues.turns()) {
      while (this.#missing(owner) > 0) {
        if (!this.#hasRoom(this.#room) && !this.#endIdle() && !this.#isShutOut(owner)) break;
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

  /** Makes room for a child of another owner. False where all are at work, or may be in a moment. */
  #endIdle(): boolean {
    const [oldest] = this.#idle;
    if (oldest === undefined || this.#closed || this.#starting.size >= this.#room) return false;
    const idleMs = performance.now() - (this.#turns.get(oldest)?.idleAt ?? 0);
    if (idleMs < betweenJobsMs) {
      this.#recheck ??= setTimeout(() => {
        this.#recheck = undefined;
        this.#startForDemand();
      }, betweenJobsMs).unref();
      return false;
    }
    this.#idle.shift();
    this.#end(oldest);
    return true;
  }

  #acquire(
    { signal, lane, owner = ownWork, isLetIn = false }: RunOptions,
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
   * The one used last. If catalogs are read, one that shows these, or others: to make them takes time, and their oids are those
   * of the process.
   */
  #takeIdle({ key }: WorkerOwner, listed: string | undefined): WorkerProcess | undefined {
    const find = (fits: (worker: WorkerProcess) => boolean): number =>
      this.#idle.findLastIndex((worker) => worker.owner.key === key && fits(worker));
    let index = listed === undefined ? -1 : find((worker) => worker.listed === listed);
    if (index < 0 && listed !== undefined) index = find((worker) => worker.listed !== undefined);
    if (index < 0) index = find(() => true);
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0];
  }

  #release(worker: WorkerProcess): void {
    if (worker.ended || this.#closed) return;
    const other = this.#neglected(worker);
    if (this.#all.size > this.#room && this.#startingOf(worker.owner) === 0) {
      // The only child of its owner may be the one too many, which is there to serve.
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

  /** Who has waited for long, with fewer children than the owner of this one, and with none on its way. */
  #neglected(worker: WorkerProcess): WorkerOwner | undefined {
    const now = performance.now();
    if (now < (this.#turns.get(worker)?.endsAt ?? 0)) return undefined;
    const isNeglected = ({ owner, since }: { readonly owner: WorkerOwner; readonly since: number }): boolean =>
      now - since >= turnMs && this.#childrenOf(owner) < this.#childrenOf(worker.owner) && this.#missing(owner) > 0;
    return this.#queues.turns().find(isNeglected)?.owner;
  }

  /** How many of its jobs wait for a child that is not on its way yet. */
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
    this.#failWaiting(new Error('the pool is closed'));
    const workers = [...this.#all, ...this.#ending];
    for (const worker of workers) worker.kill('not_needed');
    await Promise.all(workers.map((worker) => worker.exited));
  }
}

/** Who reads the rows of a job or sends its input, and what its job gives up while it waits for them. */
interface JobClient {
  readonly aside: Aside;
  readonly place: JobPlace | undefined;
}

function slowClientClock(who: AsideReason, { aside, place }: JobClient): SlowClientClock {
  return new SlowClientClock({
    heldAfterMs,
    onHeld: () => {
      place?.leave();
      aside.add(who);
    },
    onFreed: () => {
      aside.delete(who);
      place?.goOn();
    },
  });
}

const leastSpillMs = 50;

/** While it waits for its input, another one works. */
function noteWork(
  costs: StatementCosts,
  worker: WorkerProcess,
  { spentMs, readerMs, inputMs }: { readonly spentMs: number; readonly readerMs: number; readonly inputMs: number },
): void {
  costs.workMs += Math.max(0, spentMs - readerMs - inputMs);
  costs.readerMs += readerMs;
  // To ask costs some microseconds, and who spills takes longer.
  if (spentMs >= leastSpillMs) costs.spilledBytes += worker.written?.take() ?? 0;
}
