import { ConnectFailure, isSessionLost, type SparkSession, withDetails } from '@framehold/spark-connect';
import { Deadline } from '../../core/async/deadline.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { inQueue } from '../../core/logs/statement-costs.ts';
import type { JobOptions } from '../../core/rows/frame-engine.ts';
import { settingNotTaken } from '../../core/sql/statement-settings.ts';
import type { SessionLease, SessionPool } from './session-pool.ts';
import { type FailureContext, sqlFailure } from './sql-failure.ts';
import { useTimeZone } from './time-zone.ts';

export interface QueryWorkOptions {
  readonly sessions: SessionPool;
  /** 0 = without limit. */
  readonly timeoutMs: number;
  readonly failures: FailureContext;
  /** Default: the standard. */
  readonly timeZone: string | undefined;
  /** Subqueries of it for which the engine keeps a thread each that waits. */
  readonly waitingSubqueries: number;
}

/** One running query: its place, its session, and its time left. */
export class QueryWork {
  readonly signal: AbortSignal;
  readonly onProgress: JobOptions['onProgress'];
  /** Tags of its executions: the trace, if there is one. */
  readonly tags: readonly string[];
  readonly #own: Pick<JobOptions, 'lane' | 'tenant' | 'span' | 'costs'>;
  readonly #options: QueryWorkOptions;
  readonly #callerSignal: AbortSignal;
  readonly #deadline: Deadline | undefined;
  readonly #lease: SessionLease;
  #session: SparkSession | undefined;
  #hasEnded = false;

  private constructor(options: QueryWorkOptions, lease: SessionLease, job: JobOptions) {
    const { signal: callerSignal, lane, tenant, onProgress, span, costs } = job;
    this.tags = span === undefined ? [] : [`trace-${span.traceId}`];
    this.onProgress = onProgress;
    this.#own = { lane, tenant, span, costs };
    this.#options = options;
    this.#lease = lease;
    this.#callerSignal = callerSignal;
    this.#deadline = options.timeoutMs > 0 ? new Deadline(options.timeoutMs) : undefined;
    const signals = [callerSignal, lease.closing];
    if (this.#deadline !== undefined) signals.push(this.#deadline.signal);
    this.signal = AbortSignal.any(signals);
  }

  /** Waits for a place. */
  static async start(options: QueryWorkOptions, job: JobOptions): Promise<QueryWork> {
    const lease = await inQueue(job, () => options.sessions.lease(job, options));
    return new QueryWork(options, lease, job);
  }

  async with<T>(act: (session: SparkSession) => Promise<T>): Promise<T> {
    return await this.#lease.with(this.signal, async (session) => {
      this.#session = session;
      const { timeZone, failures } = this.#options;
      // It keeps the setting, and computes in UTC all the same.
      if (timeZone !== undefined && session.flavour === 'sail') throw settingNotTaken('TimeZone', failures.engine);
      await useTimeZone(session, timeZone, this);
      return await act(session);
    });
  }

  /** For jobs elsewhere for the same query. */
  get jobOptions(): JobOptions {
    return { signal: this.signal, ...this.#own };
  }

  /** While another party delays the query. */
  pauseDeadline(): void {
    this.#deadline?.pause();
  }

  resumeDeadline(): void {
    if (!this.#hasEnded) this.#deadline?.resume();
  }

  /** Ends the work, and returns the caller's error. */
  async failed(thrown: unknown): Promise<unknown> {
    const isOver = this.signal.aborted;
    const known = isOver ? thrown : await withDetails(thrown, this.#session);
    // A session that has seen an abort or a broken connection may still have something running in it.
    this.end({ isSound: !isOver && !isSessionLost(thrown) && !isOutOfReach(thrown) });
    const { failures } = this.#options;
    const { engine } = failures;
    const { closing } = this.#lease;
    if (this.#callerSignal.aborted) return asOwnTimeout(this.#callerSignal.reason, engine);
    if (closing.aborted) return closing.reason;
    if (this.#deadline?.signal.aborted === true) {
      return new AppError(
        'engine_timeout',
        `the query took longer than ${this.#options.timeoutMs} ms on engine ${engine}`,
        {
          hint: 'ask for less, or let the operator raise the query_timeout of the engine',
        },
      );
    }
    if (thrown instanceof DOMException && thrown.name === 'TimeoutError') {
      return new AppError('engine_unreachable', `engine ${engine} does not answer`, { cause: thrown });
    }
    return sqlFailure(known, failures);
  }

  end({ isSound }: { readonly isSound: boolean }): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#deadline?.stop();
    this.#lease.end({ isSound });
  }
}

/** The time that the caller gave was up: it was spent here. */
function asOwnTimeout(reason: unknown, engine: string): unknown {
  if (!(reason instanceof AppError) || reason.code !== 'sql_timeout') return reason;
  return new AppError('engine_timeout', `${reason.message} from engine ${engine}`, {
    hint: 'ask for less, or wait longer',
  });
}

function isOutOfReach(thrown: unknown): boolean {
  return thrown instanceof ConnectFailure && (thrown.status === 'UNAVAILABLE' || thrown.status === 'DATA_LOSS');
}
