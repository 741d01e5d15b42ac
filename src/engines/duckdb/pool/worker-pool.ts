import { TimeoutList } from '@framehold/async';
import { Deadline } from '../../../core/async/deadline.ts';
import { AppError, workTimedOut } from '../../../core/errors/app-error.ts';
import { errorType } from '../../../core/errors/error-type.ts';
import type { Span } from '../../../core/logs/span.ts';
import { inQueue, type StatementCosts } from '../../../core/logs/statement-costs.ts';
import type { Job } from '../protocol/protocol.ts';
import { type JobPlace, JobPlaces } from './job-places.ts';
import type { MeasuredJob, MeasuredShares } from './measured-shares.ts';
import { type AcquireOptions, OwnedWorkers, type OwnedWorkersOptions, turnMs } from './owned-workers.ts';
import { type ParkReason, ParkReasons } from './park-reasons.ts';
import { SlowClientClock } from './slow-client-clock.ts';
import { Suspension } from './suspension.ts';
import { listingOf, type WorkerExit, type WorkerOwner, type WorkerProcess } from './worker-process.ts';

export interface PoolOptions extends OwnedWorkersOptions {
  /** Most time that a read or a statement may work, without the time of its reader. 0 = without limit. */
  readonly timeoutMs: number;
  /** Most time without bytes read or written, for a job without a time limit that waits neither for its client nor for a job. */
  readonly stallMs: number;
  /** Shared by all pools. Default: each child may spill as much as its settings allow. */
  readonly spill?: MeasuredShares | undefined;
  /** Default: each child may have as much as the kernel gives it. */
  readonly memory?: MeasuredShares | undefined;
}

export interface RunOptions extends AcquireOptions {
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** The time that the reader takes is counted, too. Default false. */
  readonly countsReader?: boolean | undefined;
  /** Time of the job that is already used. Default: 0. */
  readonly spentMs?: number | undefined;
  /** Takes the row messages of a job that arrive together with its answer: then none of them is yielded. */
  readonly takeWhole?: ((messages: readonly Buffer[]) => void) | undefined;
  /** Called at the end with the working time, without the wait for a worker. */
  readonly onSpent?: ((ms: number) => void) | undefined;
  /** The parent span, if the request is traced. */
  readonly span?: Span | undefined;
  /** Receives the costs of the job. */
  readonly costs?: StatementCosts | undefined;
}

/** Counters of a pool. */
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

/** Most time without a sign of life for a job without a time limit; longer where statements may work longer. */
const leastSilenceMs = 5000;
const backgroundSilenceMs = 60_000;

/** A child that waits so long for its client is held by it: another one may work in its place. */
const heldAfterMs = 500;

/** Far longer than what DuckDB computes in memory without a look at a file. */
export const longestStallMs = 10 * 60_000;

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

/** A few child processes that share a fair queue of jobs. */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #workers: OwnedWorkers;
  readonly #deadlines: TimeoutList;
  readonly #places: Readonly<Record<'read' | 'write', JobPlaces>>;
  #jobs = 0;
  #busy = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#deadlines = new TimeoutList(options.timeoutMs);
    this.#places = { read: new JobPlaces(options), write: new JobPlaces(options) };
    this.#workers = new OwnedWorkers(options);
  }

  get #silenceMs(): number {
    const { timeoutMs } = this.#options;
    return timeoutMs === 0 ? backgroundSilenceMs : Math.max(timeoutMs, leastSilenceMs);
  }

  get figures(): PoolFigures {
    return {
      busy: this.#busy,
      idle: this.#workers.idleCount,
      starting: this.#workers.startingCount,
      waiting: this.#workers.waitingCount + this.#places.read.waiting + this.#places.write.waiting,
      jobs: this.#jobs,
      exits: this.#workers.exits,
      pids: this.#workers.pids,
    };
  }

  /** The places of work on frames, which tenants share. */
  get places(): { readonly reads: JobPlaces; readonly writes: JobPlaces } {
    return { reads: this.#places.read, writes: this.#places.write };
  }

  /** Starts a child, if there is none yet, for a job that will follow. */
  expect(owner: WorkerOwner): void {
    this.#workers.expect(owner);
  }

  /** Row messages of a job, then its answer. If its worker dies before the first message, the job runs once more. */
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
      const worker = await inQueue(options, () => this.#workers.acquire(options, listingOf(job)?.signature));
      const working = options.span?.child('worker', { 'framehold.job': job.kind });
      let failure: string | undefined;
      this.#jobs++;
      this.#busy++;
      const { timed, repeatable } = jobRules[job.kind];
      const begunAt = performance.now();
      const leftMs = Math.max(1, timeoutMs - (options.spentMs ?? 0));
      const deadline = timed !== false && timeoutMs > 0 ? new Deadline(leftMs, undefined, this.#deadlines) : undefined;
      const silenceMs = timed === false ? this.#silenceMs : undefined;
      const parkReasons = new ParkReasons((isParked) => this.#workers.park(isParked));
      const suspension = new Suspension(worker, deadline, parkReasons);
      place?.begin({ suspend: () => suspension.suspend('turn'), resume: () => suspension.resume('turn') });
      const measured: MeasuredJob = {
        pid: worker.pid,
        spillDirectory: worker.spillDirectory,
        lane: options.lane ?? worker.owner.tenant,
        suspend: (why) => suspension.suspend(why),
        resume: (why) => suspension.resume(why),
        stop: (error) => worker.stopJob(error),
      };
      const spill = this.#options.spill?.watch(measured);
      const memory = this.#options.memory?.watch(measured);
      const long = place && setTimeout(() => parkReasons.add('long'), turnMs).unref();
      let inputMs = 0;
      const noteInput = (ms: number): void => {
        inputMs += ms;
      };
      const client = { worker, parkReasons, place };
      const input = options.input === undefined ? undefined : this.#watched(options.input, noteInput, client);
      const { signal, takeWhole } = options;
      const { stallMs } = this.#options;
      const progress = { mostMs: stallMs, isExcused: () => parkReasons.waitsForClient };
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
        memory?.[Symbol.dispose]();
        suspension.end();
        this.#busy--;
        parkReasons.end();
        this.#workers.release(worker);
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

  /** `onWaited` gets the waiting time of each piece. */
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workers[Symbol.asyncDispose]();
  }
}

/** The client that reads the rows of a job or sends its input: what the job gives up while it waits for that client. */
interface JobClient {
  readonly worker: WorkerProcess;
  readonly parkReasons: ParkReasons;
  readonly place: JobPlace | undefined;
}

function slowClientClock(side: ParkReason, { worker, parkReasons, place }: JobClient): SlowClientClock {
  return new SlowClientClock({
    heldAfterMs,
    onHeld: () => {
      place?.leave();
      worker.hold(true);
      parkReasons.add(side);
    },
    onFreed: () => {
      parkReasons.delete(side);
      worker.hold(false);
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
  // Reading the counter costs some microseconds, and a statement that spills takes longer.
  if (spentMs >= leastSpillMs) costs.spilledBytes += worker.written?.take() ?? 0;
}
