import { type ChildProcess, fork } from 'node:child_process';
import { Socket } from 'node:net';
import { getPriority, setPriority } from 'node:os';
import type { Deadline } from '../../../core/async/deadline.ts';
import type { Logger } from '../../../core/logs/logger.ts';
import {
  type CatalogListing,
  type Command,
  dataDescriptor,
  type Job,
  MessageParser,
  messageHeader,
  messageKind,
  type SqlSettings,
  unconfined,
  type WireError,
  type WorkerMessage,
  type WorkerSettings,
} from '../protocol/protocol.ts';
import { SharedFile } from '../protocol/shared-file.ts';
import { JobProgress } from './job-progress.ts';
import { newSpillDirectory, removeSpillDirectory } from './spill-directory.ts';
import { crashed, fromWire, noProgress } from './worker-errors.ts';
import { WrittenBytes } from './written-bytes.ts';

/** The lowest priority of niceness. */
const lowest = 19;
/** However much there is to compute, the process that answers has the processor first. */
const behindServer = 5;
/** A cancelled job that runs longer than this has its process killed. */
const cancelGraceMs = 1000;
/** Most time for the start of a process. */
const mostStartMs = 30_000;
const pulseMs = 1000;
/** Input that is buffered for a worker that is slower than the sender. */
const mostQueuedInput = 256 * 1024;
/** With this many messages buffered for a slow reader, reading stops; one read from the pipe may bring a few more. */
const maxWaitingMessages = 2;

const living = new Set<ChildProcess>();
// A running child ends itself when its parent dies; a starting one could outlive us until it runs.
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** The settings that all children of a pool share. */
export type PoolSettings = Omit<WorkerSettings, 'hasSharedFile' | 'sql'>;

export interface ExecuteOptions {
  readonly signal: AbortSignal;
  /** The job is stopped when this is over, as by the signal. */
  readonly deadline?: Deadline | undefined;
  /** Bytes that the job reads. */
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** Most time without a sign of life from the process, for a job without a time limit. */
  readonly silenceMs?: number | undefined;
  /** For such a job: most time without any bytes read or written, unless it waits for its client. */
  readonly progress?: { readonly mostMs: number; isExcused(): boolean } | undefined;
  /** Takes the row messages if they arrive together with the answer: then none of them is yielded. */
  readonly takeWhole?: ((messages: readonly Buffer[]) => void) | undefined;
}

/** The purpose of a child for all its life: callers' SQL with one reach, or the server's own work. */
export interface WorkerOwner {
  /** The same where the reach is. */
  readonly key: string;
  /** The tenant whose turn it takes: several reaches may belong to one tenant. */
  readonly tenant: string;
  readonly sql: SqlSettings | undefined;
}

/** Why a child ended: by itself, or the reason for which its parent ended it. */
export const workerExits = [
  'crashed',
  /** It did not start in time, or at all. */
  'did_not_start',
  /** A job that was cancelled went on. */
  'did_not_stop',
  'no_sign_of_life',
  /** DuckDB said that it cannot go on. */
  'failed',
  /** Others needed its place, or it was surplus. */
  'not_needed',
] as const;

export type WorkerExit = (typeof workerExits)[number];

/** One DuckDB child process as its parent sees it: one job at a time. */
export class WorkerProcess {
  readonly owner: WorkerOwner;
  readonly spillDirectory: string;
  readonly #child: ChildProcess;
  readonly #data: Socket;
  readonly #shared: SharedFile | undefined;
  readonly #logger: Logger;
  readonly #isBackground: boolean;
  readonly #parser = new MessageParser();
  readonly #waiting: WorkerMessage[] = [];
  #wake: (() => void) | undefined;
  #stderr = '';
  #ended = false;
  #turn = 0;
  #hasInput = false;
  #isSuspended = false;
  /** Stops the running job, with this error. */
  #stopJob: ((error: Error) => void) | undefined;
  /** Signature of the tables that its catalogs show; undefined if unknown. */
  listed: string | undefined;
  /** Undefined where it did not start. */
  readonly written: WrittenBytes | undefined;
  /** Why it ended, once it has. */
  exit: WorkerExit = 'did_not_start';
  /** The kernel does not keep it from files as it should. Known once it is ready. */
  isUnconfined = false;

  /** Resolves when the child can take jobs; rejects when it ends before. */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  #spillRemoved: Promise<void> | undefined;

