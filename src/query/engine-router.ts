import type { Column } from '../core/data-type.ts';
import type { Principal } from '../core/principal.ts';
import type { AnalyticsTable, SqlResult } from '../core/sql.ts';
import { endingWith } from '../core/sql-result.ts';
import type { PutResult } from '../frames/catalog/frame-summary.ts';
import type { AutoEngine } from './auto-engine.ts';
import { autoEngineName, localEngineName, unknownEngine } from './engine-names.ts';
import type {
  CallOptions,
  EngineChoice,
  EngineSql,
  FrameSql,
  KeepRequest,
  KeptQuery,
  PreparedSql,
  QueryRequest,
  SqlFacts,
  SqlUpdate,
  UpdateRequest,
} from './frame-sql.ts';
import type { Run, RunningQueries } from './running-queries.ts';

export interface EngineRouterOptions {
  readonly local: EngineSql;
  /** By the names that the operator gave them. */
  readonly clusters: ReadonlyMap<string, EngineSql>;
  readonly auto: AutoEngine;
  /** Where statements are seen while they run. */
  readonly running: RunningQueries;
}

/** Statements over frames, each on the engine that its caller names and on no other. */
export class EngineRouter implements FrameSql {
  readonly #engines: ReadonlyMap<string, EngineSql>;
  readonly #auto: AutoEngine;
  readonly #running: RunningQueries;

  constructor({ local, clusters, auto, running }: EngineRouterOptions) {
    this.#engines = new Map([[localEngineName, local], ...clusters]);
    this.#auto = auto;
    this.#running = running;
  }

  async choose(principal: Principal, sql: string, options: CallOptions): Promise<EngineChoice> {
    const { engine } = options;
    if (engine === autoEngineName) return await this.#auto.choose(principal, sql, options);
    this.#named(engine);
    const reason = engine === undefined ? 'the default' : 'named by the caller';
    return { engine: engine ?? localEngineName, reason, isElsewhere: (engine ?? localEngineName) !== localEngineName };
  }

  async inspect(principal: Principal, sql: string, options: CallOptions): Promise<SqlFacts> {
    return await (await this.#of(principal, sql, options)).inspect(principal, sql, options);
  }

  async prepare(principal: Principal, sql: string, options: CallOptions): Promise<PreparedSql> {
    return await (await this.#of(principal, sql, options)).prepare(principal, sql, options);
  }

  async boundColumns(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<readonly Column[]> {
    return await (await this.#of(principal, request.sql, options)).boundColumns(principal, request, options);
  }

  async query(principal: Principal, request: QueryRequest, options: CallOptions): Promise<SqlResult> {
    const { engine, run } = await this.#begin(principal, request.sql, options);
    try {
      const result = await engine.query(principal, request, run.options);
      return endingWith(result, () => run.end());
    } catch (thrown) {
      run.end();
      throw thrown;
    }
  }

  async keep(principal: Principal, query: KeptQuery, request: KeepRequest, options: CallOptions): Promise<PutResult> {
    return await this.#during(principal, query.sql, options, (engine, own) =>
      engine.keep(principal, query, request, own),
    );
  }

  async update(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<SqlUpdate> {
    return await this.#during(principal, request.sql, options, (engine, own) => engine.update(principal, request, own));
  }

  /** Only the local engine has the operator's database. */
  async analyticsTables(options: CallOptions): Promise<readonly AnalyticsTable[]> {
    return await this.#named(undefined).analyticsTables(options);
  }

  /** Runs a statement that is over when the call is. */
  async #during<T>(
    principal: Principal,
    sql: string,
    options: CallOptions,
    act: (engine: EngineSql, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { engine, run } = await this.#begin(principal, sql, options);
    try {
      return await act(engine, run.options);
    } finally {
      run.end();
    }
  }

  async #begin(principal: Principal, sql: string, options: CallOptions): Promise<{ engine: EngineSql; run: Run }> {
    const name = await this.#nameFor(principal, sql, options);
    return { engine: this.#named(name), run: this.#running.begin(principal, { sql, engine: name }, options) };
  }

  async #of(principal: Principal, sql: string, options: CallOptions): Promise<EngineSql> {
    return this.#named(await this.#nameFor(principal, sql, options));
  }

  async #nameFor(principal: Principal, sql: string, options: CallOptions): Promise<string> {
    const { engine = localEngineName } = options;
    return engine === autoEngineName ? (await this.#auto.choose(principal, sql, options)).engine : engine;
  }

  #named(name: string = localEngineName): EngineSql {
    const engine = this.#engines.get(name);
    if (engine !== undefined) return engine;
    throw unknownEngine(name, [...this.#engines.keys(), autoEngineName]);
  }
}
