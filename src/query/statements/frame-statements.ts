import type { Column } from '@framehold/columns';
import type { Principal } from '../../core/callers/principal.ts';
import { refuseProducer } from '../../core/callers/producer.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { mayUseEngine, tsdbEngineName } from '../../core/names/engine-names.ts';
import type { ListedLiveTable } from '../../core/sql/live-tables.ts';
import { type AnalyticsTable, isAnalytics, type SqlResult, type SqlTable, type Statement } from '../../core/sql/sql.ts';
import type { StatementSettings } from '../../core/sql/statement-settings.ts';
import type { PutResult } from '../../frames/catalog/frame-summary.ts';
import type {
  AnalysedStatement,
  CallOptions,
  KeepRequest,
  KeptQuery,
  PreparedSql,
  QueryRequest,
  SqlUpdate,
  UpdateRequest,
} from '../frame-sql.ts';
import { keepRows, putResult } from '../rows/keep-rows.ts';
import { describeQuery, runQuery } from '../rows/run-query.ts';
import { type StatementSources, statementRun } from '../statement-run.ts';
import { definitionsIn } from '../tables/definitions-in.ts';
import { sqlNameOf } from '../tables/frame-tables.ts';
import { openTables } from '../tables/open-tables.ts';
import { changesData, prepareWrite, runWrite } from './write-statement.ts';

type ReadStatement = Extract<AnalysedStatement, { kind: 'query' | 'showTables' }>;

/** Statements over the frames of a caller, on one engine; each over one version of every frame that it reads. */
export class FrameStatements {
  readonly #sources: StatementSources;

  constructor(sources: StatementSources) {
    this.#sources = sources;
  }

  /** The analysis of a text that is remembered. */
  async known(principal: Principal, sql: string, { temporary }: CallOptions): Promise<Statement | undefined> {
    const { engine, frames } = this.#sources;
    if (engine.known === undefined) return undefined;
    return engine.known(sql, principal.tenant, await definitionsIn(frames, principal, sql, temporary));
  }

  /** The name of a setting that the engine refuses, if there is one. */
  refusedSetting(settings: StatementSettings = {}): string | undefined {
    const taken = this.#sources.engine.settings;
    return taken === undefined ? undefined : Object.keys(settings).find((name) => !taken.includes(name));
  }

  async analyze(principal: Principal, sql: string, options: CallOptions): Promise<Statement> {
    const { engine, frames } = this.#sources;
    const definitions = await definitionsIn(frames, principal, sql, options.temporary);
    return await engine.analyze(sql, { ...options, tenant: principal.tenant, definitions });
  }

  async prepare(principal: Principal, statement: AnalysedStatement, options: CallOptions): Promise<PreparedSql> {
    const call = statementRun(this.#sources, principal, options);
    if (!isRead(statement)) return await prepareWrite(call, statement);
    if (statement.kind === 'showTables')
      return { isUpdate: false, columns: [{ name: 'name', type: { kind: 'utf8' } }], parameters: [] };
    const { query, settings } = statement;
    return { isUpdate: false, ...(await describeQuery(call, { query, settings })) };
  }

  async boundColumns(
    principal: Principal,
    { statement, parameters }: UpdateRequest,
    options: CallOptions,
  ): Promise<readonly Column[]> {
    if (statement.kind !== 'query') return [];
    const { query, settings } = statement;
    const call = statementRun(this.#sources, principal, options);
    return (await describeQuery(call, { query, parameters, settings })).columns;
  }

  async sourceVersion(principal: Principal, statement: Statement, options: CallOptions): Promise<string | undefined> {
    if (statement.kind !== 'query' || statement.query.readsCatalogs || statement.query.tables.some(isAnalytics))
      return undefined;
    await using opened = await openTables(statementRun(this.#sources, principal, options), statement.query);
    if (opened.described.length > opened.tables.length) return undefined;
    if (opened.tables.some((read) => read.kind === 'view' && read.query.tables.some(isAnalytics))) return undefined;
    const versions = opened.tables.map(({ frame, versionId }) => [frame, versionId]);
    // A macro may be another one the next time.
    return JSON.stringify(statement.query.usesDefinitions ? [versions, statement.query.sql] : versions);
  }

  async query(principal: Principal, { statement, ...request }: QueryRequest, options: CallOptions): Promise<SqlResult> {
    if (!isRead(statement)) throw changesData(statement);
    const call = statementRun(this.#sources, principal, options);
    if (statement.kind === 'query') {
      const { query, settings } = statement;
      return await runQuery(call, { query, settings, ...request });
    }
    const { engine, frames, job } = call;
    const names = new Map([...(options.temporary?.handles ?? [])].map(([own, handle]) => [handle as string, own]));
    const rows: string[][] = [];
    for await (const frame of frames.list(principal))
      if (frame.state === 'held') rows.push([names.get(frame.handle) ?? sqlNameOf(frame.handle)]);
    const name = 'held';
    const query = { sql: `SELECT name FROM ${name} ORDER BY name`, tables: [], parameterCount: 0 };
    const tables: SqlTable[] = [{ kind: 'list', name, columns: ['name'], rows }];
    return await engine.run({ query, tables, ...request }, job);
  }

  async keep(
    principal: Principal,
    { statement, ...rows }: KeptQuery,
    request: KeepRequest,
    options: CallOptions,
  ): Promise<PutResult> {
    const call = statementRun(this.#sources, principal, options);
    call.frames.assertMayWrite(principal);
    if (statement.kind === 'query') {
      const { query, settings } = statement;
      return await keepRows(call, { query, settings, ...rows }, request);
    }
    await using result = await this.query(principal, { statement, ...rows, form: 'arrow', isKept: true }, options);
    return await putResult(call, result, request);
  }

  async update(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<SqlUpdate> {
    const { statement, producer } = request;
    if (statement.kind !== 'insert') refuseProducer(producer, 'the statement is no INSERT');
    if (isRead(statement))
      throw new AppError('sql_error', 'this statement changes nothing', { hint: 'run it as a query' });
    return await runWrite(statementRun(this.#sources, principal, options), { ...request, statement });
  }

  async analyticsTables({ tenant }: Principal, options: CallOptions): Promise<readonly AnalyticsTable[]> {
    return await this.#sources.engine.analyticsTables({ ...options, tenant });
  }

  async liveTables(principal: Principal, options: CallOptions): Promise<readonly ListedLiveTable[]> {
    const { live } = this.#sources;
    if (live === undefined || !mayUseEngine(principal, tsdbEngineName)) return [];
    return await live.list(options);
  }
}

function isRead(statement: AnalysedStatement): statement is ReadStatement {
  return statement.kind === 'query' || statement.kind === 'showTables';
}
