import { AppError } from '../../core/app-error.ts';
import type { Column } from '../../core/data-type.ts';
import { mayUseEngine, tsdbEngineName } from '../../core/engine-names.ts';
import type { ListedLiveTable } from '../../core/live-tables.ts';
import type { Principal } from '../../core/principal.ts';
import { refuseProducer } from '../../core/producer.ts';
import { type AnalyticsTable, isAnalytics, type SqlResult, type SqlTable, type Statement } from '../../core/sql.ts';
import type { StatementSettings } from '../../core/statement-settings.ts';
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
import { definitionsIn } from '../tables/definitions-in.ts';
import { sqlNameOf } from '../tables/frame-tables.ts';
import { openTables } from '../tables/open-tables.ts';
import type { InsertSources } from './insert.ts';
import { keepRows, putResult } from './keep-rows.ts';
import { describeQuery, runQuery } from './run-query.ts';
import { prepareWrite, runWrite, type WriteStatement } from './write-statement.ts';

type ReadStatement = Extract<AnalysedStatement, { kind: 'query' | 'showTables' }>;

/** Statements over the frames of a caller, on one engine; each over one version of every frame that it reads. */
export class FrameStatements {
  readonly #sources: InsertSources;

  constructor(sources: InsertSources) {
    this.#sources = sources;
  }

  /** The analysis of a text that is remembered. */
  async known(principal: Principal, sql: string, { temporary }: CallOptions): Promise<Statement | undefined> {
    const { engine, frames } = this.#sources;
    if (engine.known === undefined) return undefined;
    return engine.known(sql, principal.tenant, await definitionsIn(frames, principal, sql, temporary));
  }

  /** The name of one that the engine does not take, where there is one. */
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
    if (!isRead(statement)) return await prepareWrite(this.#sources, principal, statement, options);
    if (statement.kind === 'showTables')
      return { isUpdate: false, columns: [{ name: 'name', type: { kind: 'utf8' } }], parameters: [] };
    const { query, settings } = statement;
    return { isUpdate: false, ...(await describeQuery(this.#sources, principal, { query, settings }, options)) };
  }

  async boundColumns(
    principal: Principal,
    { statement, parameters }: UpdateRequest,
    options: CallOptions,
  ): Promise<readonly Column[]> {
    if (statement.kind !== 'query') return [];
    const { query, settings } = statement;
    return (await describeQuery(this.#sources, principal, { query, parameters, settings }, options)).columns;
  }

  async sourceVersion(principal: Principal, statement: Statement, options: CallOptions): Promise<string | undefined> {
    if (statement.kind !== 'query' || statement.query.readsCatalogs || statement.query.tables.some(isAnalytics))
      return undefined;
    await using opened = await openTables(this.#sources, principal, statement.query, options);
    if (opened.described.length > opened.tables.length) return undefined;
    if (opened.tables.some((read) => read.kind === 'view' && read.query.tables.some(isAnalytics))) return undefined;
    const versions = opened.tables.map(({ frame, versionId }) => [frame, versionId]);
    // A macro may be another one the next time.
    return JSON.stringify(statement.query.usesDefinitions ? [versions, statement.query.sql] : versions);
  }

  async query(principal: Principal, { statement, ...request }: QueryRequest, options: CallOptions): Promise<SqlResult> {
    if (!isRead(statement)) throw changesData(statement);
    if (statement.kind === 'query') {
      const { query, settings } = statement;
      return await runQuery(this.#sources, principal, { query, settings, ...request }, options);
    }
    const { engine, frames } = this.#sources;
    const names = new Map([...(options.temporary?.handles ?? [])].map(([own, handle]) => [handle as string, own]));
    const rows: string[][] = [];
    for await (const frame of frames.list(principal))
      if (frame.state === 'held') rows.push([names.get(frame.handle) ?? sqlNameOf(frame.handle)]);
    const name = 'held';
    const query = { sql: `SELECT name FROM ${name} ORDER BY name`, tables: [], parameterCount: 0 };
    const tables: SqlTable[] = [{ kind: 'list', name, columns: ['name'], rows }];
    return await engine.run({ query, tables, ...request }, { ...options, tenant: principal.tenant });
  }

  async keep(
    principal: Principal,
    { statement, ...rows }: KeptQuery,
    request: KeepRequest,
    options: CallOptions,
  ): Promise<PutResult> {
    const sources = this.#sources;
    sources.frames.assertMayWrite(principal);
    if (statement.kind === 'query') {
      const { query, settings } = statement;
      return await keepRows(sources, principal, { query, settings, ...rows }, request, options);
    }
    await using result = await this.query(principal, { statement, ...rows, form: 'arrow', isKept: true }, options);
    return await putResult(sources.frames, principal, result, request, options);
  }

  async update(principal: Principal, request: UpdateRequest, options: CallOptions): Promise<SqlUpdate> {
    const { statement, producer } = request;
    if (statement.kind !== 'insert') refuseProducer(producer, 'the statement is no INSERT');
    if (isRead(statement))
      throw new AppError('sql_error', 'this statement changes nothing', { hint: 'run it as a query' });
    return await runWrite(this.#sources, principal, { ...request, statement }, options);
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

function changesData(statement: WriteStatement): AppError {
  const verbs = {
    createTable: 'CREATE TABLE',
    insert: 'INSERT',
    truncate: 'a statement that removes all rows',
    drop: 'DROP',
    createView: 'CREATE VIEW',
    alter: 'ALTER TABLE',
    define: 'CREATE',
    undefine: 'DROP',
  } as const;
  const verb = statement.kind === 'change' ? statement.verb.toUpperCase() : verbs[statement.kind];
  return new AppError('sql_forbidden', `${verb} changes frames, and here they are only read`, {
    hint: 'send it to POST /sql, or over Flight SQL',
  });
}
