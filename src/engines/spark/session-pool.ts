import { withTimeout } from '@framehold/async';
import { type Flavour, isSessionLost, SparkSession, type SparkSessionOptions } from '@framehold/spark-connect';
import { LinkedAbort } from '../../core/async/linked-abort.ts';
import { Semaphore } from '../../core/async/semaphore.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { JobOptions } from '../../core/rows/frame-engine.ts';
import type { EngineSlots } from '../../core/sql/engine.ts';
import { maxWaitingSubqueries } from './sql/statement-size.ts';

/** Well before servers forget a session themselves (Sail after a quarter of an hour). */
const idleMs = 5 * 60_000;
const releaseTimeoutMs = 2000;
/** Time to stop running queries. */
const closeTimeoutMs = 3000;

export interface SessionPoolOptions {
  readonly engine: string;
  /** Queries, and so sessions, at once. */
  readonly maxConcurrent: number;
  readonly session: SparkSessionOptions;
  /** For a session to be set up. */
  readonly setUpTimeoutMs: number;
  readonly logger: Logger;
}

interface Idle {
  readonly session: SparkSession;
  readonly timer: NodeJS.Timeout;
}

/**
 * Sessions for one query at a time: Spark mixes up the relations of plans that run in the same one. They are used again,
 * because a new one takes Spark a tenth of a second.
 */
export class SessionPool implements AsyncDisposable {
  readonly #options: SessionPoolOptions;
  readonly #places: Semaphore;
  /** Threads of Spark that may wait for a subquery at once, so that one is left to run the subqueries. */
  readonly #subqueryThreads = new Semaphore(maxWaitingSubqueries);
  readonly #idle: Idle[] = [];
  readonly #leases = new Set<SessionLease>();
  readonly #dropped = new Map<SparkSession, Promise<void>>();
  #closed: AppError | undefined;
  #flavour: Flavour | undefined;

  constructor(options: SessionPoolOptions) {
    this.#options = options;
    const { engine, maxConcurrent } = options;
    const maxWaiting = maxConcurrent * 16;
    const overloaded = (): AppError =>
      new AppError('overloaded', `engine ${engine} runs ${maxConcurrent} queries, and ${maxWaiting} more wait for it`, {
        hint: 'send the request again shortly',
        retryAfterSeconds: 1,
      });
    this.#places = new Semaphore(maxConcurrent, { maxWaiting, overloaded });
  }

  get slots(): EngineSlots {
    const { units: limit, taken: busy, waiting } = this.#places;
    return { limit, busy, waiting };
  }

