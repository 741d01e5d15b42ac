import type { Column, EncodedRows } from '@framehold/columns';
import { Deadline } from '../core/async/deadline.ts';
import type { Principal } from '../core/callers/principal.ts';
import { workTimedOut } from '../core/errors/app-error.ts';
import type { RequestNotes } from '../core/logs/request-notes.ts';
import type { StatementCosts } from '../core/logs/statement-costs.ts';
import { autoEngineName, localEngineName, mayUseEngine, unknownEngine } from '../core/names/engine-names.ts';
import type { ListedLiveTable } from '../core/sql/live-tables.ts';
import { type AnalyticsTable, analyticsCatalog, type SqlResult, type Statement } from '../core/sql/sql.ts';
import { settingNotTaken } from '../core/sql/statement-settings.ts';
import type { PutResult } from '../frames/catalog/frame-summary.ts';
import type { AutoEngine } from './auto-engine.ts';
import type {
  AnalysedStatement,
  CallOptions,
  EngineChoice,
  FrameSql,
  KeepRequest,
  KeptQuery,
  PreparedSql,
  QueryRequest,
  SqlText,
  SqlUpdate,
  UpdateRequest,
} from './frame-sql.ts';
import type { Run, RunningQueries } from './running-queries.ts';
import type { FrameStatements } from './statements/frame-statements.ts';

export interface EngineRouterOptions {
  readonly local: FrameStatements;
  /** By the names that the operator gave them. */
  readonly clusters: ReadonlyMap<string, FrameStatements>;
  readonly auto: AutoEngine;
  /** Lists statements while they run. */
  readonly running: RunningQueries;
  /** Most working time of a statement that writes on `local`, as a whole; waits are not counted. Default 0: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** Statements over frames, each on the engine that its caller names and on no other. */
export class EngineRouter implements FrameSql {
  readonly #engines: ReadonlyMap<string, FrameStatements>;
  readonly #auto: AutoEngine;
  readonly #running: RunningQueries;
  readonly #timeoutMs: number;

  constructor({ local, clusters, auto, running, timeoutMs = 0 }: EngineRouterOptions) {
    this.#timeoutMs = timeoutMs;
    this.#engines = new Map([[localEngineName, local], ...clusters]);
    this.#auto = auto;
    this.#running = running;
  }

  async choose(principal: Principal, text: SqlText, options: CallOptions): Promise<EngineChoice> {
    const { sql, engine, settings } = text;
    if (engine === autoEngineName) {
      if (settings === undefined) return await this.#auto.choose(principal, sql, options);
      return { ...text, engine: localEngineName, reason: 'auto: it has settings', isElsewhere: false };
    }
    const chosen = engine ?? localEngineName;
    const refused = this.#named(principal, chosen).refusedSetting(settings);
    if (refused !== undefined) throw settingNotTaken(refused, chosen);
    const isElsewhere = chosen !== localEngineName;
    const reason = engine === undefined ? 'the default' : 'named by the caller';
    return { ...text, engine: chosen, reason, isElsewhere };
  }

  async analyze(principal: Principal, text: SqlText | EngineChoice, options: CallOptions): Promise<AnalysedStatement> {
    const choice = 'reason' in text ? text : await this.choose(principal, text, options);
    const { sql, engine, settings } = choice;
    if (choice.statement !== undefined) return { ...choice.statement, sql, engine, settings };
    const known = await this.#named(principal, engine).known(principal, sql, options);
    if (known !== undefined) {
      this.#running.pass(principal, choice, options);
      return { ...known, sql, engine, settings };
    }
    const analyzeOnce = async (own: CallOptions): Promise<Statement> => {
      const statement = await this.#named(principal, engine).analyze(principal, sql, own);
      // A cancel may arrive just as the analysis ends. Check here, because the next step registers a new run.
      own.signal.throwIfAborted();
      return statement;
    };
    return { ...(await this.#during(principal, choice, 'analyze', options, analyzeOnce)), sql, engine, settings };
  }

  async prepare(principal: Principal, statement: AnalysedStatement, options: CallOptions): Promise<PreparedSql> {
    return await this.#named(principal, statement.engine).prepare(principal, statement, options);
  }

  async boundColumns(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<readonly Column[]> {
    return await this.#named(principal, request.statement.engine).boundColumns(principal, request, options);
  }

  async sourceVersion(
    principal: Principal,
    statement: AnalysedStatement,
    options: CallOptions,
  ): Promise<string | undefined> {
    return await this.#named(principal, statement.engine).sourceVersion(principal, statement, options);
  }

  async query(principal: Principal, request: QueryRequest, options: CallOptions): Promise<SqlResult> {
    const run = this.#running.begin(principal, request.statement, 'query', options);
    try {
      const result = await this.#named(principal, run.engine).query(principal, request, run.options);
      if (result.whole === undefined) run.goOn('fetch');
      return ofRun(result, run, principal.notes);
    } catch (error) {
      run.end({ error });
      throw error;
    }
  }

  async keep(principal: Principal, query: KeptQuery, request: KeepRequest, options: CallOptions): Promise<PutResult> {
    const { statement } = query;
    return await this.#during(principal, statement, 'keep', options, async (own, costs) => {
      const put = await this.#named(principal, statement.engine).keep(principal, query, request, own);
      costs.rows = put.rowsPut;
      return put;
    });
  }

  async update(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<SqlUpdate> {
    const { statement } = request;
    return await this.#during(principal, statement, 'update', options, async (own, costs) => {
      const done = await this.#named(principal, statement.engine).update(principal, request, own);
      costs.rows = done.rows;
      return done;
    });
  }

