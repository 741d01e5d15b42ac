import { randomUUID } from 'node:crypto';
import { LinkedAbort } from '../core/async/linked-abort.ts';
import { hasRole, limitedAs, ownerKey, type Principal, type Tenant } from '../core/callers/principal.ts';
import { AppError, serverStopping } from '../core/errors/app-error.ts';
import { errorType } from '../core/errors/error-type.ts';
import type { Span } from '../core/logs/span.ts';
import { StatementCosts } from '../core/logs/statement-costs.ts';
import { noTimings, type Timings } from '../core/logs/timings.ts';
import type { QueryProgress } from '../core/rows/frame-engine.ts';
import { type Statement, type TableName, tableText } from '../core/sql/sql.ts';
import type { CallOptions } from './frame-sql.ts';
import type { SlowStatements } from './slow-statements.ts';

/** A running statement over frames. */
export interface RunningQuery {
  /** Id of the request with the statement. */
  readonly id: string;
  readonly tenant: Tenant;
  readonly engine: string;
  readonly sql: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly elapsedMs: number;
  /** Undefined if the engine reports none. */
  readonly progress: QueryProgress | undefined;
}

/** A statement that begins. Its kind is known after its analysis. */
type Begun = Pick<RunningQuery, 'sql' | 'engine'> & Partial<Statement>;

/** The present work on a running statement. */
export type Operation = 'analyze' | 'query' | 'fetch' | 'keep' | 'update';

/** All running statements, for people who look for a slow one. */
export class RunningQueries {
  /** In the order in which they began. */
  readonly #runs = new Set<Run>();
  readonly #timings: Timings;
  readonly #slow: SlowStatements | undefined;
  /** Since the start. */
  begun = 0;

  constructor(timings: Timings = noTimings, slow?: SlowStatements) {
    this.#timings = timings;
    this.#slow = slow;
  }

  get size(): number {
    return this.#runs.size;
  }

  /**
   * The statement runs with the returned options, and is listed until the run ends. Refused (`rate_limited`) if the tenant has
   * too many running.
   */
  begin(owner: Principal, statement: Begun, operation: Operation, options: CallOptions): Run {
    const shown = this.pass(owner, statement, options);
    const span = owner.span?.child(`${operation} ${statement.engine}`, { 'db.system.name': statement.engine });
    const run = new Run(owner, shown, options, {
      operation,
      statement,
      span,
      timings: this.#timings,
      slow: this.#slow,
      onEnd: () => this.#runs.delete(run),
    });
    this.#runs.add(run);
    return run;
  }

  /** The same for a statement whose work is over at once: recorded and refused alike, but never listed. */
  pass(
    owner: Principal,
    { sql, engine }: Pick<RunningQuery, 'sql' | 'engine'>,
    options: CallOptions,
  ): Pick<RunningQuery, 'sql' | 'engine'> {
    const shown = { sql: options.shownAs ?? sql, engine };
    owner.notes?.statement(shown);
    this.#checkLimit(owner);
    this.begun++;
    return shown;
  }

  /** The number of running statements. */
  get byEngine(): ReadonlyMap<string, number> {
    return this.#countBy(({ engine }) => engine);
  }

  get byTenant(): ReadonlyMap<Tenant, number> {
    return this.#countBy(({ tenant }) => tenant);
  }