  async lease(
    { signal, lane }: JobOptions,
    { waitingSubqueries }: { readonly waitingSubqueries: number },
  ): Promise<SessionLease> {
    if (this.#closed !== undefined) throw this.#closed;
    if (this.unstopped >= this.#options.maxConcurrent) throw this.#onlyUnstopped();
    const lease = new SessionLease(this);
    this.#leases.add(lease);
    const taken: (() => void)[] = [];
    lease.ended.then(() => {
      this.#leases.delete(lease);
      for (const free of taken) free();
    });
    try {
      const whileWanted = { signal: AbortSignal.any([signal, lease.closing]) };
      taken.push(await this.#places.acquire({ ...whileWanted, lane }));
      if (waitingSubqueries > 0) {
        taken.push(await this.#subqueryThreads.acquire({ ...whileWanted, units: waitingSubqueries }));
      }
      return lease;
    } catch (thrown) {
      lease.end({ isSound: true });
      throw thrown;
    }
  }

  async take(signal: AbortSignal): Promise<SparkSession> {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) return await this.#make(signal);
      clearTimeout(idle.timer);
      if (!idle.session.isDoubtful) return idle.session;
      this.drop(idle.session);
    }
  }

  giveBack(session: SparkSession): void {
    if (this.#closed !== undefined || session.isDoubtful) {
      this.drop(session);
      return;
    }
    const timer = setTimeout(() => {
      const at = this.#idle.findIndex((idle) => idle.session === session);
      if (at >= 0) this.#idle.splice(at, 1);
      this.drop(session);
    }, idleMs);
    timer.unref();
    this.#idle.push({ session, timer });
  }

  /** Ends a session that shall not be used again. Resolves when the server has stopped all that ran in it. */
  drop(session: SparkSession): Promise<void> {
    const dropping = this.#drop(session).finally(() => this.#dropped.delete(session));
    this.#dropped.set(session, dropping);
    return dropping;
  }

  async #drop(session: SparkSession): Promise<void> {
    await session.release({ signal: AbortSignal.timeout(releaseTimeoutMs) }).catch(() => {});
    await session.untilQuiet();
  }

  /** Sessions that were ended, and in which the server works on all the same. They keep their places until it has stopped. */
  get unstopped(): number {
    return [...this.#dropped.keys()].filter(({ isQuiet }) => !isQuiet).length;
  }

  #onlyUnstopped(): AppError {
    const { engine, maxConcurrent } = this.#options;
    return new AppError(
      'overloaded',
      `engine ${engine} still works on ${maxConcurrent} statements that were given up, and takes no more until it has stopped`,
      { hint: 'try again later, or run the statement on the local engine', retryAfterSeconds: 5 },
    );
  }

  /** A server that has forgotten one session has forgotten all. */
  forgetIdle(): void {
    this.#options.logger.info('the engine has forgotten our sessions; new ones are made', {
      engine: this.#options.engine,
    });
    this.#dropIdle();
  }

  #dropIdle(): void {
    for (const { session, timer } of this.#idle.splice(0)) {
      clearTimeout(timer);
      this.drop(session);
    }
  }

  async #make(signal: AbortSignal): Promise<SparkSession> {
    const { session: options, setUpTimeoutMs } = this.#options;
    const session = new SparkSession(options);
    using limit = new LinkedAbort([signal], setUpTimeoutMs);
    try {
      await session.configure({ signal: limit.signal });
    } catch (thrown) {
      // The server may have it, though we never heard of it.
      this.drop(session);
      throw thrown;
    }
    this.#flavour = session.flavour;
    return session;
  }

  /** The kind of server; undefined before the first session. */
  get flavour(): Flavour | undefined {
    return this.#flavour;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new AppError('engine_unreachable', `the server stops, and engine ${this.#options.engine} with it`);
    this.#closed = closed;
    this.#dropIdle();
    for (const lease of this.#leases) lease.close(closed);
    const ended = Promise.all([...this.#leases].map((lease) => lease.ended));
    await withTimeout(ended, closeTimeoutMs, () => []);
    for (const lease of this.#leases) lease.abandon();
    for (const session of this.#dropped.keys()) session.cut();
    await Promise.all(this.#dropped.values());
  }
}

/** The place of one query, and the session that it has at the time. */
export class SessionLease {
  readonly #pool: SessionPool;
  /** Its own controller: a signal that outlives queries remembers every signal that followed it. */
  readonly #closing = new AbortController();
  readonly ended: Promise<void>;
  #end: () => void = () => {};
  #session: SparkSession | undefined;

  constructor(pool: SessionPool) {
    this.#pool = pool;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Aborted when the engine closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  close(reason: AppError): void {
    this.#closing.abort(reason);
  }

  /** Acts with a session; once more with another where the server turns out to have forgotten the first. */
  async with<T>(signal: AbortSignal, act: (session: SparkSession) => Promise<T>): Promise<T> {
    this.#session ??= await this.#pool.take(signal);
    const session = this.#session;
    try {
      return await act(session);
    } catch (thrown) {
      if (!isSessionLost(thrown) || signal.aborted) throw thrown;
      this.#session = undefined;
      this.#pool.forgetIdle();
      this.#session = await this.#pool.take(signal);
      return await act(this.#session);
    }
  }

  /** `isSound`: nothing runs in the session any more, and the server still knows it. */
  end({ isSound }: { readonly isSound: boolean }): void {
    const session = this.#session;
    this.#session = undefined;
    if (session !== undefined && !isSound) {
      this.#pool.drop(session).then(this.#end);
      return;
    }
    if (session !== undefined) this.#pool.giveBack(session);
    this.#end();
  }

  /** The engine closes: running queries are stopped with their session. */
  abandon(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session !== undefined) this.#pool.drop(session);
  }
}