  /** Only the local engine has the operator's database. */
  async analyticsTables(principal: Principal, options: CallOptions): Promise<readonly AnalyticsTable[]> {
    if (!mayUseEngine(principal, analyticsCatalog)) return [];
    return await this.#named(principal, localEngineName).analyticsTables(principal, options);
  }

  async liveTables(principal: Principal, options: CallOptions): Promise<readonly ListedLiveTable[]> {
    return await this.#named(principal, localEngineName).liveTables(principal, options);
  }

  /** The statement counts as running until the call ends. */
  async #during<T>(
    principal: Principal,
    statement: Pick<AnalysedStatement, 'sql' | 'engine'>,
    operation: 'analyze' | 'keep' | 'update',
    options: CallOptions,
    act: (options: CallOptions, costs: StatementCosts) => Promise<T>,
  ): Promise<T> {
    const run = this.#running.begin(principal, statement, operation, options);
    const deadline = operation === 'analyze' ? undefined : this.#deadlineOf(run);
    try {
      const done = await act(run.options, run.costs);
      run.end();
      return done;
    } catch (error) {
      run.end({ error });
      throw error;
    } finally {
      deadline?.stop();
    }
  }

  /** For a statement that writes: its jobs share one time limit. Clusters have limits of their own. */
  #deadlineOf(run: Run): Deadline | undefined {
    const timeoutMs = this.#timeoutMs;
    if (timeoutMs === 0 || run.engine !== localEngineName) return undefined;
    const deadline = new Deadline(timeoutMs, () => run.stop(workTimedOut(timeoutMs)));
    run.costs.clock = deadline;
    return deadline;
  }

  #named(principal: Principal, name: string): FrameStatements {
    const engine = mayUseEngine(principal, name) ? this.#engines.get(name) : undefined;
    if (engine !== undefined) return engine;
    const known = [...this.#engines.keys()].filter((each) => mayUseEngine(principal, each));
    throw unknownEngine(name, [...known, autoEngineName]);
  }
}

/** The same result. Its rows are noted as they pass, and the run ends with it. */
function ofRun(result: SqlResult, run: Run, notes: RequestNotes | undefined): SqlResult {
  let failure: { readonly error: unknown } | undefined;
  async function* watched<T>(pieces: AsyncIterable<T>, note?: (piece: T) => void): AsyncGenerator<T, void, undefined> {
    try {
      for await (const piece of pieces) {
        note?.(piece);
        yield piece;
      }
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  const note = ({ rows }: EncodedRows): void => {
    run.costs.rows += rows;
    notes?.addRows(rows);
  };
  result.whole?.forEach(note);
  return {
    columns: result.columns,
    whole: result.whole,
    rows: () => watched(result.rows(), result.whole === undefined ? note : undefined),
    arrowStream: () => watched(result.arrowStream()),
    get totalRows() {
      return result.totalRows;
    },
    async [Symbol.asyncDispose]() {
      try {
        await result[Symbol.asyncDispose]();
      } finally {
        // The rows of a stream were not counted on their way.
        if (run.costs.rows === 0) run.costs.rows = result.totalRows;
        run.end(failure);
      }
    },
  };
}
