import { AppError } from '../core/app-error.ts';
import type { Column } from '../core/data-type.ts';
import { mayUseEngine, tsdbEngineName } from '../core/engine-names.ts';
import { type FrameName, isSharedName, ownedName } from '../core/frame-name.ts';
import { generateHandle, type Handle } from '../core/handle.ts';
import type { ListedLiveTable, LiveTables } from '../core/live-tables.ts';
import type { Principal } from '../core/principal.ts';
import { refuseProducer } from '../core/producer.ts';
import {
  type AnalyticsTable,
  type Change,
  isAnalytics,
  type SqlEngine,
  type SqlJob,
  type SqlResult,
  type SqlRun,
  type SqlTable,
  type Statement,
  type TableName,
} from '../core/sql.ts';
import { endingWith } from '../core/sql-result.ts';
import type { StatementSettings } from '../core/statement-settings.ts';
import { frameNameOf, notWritable } from '../core/table-name.ts';
import { isSameName } from '../core/text/ascii-lower.ts';
import { didYouMeanName } from '../core/text/did-you-mean.ts';
import { frameDamaged, viewTaken } from '../frames/catalog/frame-errors.ts';
import type { HeldSummary, PutResult } from '../frames/catalog/frame-summary.ts';
import { definitionOf } from '../frames/disk/manifest.ts';
import type { Frames } from '../frames/frames.ts';
import type { PutRequest } from '../frames/write/put-frame.ts';
import { alterFrame } from './alter-frame.ts';
import { Definitions } from './definitions.ts';
import { definitionsIn } from './definitions-in.ts';
import { FrameChanges } from './frame-changes.ts';
import type {
  AnalysedStatement,
  CallOptions,
  KeepRequest,
  KeptQuery,
  PreparedSql,
  QueryRequest,
  SqlUpdate,
  UpdateRequest,
} from './frame-sql.ts';
import { findFrame, isAbsent, sqlColumns, sqlNameOf } from './frame-tables.ts';
import { frameNamer, withFullNames } from './full-names.ts';
import { listedInCatalogs } from './listed-in-catalogs.ts';
import { openTables } from './open-tables.ts';
import { ofSession, readsTemporary, temporaryGone, temporaryHandle, temporaryTtlMs } from './temporary-tables.ts';

export interface FrameStatementsOptions {
  readonly engine: SqlEngine;
  readonly frames: Frames;
  /** What casts the rows of an INSERT to what a frame takes. Default: the engine itself. */
  readonly caster?: SqlEngine | undefined;
  /** Of the external database, for an engine that can read them. */
  readonly live?: LiveTables | undefined;
}

type Create = Extract<AnalysedStatement, { kind: 'createTable' }>;
type Insert = Extract<AnalysedStatement, { kind: 'insert' }>;
type CreateView = Extract<AnalysedStatement, { kind: 'createView' }>;
type Drop = Extract<Statement, { kind: 'drop' }>;
type Alter = Extract<AnalysedStatement, { kind: 'alter' }>;
type Truncate = Extract<Statement, { kind: 'truncate' }>;
type KeptRows = Pick<SqlJob, 'query' | 'constraints' | 'settings'> & Omit<KeptQuery, 'statement'>;

const mostAttempts = 5;

/** Statements over the frames of a caller, on one engine; each over one version of every frame that it reads. */
export class FrameStatements {
  readonly #engine: SqlEngine;
  readonly #frames: Frames;
  readonly #changes: FrameChanges;
  readonly #definitions: Definitions;
  readonly #sources: Omit<FrameStatementsOptions, 'caster'>;
  /** Undefined: the engine itself. */
  readonly #caster: SqlEngine | undefined;

  constructor({ caster, ...sources }: FrameStatementsOptions) {
    const { engine, frames } = sources;
    this.#engine = engine;
    this.#caster = caster;
    this.#frames = frames;
    this.#changes = new FrameChanges(sources);
    this.#definitions = new Definitions(sources);
    this.#sources = sources;
  }

