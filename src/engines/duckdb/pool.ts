import { AppError } from '../../core/app-error.ts';
import type { Logger } from '../../core/logger.ts';
import { FairQueue } from './fair-queue.ts';
import type { Job, WorkerSettings } from './protocol.ts';
import { WorkerProcess } from './worker-process.ts';

export interface PoolOptions {
  readonly entry: URL;
  readonly workers: number;
  /** Jobs that may wait for a worker; one more is refused. */
  readonly maxQueue: number;
  /** How long a read may run. 0 = without limit. Writes and checksums take as long as their files are large. */
  readonly timeoutMs: number;
  readonly settings: WorkerSettings;
  readonly logger: Logger;
  /** Start the children at once rather than with the first job. */
  readonly warm: boolean;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly lane?: string | undefined;
  readonly input?: AsyncIterable<Uint8Array> | undefined;
}

type Turn = (worker: WorkerProcess) => void;

/** After a child that did not even start, wait this long before the next try. */
const restartDelayMs = 1000;

/** A few warm child processes that share a fair queue of jobs. A child that dies is replaced. */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #all = new Set<WorkerProcess>();
  readonly #idle: WorkerProcess[] = [];
  readonly #queue = new FairQueue<Turn>();
  #starting = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    if (options.warm) for (let n = 0; n < options.workers; n++) this.#start();
  }

  /** Process ids of the children that live now. */
  get pids(): number[] {
    return [...this.#all].flatMap((worker) => worker.pid ?? []);
  }

  /** Row messages of a job, then its answer. Where nothing was yielded yet, a job whose worker died runs once more. */
  async *run(job: Job, options: RunOptions): AsyncGenerator<Buffer, unknown, undefined> {
    const { timeoutMs } = this.#options;
    let yielded = false;
    for (let attempt = 1; ; attempt++) {
      const worker = await this.#acquire(options);
      const isTimed = timeoutMs > 0 && (job.kind === 'read' || job.kind === 'probe');
      const deadline = isTimed ? AbortSignal.timeout(timeoutMs) : undefined;
      const signal = deadline === undefined ? options.signal : AbortSignal.any([options.signal, deadline]);
      const messages = worker.execute(job, { signal, input: options.input });
      try {
        for (;;) {
          const step = await messages.next();
          if (step.done === true) return step.value;
          yielded = true;
          yield step.value;
        }
      } catch (error) {
        if (deadline?.aborted && !options.signal.aborted) throw timedOut(timeoutMs, error);
        const repeatable = !yielded && job.kind !== 'write' && job.kind !== 'createDatabase' && attempt === 1;
        if (!(error instanceof AppError && error.code === 'engine_crashed' && repeatable)) throw error;
        this.#options.logger.warn('a worker died under a read; the read runs once more', { job: job.kind });
      } finally {
        await messages.return(undefined);
        this.#release(worker);
      }
    }
  }

  #start(): void {
    this.#starting++;
    const { entry, settings, logger } = this.#options;
    const worker = new WorkerProcess(entry, settings, logger);
    this.#all.add(worker);
    worker.ready.then(
      () => {
        this.#starting--;
        this.#release(worker);
      },
      (error) => {
        if (this.#closed) return;
        logger.error('a worker did not start', { error });
        this.#failWaiting(error);
        setTimeout(() => {
          this.#starting--;
          this.#startForDemand();
        }, restartDelayMs).unref();
      },
    );
    worker.exited.then(() => {
      this.#all.delete(worker);
      const index = this.#idle.indexOf(worker);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#startForDemand();
    });
  }

  /** Keeps as many children as the pool may have, or as its jobs need when it is not kept warm. */
  #startForDemand(): void {
    const wanted = this.#options.warm ? this.#options.workers : Math.min(this.#options.workers, this.#queue.size);
    while (!this.#closed && this.#all.size < wanted && this.#starting < wanted) this.#start();
  }

  #acquire({ signal, lane = '' }: RunOptions): Promise<WorkerProcess> {
    signal.throwIfAborted();
    if (this.#closed) return Promise.reject(new AppError('overloaded', 'the server is shutting down'));
    const idle = this.#idle.pop();
    if (idle !== undefined) return Promise.resolve(idle);
    if (this.#queue.size >= this.#options.maxQueue) {
      return Promise.reject(
        new AppError('overloaded', `${this.#queue.size} jobs are waiting already`, {
          hint: 'try again in a moment',
          retryAfterSeconds: 1,
        }),
      );
    }
    return new Promise((resolve, reject) => {
      const turn: Turn = Object.assign(
        (worker: WorkerProcess) => {
          signal.removeEventListener('abort', giveUp);
          resolve(worker);
        },
        { reject },
      );
      const giveUp = (): void => {
        this.#queue.remove(lane, turn);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#queue.push(lane, turn);
      this.#startForDemand();
    });
  }

  #release(worker: WorkerProcess): void {
    if (worker.ended || this.#closed) return;
    const turn = this.#queue.shift();
    if (turn === undefined) this.#idle.push(worker);
    else turn(worker);
  }

  #failWaiting(cause: unknown): void {
    for (let turn = this.#queue.shift(); turn !== undefined; turn = this.#queue.shift()) {
      (turn as Turn & { reject(error: Error): void }).reject(
        new AppError('engine_crashed', 'no worker process could be started', { retryAfterSeconds: 1, cause }),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#failWaiting(new Error('the pool is closed'));
    const workers = [...this.#all];
    for (const worker of workers) worker.kill();
    await Promise.all(workers.map((worker) => worker.exited));
  }
}

function timedOut(timeoutMs: number, cause: unknown): AppError {
  return new AppError('sql_timeout', `the work took longer than ${timeoutMs / 1000} s`, {
    hint: 'ask for less at once, or let the operator raise sql.timeout',
    cause,
  });
}