  constructor(entry: URL, settings: PoolSettings, owner: WorkerOwner, logger: Logger) {
    this.owner = owner;
    this.#logger = logger;
    this.#isBackground = settings.lowPriority;
    const tempDirectory = newSpillDirectory(settings.tempDirectory);
    this.spillDirectory = tempDirectory;
    this.#shared = SharedFile.open();
    const hasSharedFile = this.#shared !== undefined;
    const childSettings: WorkerSettings = { ...settings, tempDirectory, hasSharedFile, sql: owner.sql };
    try {
      this.#child = fork(entry, [JSON.stringify(childSettings)], {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe', this.#shared?.descriptor ?? 'ignore'],
        // Freeing each buffer from another thread costs more than freeing it here.
        execArgv: ['--max-old-space-size=512', '--no-concurrent-array-buffer-sweeping'],
        // Nothing of the operator's environment: it may hold secrets and the child needs none of it. With one thread
        // in its pool, what a job does off the event loop is done in order, on which QueryResult counts.
        env: { TZ: 'UTC', UV_THREADPOOL_SIZE: '1' },
      });
    } catch (error) {
      this.#shared?.[Symbol.dispose]();
      throw error;
    }
    living.add(this.#child);
    // Without free descriptors the process was not made and has no pipes; `error` then reports it.
    const stdio = this.#child.stdio as ChildProcess['stdio'] | undefined;
    this.#data = (stdio?.[dataDescriptor] as Socket | undefined) ?? new Socket();
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4000);
    });
    this.#data.on('data', (bytes: Buffer) => this.#receive(bytes));
    this.#data.on('error', () => this.#end());
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#logger.debug('worker ended', { pid: this.#child.pid, code, signal, stderr: this.#stderr || undefined });
        living.delete(this.#child);
        this.#spillRemoved = removeSpillDirectory(tempDirectory);
        this.#end();
        this.#shared?.[Symbol.dispose]();
        resolve();
      });
      this.#child.on('error', (error) => {
        this.#stderr += String(error);
        living.delete(this.#child);
        this.kill('did_not_start');
        this.#shared?.[Symbol.dispose]();
        resolve();
      });
    });
    const late = setTimeout(() => this.kill('did_not_start'), mostStartMs);
    late.unref();
    this.ready = new Promise((resolve, reject) => {
      this.#child.once('message', (message) => {
        this.isUnconfined = message === unconfined;
        if (this.isUnconfined) warnUnconfined(logger);
        clearTimeout(late);
        this.exit = 'crashed';
        resolve();
      });
      this.exited.then(() => reject(new Error(`the DuckDB worker did not start: ${this.#stderr.trim()}`)));
    });
    this.ready.catch(() => {});
    if (this.#child.pid !== undefined) {
      this.written = new WrittenBytes(this.#child.pid);
      try {
        setPriority(this.#child.pid, settings.lowPriority ? lowest : Math.min(lowest, getPriority() + behindServer));
      } catch (error) {
        this.#logger.debug('worker keeps its priority', { error });
      }
    }
  }

  /** Resolves when the process and the files that it spilled are gone. */
  async cleared(): Promise<void> {
    await this.exited;
    await this.#spillRemoved;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Its job ends with this error. */
  stopJob(error: Error): void {
    this.#stopJob?.(error);
  }

  /** Its job begins to wait for its client, or goes on. */
  hold(isHeld: boolean): void {
    this.#send({ kind: 'held', isHeld });
  }

  /** Suspends the work, wherever it is. A job that is being stopped resumes, so that it can stop. */
  suspend(): void {
    if (this.#ended || this.#onceSettled !== undefined) return;
    this.#isSuspended = this.#child.kill('SIGSTOP');
  }

  resume(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.#child.kill('SIGCONT');
  }

  /**
   * Runs a job: yields its row messages on demand and returns its answer. Ending the iteration early or aborting the
   * signal stops the job in the child; if that takes longer than a second, the process is killed.
   */
  async *execute(job: Job, options: ExecuteOptions): AsyncGenerator<Buffer, unknown, undefined> {
    const { signal, deadline, input, silenceMs, progress } = options;
    signal.throwIfAborted();
    let settled = false;
    let takeWhole = options.takeWhole;
    const turn = ++this.#turn;
    const cancel = (): void => this.#cancel(turn, job.kind);
    let stopped: { readonly error: Error } | undefined;
    this.#stopJob = (error) => {
      stopped = { error };
      cancel();
    };
    const throwIfOver = (): void => {
      if (stopped !== undefined) throw stopped.error;
      throwIfStopped(options);
    };
    signal.addEventListener('abort', cancel, { once: true });
    deadline?.whenOver(cancel);
    this.#hasInput = input !== undefined;
    this.#sendJob(this.#withoutKnownListing(job), turn);
    const unwatch = silenceMs === undefined ? undefined : this.#watchPulse(silenceMs, progress);
    const inputSent = input === undefined ? undefined : this.#sendInput(input, turn);
    let failedInput: { readonly error: unknown } | undefined;
    inputSent?.catch((error: unknown) => {
      failedInput = { error };
      // Not when the job is over: the worker may have another client's by then.
      if (this.#turn === turn) cancel();
    });
    try {
      for (;;) {
        const message = await this.#next();
        if (message === undefined) {
          settled = true;
          throwIfOver();
          // The job took too long to stop after its input had failed.
          if (failedInput !== undefined) throw failedInput.error;
          throw crashed(this.#stderr);
        }
        if (message.kind === messageKind.rows) {
          const answer = takeWhole === undefined ? undefined : this.#waiting.at(-1);
          if (answer?.kind === messageKind.done) {
            settled = true;
            this.#noteListing(job);
            const others = this.#waiting.splice(0).slice(0, -1);
            takeWhole?.([message, ...others].map(({ payload }) => payload));
            return JSON.parse(answer.payload.toString());
          }
          takeWhole = undefined;
          yield message.payload;
        } else if (message.kind === messageKind.done) {
          settled = true;
          this.#noteListing(job);
          return JSON.parse(message.payload.toString());
        } else {
          settled = true;
          const error = JSON.parse(message.payload.toString()) as WireError;
          if (error.fatal) this.kill('failed');
          throwIfOver();
          // If the caller's own stream failed, that is the cause of the child's failure.
          if (error.code === 'cancelled') await inputSent;
          throw fromWire(error);
        }
      }
    } finally {
      this.#turn++;
      this.#stopJob = undefined;
      unwatch?.();
      signal.removeEventListener('abort', cancel);
      // A cancel of a job that has ended must not stop the next one.
      if (settled) this.#settled();
      else await this.#stop(turn, job.kind);
    }
  }

  /** Counts pulses rather than time, so that a machine that was asleep finds its workers alive. */
  #watchPulse(silenceMs: number, progress: ExecuteOptions['progress']): () => void {
    const { pid } = this.#child;
    const moves = progress && pid !== undefined ? new JobProgress(pid, progress.mostMs) : undefined;
    let unanswered = 0;
    const answered = (): void => {
      unanswered = 0;
    };
    const timer = setInterval(() => {
      if (this.#isSuspended) return;
      if (unanswered * pulseMs >= silenceMs) {
        this.#logger.warn('a worker gave no sign of life and was killed', { pid: this.#child.pid });
        this.kill('no_sign_of_life');
        return;
      }
      unanswered++;
      this.#send({ kind: 'pulse' });
      if (progress === undefined || progress.isExcused() || moves?.isStuckAfter(pulseMs) !== true) return;
      this.#logger.warn('a job made no progress and was stopped', { pid });
      this.stopJob(noProgress(progress.mostMs));
    }, pulseMs);
    this.#child.on('message', answered);
    return () => {
      clearInterval(timer);
      this.#child.off('message', answered);
    };
  }

  kill(reason: WorkerExit): void {
    if (!this.#ended) this.exit = reason;
    this.#child.kill('SIGKILL');
    this.#end();
  }

  #send(command: Command): void {
    if (!this.#ended && this.#child.connected) this.#child.send(command);
  }

  /** Until the job has ended well, the content of the process's catalogs is unknown. */
  #withoutKnownListing(job: Job): Job {
    const listing = listingOf(job);
    if (listing === undefined) return job;
    const isKnown = this.listed === listing.signature;
    this.listed = undefined;
    return isKnown ? ({ ...job, listing: { signature: listing.signature } } as Job) : job;
  }

  #noteListing(job: Job): void {
    this.listed = listingOf(job)?.signature ?? this.listed;
  }

  #sendJob(job: Job, turn: number): void {
    if (this.#ended) return;
    const payload = Buffer.from(JSON.stringify(job));
    this.#data.write(Buffer.concat([messageHeader(messageKind.job, turn, payload.length), payload]));
  }

  #cancel(turn: number, job: Job['kind']): void {
    this.#onceSettled?.();
    this.resume();
    this.#send({ kind: 'cancel', turn });
    const timer = setTimeout(() => {
      // Background work is ended so each time: a replaced version is compressed for seconds.
      const level = this.#isBackground ? 'debug' : 'info';
      this.#logger[level]('a worker did not stop in time and was killed', { pid: this.#child.pid, job });
      this.kill('did_not_stop');
    }, cancelGraceMs);
    this.#onceSettled = () => clearTimeout(timer);
  }

  #onceSettled: (() => void) | undefined;

  #settled(): void {
    this.#onceSettled?.();
    this.#onceSettled = undefined;
  }

  /** Cancels and reads on to the job's last message, so that the next job begins on a clean channel. */
  async #stop(turn: number, job: Job['kind']): Promise<void> {
    this.#cancel(turn, job);
    for (;;) {
      const message = await this.#next();
      if (message === undefined || message.kind === messageKind.done) break;
      if (message.kind !== messageKind.error) continue;
      if ((JSON.parse(message.payload.toString()) as WireError).fatal) this.kill('failed');
      break;
    }
    // Its last message may have been here before the timer was set.
    this.#settled();
  }

  async #sendInput(input: AsyncIterable<Uint8Array>, turn: number): Promise<void> {
    for await (const bytes of input) {
      if (this.#ended || this.#turn !== turn) return;
      this.#data.cork();
      this.#data.write(messageHeader(messageKind.input, turn, bytes.byteLength));
      this.#data.write(bytes);
      this.#data.uncork();
      if (this.#data.writableLength > mostQueuedInput) await drained(this.#data);
    }
    if (!this.#ended && this.#turn === turn) this.#data.write(messageHeader(messageKind.inputEnd, turn, 0));
  }

  #receive(bytes: Buffer): void {
    if (this.#ended) return;
    let isOver = false;
    for (const message of this.#parser.push(bytes)) {
      if (message.kind === messageKind.done || message.kind === messageKind.error) {
        isOver = true;
        this.#settled();
      }
      const taken = message.kind === messageKind.sharedRows ? this.#takeShared(message) : message;
      // Messages after a lost row must not make the result look whole.
      if (taken === undefined) break;
      this.#waiting.push(taken);
    }
    // The last message of a job has been read.
    if (this.#waiting.length >= maxWaitingMessages && !isOver) this.#data.pause();
    this.#wake?.();
  }

  /** Copied out at once, so that the child has its slot back. Undefined where that fails, which ends the child. */
  #takeShared({ turn, payload: place }: WorkerMessage): WorkerMessage | undefined {
    const slot = place.readUInt32LE(0);
    let payload: Buffer;
    try {
      if (this.#shared === undefined) throw new Error('there is none');
      payload = this.#shared.read(slot, place.readUInt32LE(4));
    } catch (error) {
      this.#logger.error('a worker’s shared file cannot be read', { error });
      this.kill('failed');
      return undefined;
    }
    // Behind input that the child does not read until it has sent its rows, the slot would never be free.
    if (this.#hasInput) this.#send({ kind: 'slotFree', slot });
    else this.#data.write(Buffer.concat([messageHeader(messageKind.slotFree, turn, 1), Buffer.of(slot)]));
    return { kind: messageKind.rows, turn, payload };
  }

  async #next(): Promise<WorkerMessage | undefined> {
    for (;;) {
      const message = this.#waiting.shift();
      if (this.#waiting.length < maxWaitingMessages && this.#data.isPaused()) this.#data.resume();
      if (message !== undefined) return message;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  #end(): void {
    this.#ended = true;
    this.#onceSettled?.();
    this.#wake?.();
  }
}

export function listingOf(job: Job): CatalogListing | undefined {
  return job.kind === 'query' || job.kind === 'describe' ? job.listing : undefined;
}

let hasWarned = false;

function warnUnconfined(logger: Logger): void {
  if (hasWarned) return;
  hasWarned = true;
  logger.warn('this kernel has no Landlock: only DuckDB itself keeps the SQL of a tenant from the files of others');
}

function throwIfStopped({ signal, deadline }: ExecuteOptions): void {
  signal.throwIfAborted();
  if (deadline?.isOver === true) throw new DOMException('the time for the job is over', 'TimeoutError');
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