  /** The analysis of a text that is remembered. */
  async known(principal: Principal, sql: string, { temporary }: CallOptions): Promise<Statement | undefined> {
    if (this.#engine.known === undefined) return undefined;
    return this.#engine.known(sql, principal.tenant, await definitionsIn(this.#frames, principal, sql, temporary));
  }

  /** The name of one that the engine does not take, where there is one. */
  refusedSetting(settings: StatementSettings = {}): string | undefined {
    const taken = this.#engine.settings;
    return taken === undefined ? undefined : Object.keys(settings).find((name) => !taken.includes(name));
  }

  async analyze(principal: Principal, sql: string, options: CallOptions): Promise<Statement> {
    const definitions = await definitionsIn(this.#frames, principal, sql, options.temporary);
    return await this.#engine.analyze(sql, { ...options, tenant: principal.tenant, definitions });
  }

  async prepare(principal: Principal, statement: AnalysedStatement, options: CallOptions): Promise<PreparedSql> {
    const { settings } = statement;
    switch (statement.kind) {
      case 'query':
        return { isUpdate: false, ...(await this.#describe(principal, { query: statement.query, settings }, options)) };
      case 'showTables':
        return { isUpdate: false, columns: [{ name: 'name', type: { kind: 'utf8' } }], parameters: [] };
      case 'createTable':
      case 'insert':
        this.#frames.assertMayWrite(principal);
        if (statement.kind === 'createTable' && statement.isTemporary)
          ofSession(options.temporary, 'TABLE', statement.table);
        return await ofStatement(statement, async () => {
          const { query } = statement;
          if (statement.kind === 'createTable')
            return { ...(await this.#describe(principal, { query, settings }, options)), isUpdate: true, columns: [] };
          const { handle, into } = await this.#insertTarget(principal, statement, options);
          const given = this.#caster === undefined ? { query, into, settings } : { query, settings };
          const description = await this.#describe(principal, given, options);
          const columns = await this.#returnedColumns(principal, statement, handle, options);
          return { ...description, isUpdate: true, columns };
        });
      case 'createView':
        this.#frames.assertMayWrite(principal);
        if (statement.isTemporary) ofSession(options.temporary, 'VIEW', statement.table);
        await this.#describe(principal, { query: statement.query }, options);
        return { isUpdate: true, columns: [], parameters: [] };
      case 'change':
        this.#frames.assertMayWrite(principal);
        return await ofStatement(statement, async () => {
          const handle = await this.#changed(principal, statement.table, options);
          return { ...(await this.#changes.prepare(principal, statement, handle, options)), isUpdate: true };
        });
      case 'truncate':
      case 'drop':
      case 'alter':
      case 'define':
      case 'undefine':
        this.#frames.assertMayWrite(principal);
        return { isUpdate: true, columns: [], parameters: [] };
      default:
        return statement satisfies never;
    }
  }

  async boundColumns(
    principal: Principal,
    { statement, parameters }: UpdateRequest,
    options: CallOptions,
  ): Promise<readonly Column[]> {
    if (statement.kind !== 'query') return [];
    const { query, settings } = statement;
    return (await this.#describe(principal, { query, parameters, settings }, options)).columns;
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
    if (statement.kind === 'query') {
      const { query, settings } = statement;
      return await this.#run(principal, { query, settings, ...request }, options);
    }
    if (statement.kind !== 'showTables') throw changesData(statement);
    const names = new Map([...(options.temporary?.handles ?? [])].map(([own, handle]) => [handle as string, own]));
    const rows: string[][] = [];
    for await (const frame of this.#frames.list(principal))
      if (frame.state === 'held') rows.push([names.get(frame.handle) ?? sqlNameOf(frame.handle)]);
    const name = 'held';
    const query = { sql: `SELECT name FROM ${name} ORDER BY name`, tables: [], parameterCount: 0 };
    const tables: SqlTable[] = [{ kind: 'list', name, columns: ['name'], rows }];
    return await this.#engine.run({ query, tables, ...request }, { ...options, tenant: principal.tenant });
  }

  async keep(
    principal: Principal,
    { statement, ...rows }: KeptQuery,
    request: KeepRequest,
    options: CallOptions,
  ): Promise<PutResult> {
    this.#frames.assertMayWrite(principal);
    if (statement.kind === 'query') {
      const { query, settings } = statement;
      return await this.#keep(principal, { query, settings, ...rows }, request, options);
    }
    await using result = await this.query(principal, { statement, ...rows, form: 'arrow', isKept: true }, options);
    return await this.#putRows(principal, result, request, options);
  }

  async update(
    principal: Principal,
    { statement, parameters, producer, returned }: UpdateRequest,
    options: CallOptions,
  ): Promise<SqlUpdate> {
    if (statement.kind !== 'insert') refuseProducer(producer, 'the statement is no INSERT');
    switch (statement.kind) {
      case 'createTable':
      case 'insert':
        this.#frames.assertMayWrite(principal);
        return await ofStatement(statement, () =>
          statement.kind === 'insert'
            ? retried(() => this.#insert(principal, statement, { parameters, producer, returned }, options))
            : this.#create(principal, statement, parameters, options),
        );
      case 'createView':
        this.#frames.assertMayWrite(principal);
        return await this.#createView(principal, statement, options);
      case 'change':
        this.#frames.assertMayWrite(principal);
        return await ofStatement(statement, async () => {
          const handle = await this.#changed(principal, statement.table, options);
          const run = { handle, parameters, returned };
          return await retried(() => this.#changes.change(principal, statement, run, options));
        });
      case 'truncate':
        this.#frames.assertMayWrite(principal);
        return await this.#truncate(principal, statement, options);
      case 'drop':
        this.#frames.assertMayWrite(principal);
        return await this.#drop(principal, statement, options);
      case 'alter':
        this.#frames.assertMayWrite(principal);
        return await ofStatement(statement, () => this.#alter(principal, statement, options));
      case 'define':
        this.#frames.assertMayWrite(principal);
        return { rows: 0, hasChanged: await this.#definitions.define(principal, statement, options) };
      case 'undefine':
        this.#frames.assertMayWrite(principal);
        return { rows: 0, hasChanged: await this.#definitions.undefine(principal, statement, options) };
      case 'query':
      case 'showTables':
        throw new AppError('sql_error', 'this statement changes nothing', { hint: 'run it as a query' });
      default:
        return statement satisfies never;
    }
  }

  async analyticsTables({ tenant }: Principal, options: CallOptions): Promise<readonly AnalyticsTable[]> {
    return await this.#engine.analyticsTables({ ...options, tenant });
  }

  async liveTables(principal: Principal, options: CallOptions): Promise<readonly ListedLiveTable[]> {
    const { live } = this.#sources;
    if (live === undefined || !mayUseEngine(principal, tsdbEngineName)) return [];
    return await live.list(options);
  }

  async #create(
    principal: Principal,
    { table, ifTaken, isTemporary, ...rows }: Create,
    parameters: Uint8Array | undefined,
    options: CallOptions,
  ): Promise<SqlUpdate> {
    if (isTemporary) return await this.#createTemporary(principal, { table, ifTaken, ...rows }, parameters, options);
    const { query, constraints, settings } = rows;
    const { handle, isHeld } = await this.#target(principal, table);
    if (ifTaken === 'keep' && isHeld) return { rows: 0, hasChanged: false };
    const mode = ifTaken === 'replace' ? 'overwrite' : 'create';
    try {
      const { rows } = await this.#keep(
        principal,
        { query, settings, parameters, constraints },
        { handle, mode, constraints },
        options,
      );
      return { rows, hasChanged: true };
    } catch (error) {
      throw error instanceof AppError && error.code === 'handle_exists' ? tableExists(handle, error) : error;
    }
  }

  /** A frame of its own, which the session finds by the name. What it replaces is dropped behind it. */
  async #createTemporary(
    principal: Principal,
    { table, ifTaken, query, constraints, settings }: Omit<Create, 'kind' | 'sql' | 'engine'>,
    parameters: Uint8Array | undefined,
    options: CallOptions,
  ): Promise<SqlUpdate> {
    const session = ofSession(options.temporary, 'TABLE', table);
    const before = temporaryHandle(session, table);
    if (before !== undefined && ifTaken === 'keep') return { rows: 0, hasChanged: false };
    if (before !== undefined && ifTaken === 'fail') throw temporaryExists(table);
    const kept = { query, parameters, constraints, settings };
    const handle = generateHandle();
    const put = { handle, mode: 'create', ttlMs: temporaryTtlMs, constraints } as const;
    const { rows } = await this.#keep(principal, kept, put, options);
    session.set(table.name, handle);
    if (before !== undefined) await this.#dropTemporary(principal, before);
    return { rows, hasChanged: true };
  }

  async #dropTemporary(principal: Principal, handle: Handle): Promise<void> {
    try {
      await this.#frames.drop(principal, handle);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }

  /** The view is saved with the whole name of each table that it reads: names mean the same for whoever reads it. */
  async #createView(principal: Principal, statement: CreateView, options: CallOptions): Promise<SqlUpdate> {
    const { table, ifTaken, isTemporary, query, written, definition } = statement;
    const session = isTemporary ? ofSession(options.temporary, 'VIEW', table) : undefined;
    const replaced = temporaryHandle(session, table);
    const { handle, isHeld } = session
      ? { handle: generateHandle(), isHeld: replaced !== undefined }
      : await this.#target(principal, table);
    if (ifTaken === 'keep' && isHeld) return { rows: 0, hasChanged: false };
    if (ifTaken === 'fail' && replaced !== undefined) throw temporaryExists(table);
    const temporary = session
      ? undefined
      : query.tables.find((read) => temporaryHandle(options.temporary, read) !== undefined);
    if (temporary !== undefined) throw readsTemporary('a view', temporary);
    const { tenant } = principal;
    const own = ownedName(tenant, handle);
    const job = { ...options, tenant };
    await using opened = await openTables(this.#sources, principal, query, options);
    const { tables, described } = opened;
    await this.#engine.describe({ query, tables: described }, job);
    const before = replaced && ownedName(tenant, replaced);
    if (tables.some(({ frame }) => frame === own || frame === before)) throw readsItself(table.name);
    const frameOf = frameNamer(tables);
    const text = withFullNames(definition, frameOf);
    const reads = [...new Set(query.tables.flatMap((read) => frameOf(read) ?? []))].map((frame) =>
      frame.startsWith(`${tenant}/`) ? frame.slice(tenant.length + 1) : frame,
    );
    const columns = await this.#viewColumns(principal, { frame: own, query: text }, options);
    const view = { sql: written, query: text, reads: reads.sort() };
    await this.#frames.saveView(
      principal,
      {
        handle,
        ifTaken: ifTaken === 'replace' && !session ? 'replace' : 'fail',
        view,
        columns,
        ttlMs: session && temporaryTtlMs,
      },
      options,
    );
    session?.set(table.name, handle);
    if (replaced !== undefined) await this.#dropTemporary(principal, replaced);
    return { rows: 0, hasChanged: true };
  }

  /** Of a view that is to be made. */
  async #viewColumns(
    principal: Principal,
    view: { readonly frame: string; readonly query: string },
    options: CallOptions,
  ): Promise<readonly Column[]> {
    const job = { ...options, tenant: principal.tenant };
    const statement = await this.#engine.analyze(view.query, job);
    if (statement.kind !== 'query') throw new AppError('internal', 'the definition of a view is no query');
    const { query } = statement;
    await using opened = await openTables(this.#sources, principal, query, options, view.frame);
    try {
      return (await this.#engine.describe({ query, tables: opened.described }, job)).columns;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'sql_error') throw error;
      // The caller does not know this text.
      throw new AppError(error.code, error.message, { hint: error.hint, cause: error });
    }
  }

  /** A frame that the query reads itself is not replaced by rows of an older version: others' writes would be lost. */
  async #keep(principal: Principal, kept: KeptRows, request: KeepRequest, options: CallOptions): Promise<PutResult> {
    return await retried(() => this.#keepOnce(principal, kept, request, options));
  }

  /** If the engine can write files, it writes the frame's files itself. Otherwise this server writes the rows. */
  async #keepOnce(
    principal: Principal,
    kept: KeptRows,
    request: KeepRequest,
    options: CallOptions,
  ): Promise<PutResult> {
    const { query, settings, parameters, fromRow = 0, toRow = Infinity, columns } = kept;
    const { handle, mode } = request;
    const engine = this.#engine;
    const job = { ...options, tenant: principal.tenant };
    const isWhole = fromRow === 0 && toRow === Infinity && columns === undefined;
    // Before the engine works for nothing; the put looks again.
    await this.#frames.refusePut(principal, { handle, mode });
    await using opened = await openTables(this.#sources, principal, query, options);
    const listed = await this.#listed(principal, query, options);
    const read = opened.tables.find(
      ({ frame }) => handle !== undefined && frame === ownedName(principal.tenant, handle),
    );
    const put = { ...request, replaces: mode === 'overwrite' ? read?.versionId : undefined };
    const tables = await opened.withRows(kept);
    if (engine.write !== undefined && isWhole) {
      await using folder = await this.#frames.incomingFolder(principal);
      const paths = await engine.write({ query, settings, parameters, tables, listed, folder: folder.path }, job);
      const source = { kind: 'parts', paths } as const;
      if (paths.length > 0) return await this.#frames.put(principal, { ...put, source }, options);
    }
    await using result = await engine.run({ ...kept, tables, listed, form: 'arrow', isKept: true }, job);
    return await this.#putRows(principal, result, put, options);
  }

  async #putRows(
    principal: Principal,
    result: SqlResult,
    request: Omit<PutRequest, 'source'>,
    options: CallOptions,
  ): Promise<PutResult> {
    const source = { kind: 'arrow', stream: result.arrowStream() } as const;
    const types = result.columns.map(({ declared }) => declared ?? null);
    const declared = types.some((type) => type !== null) ? types : undefined;
    return await this.#frames.put(principal, { ...request, source, declared }, options);
  }

  async #insert(
    principal: Principal,
    statement: Insert,
    { parameters, producer, returned }: Omit<UpdateRequest, 'statement'>,
    options: CallOptions,
  ): Promise<SqlUpdate> {
    const { handle, into, definition } = await this.#insertTarget(principal, statement, options);
    const { query, returning, table, settings } = statement;
    if (returning !== undefined) {
      refuseProducer(producer, 'the statement has RETURNING');
      await using opened = await openTables(this.#sources, principal, query, options);
      const tables = await opened.withRows({ query, into, settings });
      const rowsRun = { query, into, settings, tables, form: 'arrow', parameters, isKept: true } as const;
      await using staged = await this.#changes.stage(principal, rowsRun, options);
      const { rows, path } = staged;
      const wanted = { returning, table, path, hidden: [], settings, parameters, returned };
      const result = await this.#changes.returned(principal, wanted, options);
      if (rows === 0) return { rows, hasChanged: false, returned: result };
      const source = { kind: 'parquet', parts: [{ path, rows }], columns: into.columns } as const;
      await this.#frames.put(principal, { handle, mode: 'append', source, isChecked: true, definition }, options);
      return { rows, hasChanged: true, returned: result };
    }
    const run = { query, settings, form: 'arrow', parameters, isKept: true } as const;
    await using result = await this.#castRows(principal, run, into, options);
    const put = { handle, mode: 'append', producer, isChecked: true, definition } as const;
    const { isRepeated } = await this.#putRows(principal, result, put, options);
    if (isRepeated) return { rows: 0, hasChanged: false, isRepeated };
    return { rows: result.totalRows, hasChanged: result.totalRows > 0 };
  }

  /** The rows of a query as an INSERT adds them. */
  async #castRows(
    principal: Principal,
    run: Omit<SqlRun, 'tables' | 'into'>,
    into: NonNullable<SqlJob['into']>,
    options: CallOptions,
  ): Promise<SqlResult> {
    const caster = this.#caster;
    if (caster === undefined) return await this.#run(principal, { ...run, into }, options);
    const staged = await this.#staged(principal, run, options);
    const close = async (): Promise<void> => staged[Symbol.asyncDispose]();
    try {
      const name = 'given_rows';
      const tables: SqlTable[] = [{ kind: 'changes', name, path: staged.path, hidden: [] }];
      const query = { sql: `SELECT * FROM ${name}`, tables: [], parameterCount: 0 };
      const { form, isKept, settings } = run;
      const cast = { query, into, tables, form, isKept, settings };
      return endingWith(await caster.run(cast, { ...options, tenant: principal.tenant }), close);
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #staged(principal: Principal, run: Omit<SqlRun, 'tables'>, options: CallOptions) {
    await using opened = await openTables(this.#sources, principal, run.query, options);
    return await this.#changes.stage(principal, { ...run, tables: opened.tables }, options);
  }

  async #alter(principal: Principal, statement: Alter, options: CallOptions): Promise<SqlUpdate> {
    const own = temporaryHandle(options.temporary, statement.table);
    if (own !== undefined && statement.change.kind === 'renameTable')
      throw new AppError('sql_forbidden', 'a temporary table keeps its name', { hint: 'create another of it' });
    const { handle, isHeld } = own ? { handle: own, isHeld: true } : await this.#target(principal, statement.table);
    if (!isHeld && statement.ifAbsent === 'ignore') return { rows: 0, hasChanged: false };
    const hasChanged = await retried(async () => {
      const frame = await this.#frames.describe(principal, handle, options);
      if (frame.state === 'damaged') throw frameDamaged(handle, frame.reason);
      if (frame.view !== undefined) throw viewNotAltered(handle);
      const altered = { ...statement, handle, frame };
      return await alterFrame({ engine: this.#engine, frames: this.#frames }, principal, altered, options);
    });
    return { rows: 0, hasChanged };
  }

  async #returnedColumns(
    principal: Principal,
    { returning, table }: Insert,
    handle: Handle,
    options: CallOptions,
  ): Promise<readonly Column[]> {
    if (returning === undefined) return [];
    await using reader = await this.#frames.open(principal, handle, options);
    return await this.#changes.returnedColumns(principal, { returning, table }, reader, options);
  }

  async #truncate(principal: Principal, { table }: Truncate, options: CallOptions): Promise<SqlUpdate> {
    const handle = await this.#changed(principal, table, options);
    const { rows } = await this.#held(principal, handle, options);
    if (rows === 0) return { rows, hasChanged: false };
    const { rowsBefore } = await this.#frames.change(principal, { handle, changes: undefined }, options);
    return { rows: rowsBefore, hasChanged: rowsBefore > 0 };
  }

  async #held(principal: Principal, handle: Handle, { signal }: CallOptions): Promise<HeldSummary> {
    const frame = await this.#frames.describe(principal, handle, { signal });
    if (frame.state === 'held' && frame.view !== undefined) throw viewTaken(handle);
    if (frame.state === 'held') return frame;
    throw frameDamaged(handle, frame.reason);
  }

  /** The frame, or the temporary table, whose rows a statement changes. */
  async #changed(principal: Principal, table: TableName, { temporary }: CallOptions): Promise<Handle> {
    return temporaryHandle(temporary, table) ?? (await this.#target(principal, table)).handle;
  }

  async #drop(
    principal: Principal,
    { what, table, ifAbsent }: Drop,
    { temporary, signal }: CallOptions,
  ): Promise<SqlUpdate> {
    const own = temporaryHandle(temporary, table);
    if (own !== undefined && (await this.#isView(principal, own, signal)) === (what === 'view')) {
      await this.#dropTemporary(principal, own);
      temporary?.set(table.name, undefined);
      return { rows: 0, hasChanged: true };
    }
    try {
      const { handle, isHeld } = await this.#target(principal, table);
      const frame = isHeld ? await this.#frames.describe(principal, handle, { signal }) : undefined;
      const isView = frame?.state === 'held' && frame.view !== undefined;
      if (frame !== undefined && isView !== (what === 'view')) throw otherKind(handle, isView);
      await this.#frames.drop(principal, handle);
      return { rows: 0, hasChanged: true };
    } catch (error) {
      if (!isAbsent(error) || ifAbsent === 'fail') throw error;
      return { rows: 0, hasChanged: false };
    }
  }

  /** One that is gone is none. */
  async #isView(principal: Principal, handle: Handle, signal: AbortSignal): Promise<boolean> {
    try {
      const frame = await this.#frames.describe(principal, handle, { signal });
      return frame.state === 'held' && frame.view !== undefined;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  /** The frame that a statement changes, whether it is held or not: one of the caller's own. */
  async #target(
    principal: Principal,
    table: TableName,
  ): Promise<{ readonly handle: Handle; readonly isHeld: boolean }> {
    if (isAnalytics(table)) throw readOnlyAnalytics();
    const wanted = frameNameOf(principal.tenant, table);
    const found = await findFrame(this.#frames, principal, table);
    const handle = found ?? wanted;
    if (!isSharedName(handle)) return { handle, isHeld: found !== undefined };
    await this.#refuseShared(principal, handle, table);
    throw notWritable(table);
  }

  async #refuseShared(principal: Principal, name: FrameName, table: TableName): Promise<void> {
    try {
      await this.#frames.refusePut(principal, { handle: name, mode: 'append' });
    } catch (error) {
      // There is one tenant, so that no schema is another's.
      throw error instanceof AppError && error.code === 'invalid_handle' ? notWritable(table) : error;
    }
  }

  async #insertTarget(
    principal: Principal,
    { table, columns: listed, match }: Insert,
    { signal, temporary }: CallOptions,
  ): Promise<{ handle: Handle; into: NonNullable<SqlJob['into']>; definition: string }> {
    const own = temporaryHandle(temporary, table);
    const handle = own ?? (await this.#target(principal, table)).handle;
    const frame = await this.#frames.describe(principal, handle, { signal }).catch((error: unknown) => {
      throw own !== undefined && isAbsent(error) ? temporaryGone(table, error) : error;
    });
    if (frame.state === 'damaged') throw frameDamaged(handle, frame.reason);
    assertColumns(listed ?? [], frame.columns, own === undefined ? handle : table.name);
    const { constraints } = frame;
    const columns = sqlColumns(frame);
    const named = match === 'defaults' ? [anyColumn(frame)] : listed;
    const into = { columns, constraints, named, isByName: match === 'name' };
    return { handle, into, definition: definitionOf(frame) };
  }

  /** Undefined for a query that reads no catalogs. */
  async #listed(principal: Principal, query: SqlJob['query'], options: CallOptions): Promise<SqlJob['listed']> {
    if (!query.readsCatalogs) return undefined;
    return await listedInCatalogs(this.#sources, principal, options);
  }

  async #describe(
    principal: Principal,
    job: Omit<SqlJob, 'tables'> & Pick<SqlRun, 'parameters'>,
    options: CallOptions,
  ): Promise<Omit<PreparedSql, 'isUpdate'>> {
    await using opened = await openTables(this.#sources, principal, job.query, options);
    const listed = await this.#listed(principal, job.query, options);
    const described = { ...job, tables: opened.described, listed };
    const { columns, parameters } = await this.#engine.describe(described, { ...options, tenant: principal.tenant });
    return { columns, parameters, parameterNames: job.query.parameterNames };
  }

  async #run(
    principal: Principal,
    run: Omit<SqlJob, 'tables'> & Omit<QueryRequest, 'statement'>,
    options: CallOptions,
  ): Promise<SqlResult> {
    const opened = await openTables(this.#sources, principal, run.query, options);
    const close = async (): Promise<void> => opened[Symbol.asyncDispose]();
    try {
      const job = { ...options, tenant: principal.tenant };
      const listed = await this.#listed(principal, run.query, options);
      const tables = await opened.withRows(run);
      return endingWith(await this.#engine.run({ ...run, tables, listed }, job), close);
    } catch (error) {
      await close();
      throw error;
    }
  }
}

/** Again, as often as others have changed a frame meanwhile. */
async function retried<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      const isChanged = error instanceof AppError && error.code === 'frame_changed';
      if (!isChanged || attempt === mostAttempts) throw error;
    }
  }
}

function temporaryExists({ name }: TableName): AppError {
  return new AppError('handle_exists', `the session has a temporary table or view ${JSON.stringify(name)}`, {
    hint: 'CREATE OR REPLACE TEMP … replaces it, INSERT INTO appends to a table',
  });
}

function readOnlyAnalytics(): AppError {
  return new AppError('sql_forbidden', 'the database analytics can only be read', {
    hint: 'make a frame: CREATE TABLE name AS SELECT …',
  });
}

function viewNotAltered(handle: Handle): AppError {
  return new AppError('sql_error', `${handle} is a view, which ALTER does not change`, {
    hint: 'CREATE OR REPLACE VIEW makes it anew',
  });
}

function readsItself(name: string): AppError {
  return new AppError('sql_error', `view ${name} would read itself`, {
    hint: 'name the view otherwise',
  });
}

function otherKind(handle: Handle, isView: boolean): AppError {
  const [is, statement] = isView ? ['a view', 'DROP VIEW'] : ['a frame', 'DROP TABLE'];
  return new AppError('sql_error', `${handle} is ${is}`, { hint: `${statement} drops it` });
}

function tableExists(handle: Handle, cause: AppError): AppError {
  return new AppError('handle_exists', `table ${JSON.stringify(handle)} exists`, {
    hint: 'CREATE OR REPLACE TABLE replaces it, INSERT INTO appends to it',
    cause,
  });
}

function changesData(statement: Exclude<Statement, { kind: 'query' | 'showTables' }>): AppError {
  const verbs = {
    createTable: 'CREATE TABLE',
    insert: 'INSERT',
    truncate: 'TRUNCATE',
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

function assertColumns(named: readonly string[], columns: readonly Column[], table: string): void {
  const names = columns.map((column) => column.name);
  for (const name of named) {
    if (names.some((each) => isSameName(each, name))) continue;
    const suggestion = didYouMeanName(name, names);
    throw new AppError('sql_error', `column ${JSON.stringify(name)} not found in ${table}${suggestion}`);
  }
}

/** One that takes a value. */
function anyColumn({ columns, constraints }: HeldSummary): string {
  const generated = new Set(constraints?.generated.map(({ column }) => column));
  return columns.find(({ name }) => !generated.has(name))?.name ?? '';
}

/** In an error of the query inside a statement the table that the engine inserts into first has the frame's name. */
async function ofStatement<T>({ table }: Create | Insert | Alter | Change, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { hint, position, retryAfterSeconds } = error;
    const message = error.message.replaceAll('insert_target', table.name);
    throw new AppError(error.code, message, { hint, position, retryAfterSeconds, cause: error });
  }
}