  /** The caller's own; of an admin, those of the tenant; of an operator, all. */
  list(principal: Principal): readonly RunningQuery[] {
    return [...this.#runs].filter((run) => run.isSeenBy(principal));
  }

  /** Those of its tenant that the caller may see. */
  countOf(principal: Principal): number {
    let count = 0;
    for (const run of this.#runs) if (run.tenant === principal.tenant && run.isSeenBy(principal)) count++;
    return count;
  }

  /** Stops all statements with that id. Refused (`not_found`) if there are none. */
  cancel(principal: Principal, id: string): void {
    const all = [...this.#runs].filter((run) => run.isSeenBy(principal) && run.id === id);
    // Callers choose their ids: an operator in one tenant does not mean another tenant's statement.
    const own = all.filter(({ tenant }) => tenant === principal.tenant);
    const runs = own.length > 0 ? own : all;
    if (runs.length === 0) {
      throw new AppError('not_found', `no statement with the id ${JSON.stringify(id.slice(0, 100))} is under way`, {
        hint: 'it may have ended; GET /queries lists those that have not',
      });
    }
    const reason = `the statement was cancelled by DELETE /queries/${id}`;
    for (const run of runs) run.stop(new AppError('sql_cancelled', reason));
  }

  #countBy<Key>(keyOf: (run: Run) => Key): ReadonlyMap<Key, number> {
    const counts = new Map<Key, number>();
    for (const run of this.#runs) counts.set(keyOf(run), (counts.get(keyOf(run)) ?? 0) + 1);
    return counts;
  }

  #checkLimit(principal: Principal): void {
    const { role, limits } = principal;
    const most = limits?.maxStatements;
    if (most === undefined || role === 'operator') return;
    let underWay = 0;
    for (const run of this.#runs) if (run.limitedAs === limitedAs(principal)) underWay++;
    if (underWay < most) return;
    throw new AppError('rate_limited', `${underWay} statements of your tenant are under way, and ${most} may be`, {
      hint: 'try again when one has ended, or ask the operator for more',
      retryAfterSeconds: 1,
    });
  }

  /** The server stops. */
  stopAll(): void {
    const reason = serverStopping();
    for (const run of this.#runs) run.stop(reason);
  }
}

interface RunParts {
  readonly operation: Operation;
  readonly statement: Begun;
  readonly span: Span | undefined;
  readonly timings: Timings;
  readonly slow: SlowStatements | undefined;
  readonly onEnd: () => void;
}

export class Run implements RunningQuery {
  readonly id: string;
  readonly #owner: Principal;
  readonly sql: string;
  readonly engine: string;
  readonly startedAt = Date.now();
  readonly options: CallOptions;
  readonly costs = new StatementCosts();
  progress: QueryProgress | undefined;
  readonly #startedMs = performance.now();
  readonly #stopping: LinkedAbort;
  readonly #parts: RunParts;
  #operation: Operation;
  #operationMs = this.#startedMs;
  #isOver = false;

  constructor(
    owner: Principal,
    { sql, engine }: Pick<RunningQuery, 'sql' | 'engine'>,
    options: CallOptions,
    parts: RunParts,
  ) {
    this.#owner = owner;
    this.sql = sql;
    this.engine = engine;
    this.#parts = parts;
    this.#operation = parts.operation;
    this.id = options.requestId ?? randomUUID();
    this.#stopping = new LinkedAbort([options.signal]);
    this.options = {
      ...options,
      span: parts.span,
      costs: this.costs,
      signal: this.#stopping.signal,
      onProgress: (progress) => {
        this.progress = progress;
      },
    };
  }

  /** The present work is over, and the next begins. */
  goOn(operation: Operation): void {
    this.#count('');
    this.#operation = operation;
    this.#operationMs = performance.now();
  }

  /** `failure`: the thrown error. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopping[Symbol.dispose]();
    const failed = failure === undefined ? '' : errorType(failure.error);
    this.#count(failed);
    this.options.span?.end(failed);
    this.#tellIfSlow(failed);
    this.#parts.onEnd();
  }

  #count(failure: string): void {
    const { span } = this.options;
    const ms = performance.now() - this.#operationMs;
    this.#parts.timings.add(ms, this.engine, this.#operation, failure, span?.traceId);
  }

  #tellIfSlow(errorType: string): void {
    const { statement, operation, slow } = this.#parts;
    slow?.add({
      requestId: this.id,
      traceId: this.options.span?.traceId,
      tenant: this.tenant,
      engine: this.engine,
      operation,
      sql: this.sql,
      frames: () => tablesOf(statement).map(tableText),
      totalMs: this.elapsedMs,
      firstRowsMs: this.#operation === 'fetch' ? this.#operationMs - this.#startedMs : undefined,
      costs: this.costs,
      errorType,
    });
  }

  get tenant(): Tenant {
    return this.#owner.tenant;
  }

  get limitedAs(): string {
    return limitedAs(this.#owner);
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  isSeenBy(principal: Principal): boolean {
    const isWhole = principal.prefix === undefined;
    if (isWhole && principal.role === 'operator') return true;
    if (principal.tenant !== this.tenant) return false;
    return (isWhole && hasRole(principal.role, 'admin')) || ownerKey(principal) === ownerKey(this.#owner);
  }

  /** The waiting caller gets the reason. */
  stop(reason: AppError): void {
    this.#stopping.abort(reason);
  }
}

/** Each of them once. */
function differing(tables: readonly (TableName | undefined)[]): readonly TableName[] {
  return [...new Map(tables.flatMap((table) => (table === undefined ? [] : [[tableText(table), table]]))).values()];
}

function tablesOf(statement: Begun): readonly TableName[] {
  switch (statement.kind) {
    case 'query':
      return statement.query?.tables ?? [];
    case 'createTable':
    case 'createView':
    case 'insert':
    case 'change':
    case 'alter':
    case 'truncate':
    case 'drop':
      return differing([statement.table, ...('query' in statement ? (statement.query?.tables ?? []) : [])]);
    case 'define':
      return statement.forms?.flatMap(({ query }) => query.tables) ?? [];
    default:
      return [];
  }
}
