import type { Column } from '../core/data-type.ts';
import type { Principal } from '../core/principal.ts';
import type { AnalyticsTable, SqlResult } from '../core/sql.ts';
import type { PutResult } from '../frames/tenant-frames.ts';
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
  UpdateRequest,
} from './frame-sql.ts';

export interface SqlByEngineOptions {
  readonly local: EngineSql;
  /** By the names that the operator gave them. */
  readonly clusters: ReadonlyMap<string, EngineSql>;
  readonly auto: AutoEngine;
}

/** Statements over frames, each on the engine that its caller names and on no other. */
export class SqlByEngine implements FrameSql {
  readonly #engines: ReadonlyMap<string, EngineSql>;
  readonly #auto: AutoEngine;

  constructor({ local, clusters, auto }: SqlByEngineOptions) {
    this.#engines = new Map([[localEngineName, local], ...clusters]);
    this.#auto = auto;
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
    return await (await this.#of(principal, request.sql, options)).query(principal, request, options);
  }

  async keep(principal: Principal, query: KeptQuery, request: KeepRequest, options: CallOptions): Promise<PutResult> {
    return await (await this.#of(principal, query.sql, options)).keep(principal, query, request, options);
  }

  async update(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<number> {
    return await (await this.#of(principal, request.sql, options)).update(principal, request, options);
  }

  /** Only the local engine has the operator's database. */
  async analyticsTables(options: CallOptions): Promise<readonly AnalyticsTable[]> {
    return await this.#named(undefined).analyticsTables(options);
  }

  async #of(principal: Principal, sql: string, options: CallOptions): Promise<EngineSql> {
    if (options.engine !== autoEngineName) return this.#named(options.engine);
    return this.#named((await this.#auto.choose(principal, sql, options)).engine);
  }

  #named(name: string = localEngineName): EngineSql {
    const engine = this.#engines.get(name);
    if (engine !== undefined) return engine;
    throw unknownEngine(name, [...this.#engines.keys(), autoEngineName]);
  }
}
