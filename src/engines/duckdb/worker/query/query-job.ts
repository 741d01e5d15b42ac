import { type Column, sqlTypeName } from '@framehold/columns';
import { type Connection, DuckDbError, duckdbType, type PreparedStatement } from '@framehold/duckdb';
import { Cleanup } from '../../../../core/async/cleanup.ts';
import { AppError } from '../../../../core/errors/app-error.ts';
import {
  isAnalytics,
  type NamedConstraints,
  type Query,
  type SqlDescription,
  type TableName,
} from '../../../../core/sql/sql.ts';
import { editedText, placeIn, type TextEdit } from '../../../../core/text/source-text.ts';
import type { EncodedPieces } from '../../../../encoding/row-encoder.ts';
import type { QueryJob, QueryTable, RunQueryJob } from '../../protocol/protocol.ts';
import { loadArrowStream } from '../append/arrow-to-table.ts';
import { encodeResults, type ResultRows, withDeclared } from '../encode/encode-results.ts';
import { firstError } from '../first-error.ts';
import { columnCandidates } from '../gate/errors/column-candidates.ts';
import { sqlError } from '../gate/errors/sql-error.ts';
import { canBeRead, readableSql } from '../parquet/parquet-relation.ts';
import { resourceError } from '../resource-error.ts';
import { assertTables } from './analytics-names.ts';
import { explainRows } from './explain-rows.ts';
import { assertConstraints, type InsertTarget, insertInto, insertTarget, underName } from './insert-target.ts';
import { parameterTypes } from './parameter-types.ts';
import { bindParameters, meantValue, parametersAsRows, prepareUnbound } from './query-parameters.ts';
import { runShort, type ShortResult } from './short-query.ts';
import { type QueryPlace, type SqlCatalog, viewName } from './sql-catalog.ts';

export interface QueryContext {
  readonly catalog: QueryPlace;
  /** The connection with the parameter rows while the query runs: the same, or one whose tables catalogs do not show. */
  readonly parameters: Connection;
  readonly signal: AbortSignal;
  /** Parameter rows, as an Arrow IPC stream. */
  readonly input: AsyncIterable<Uint8Array>;
}

/** Functions of lists of numbers, and their operators. */
const listMath = /\blist_(?:cosine|distance|dot|inner|negative)|<->|<=>/i;

/** The columns and parameters of a query, from DuckDB's planner alone. */
export async function describeQuery(context: QueryContext, asked: QueryJob): Promise<SqlDescription> {
  const { connection } = context.catalog;
  return await withTables(context, { ...asked, describesOnly: true }, async (job) => {
    const key = keyOf(job);
    if (key !== undefined) return await describeKept(context.catalog, job.query, key);
    await using target = await insertTarget(connection, job.into);
    const sql = target?.insertSql(job.query.sql) ?? job.query.sql;
    using statement = await prepareQuery(connection, sql);
    const names = namesIn(job.query);
    const parameters = await parameterTypes(connection, statement, { sql, names }, context.signal);
    if (target !== undefined) return { columns: target.columns, parameters };
    if (!job.hasParameters) {
      return { columns: await readableColumns(connection, { ...job.query, sql }, statement), parameters };
    }
    await using bound = await bindParameters(context, connection, { sql, names });
    return { columns: await bound.columns(), parameters };
  });
}

async function describeKept({ connection, kept }: QueryPlace, query: Query, key: string): Promise<SqlDescription> {
  const statement = kept.take(key) ?? (await prepareQuery(connection, query.sql));
  try {
    return { columns: await readableColumns(connection, query, statement), parameters: [] };
  } finally {
    kept.keep(key, statement);
  }
}

/** The inputs of a plan: the text, the settings and the paths of its tables. Undefined if the plan cannot be kept. */
function keyOf(job: QueryJob): string | undefined {
  const { query, tables, into, settings, hasParameters } = job;
  // A PIVOT may have made a type for itself, which the next one drops. The plan of an ASOF JOIN of DuckDB 1.5 fails with an
  // internal error when it runs again. A list or a range is another one the next time.
  const isOfOnce =
    query.explain !== undefined ||
    readsRowIds(job) ||
    textsOf(job).some((text) => /\b(?:pivot|asof)/i.test(text)) ||
    tables.some(({ source: { kind } }) => kind !== 'parquet' && kind !== 'warm' && kind !== 'view');
  const isBound = hasParameters || query.parameterCount > 0;
  const isFixed = analyticsTables(job).length === 0 && !query.readsCatalogs;
  if (into !== undefined || isBound || isOfOnce || !isFixed) return undefined;
  const places = tables.map(({ name, schema, casts, source }) => [
    schema,
    name,
    casts,
    source.kind === 'warm' ? source.path : source,
  ]);
  return JSON.stringify([query.sql, places, settings]);
}

/** Without a turn of the event loop, where the same was short before. Undefined where it is to be run as any other. */
export function runKeptShort(catalog: SqlCatalog, job: RunQueryJob): ShortResult | undefined {
  if (job.isKept === true || usesListMath(job) || !catalog.shows(job.tables)) return undefined;
  const key = keyOf(job);
  const statement = key === undefined ? undefined : catalog.kept.take(key);
  if (key === undefined || statement === undefined) return undefined;
  try {
    if (catalog.settings.tryApply(job.settings) !== undefined) return undefined;
    return runShort(statement, job);
  } finally {
    catalog.kept.keep(key, statement);
  }
}

/** Yields the result's columns, then its rows in pieces; returns the number of rows. */
export async function* runQuery(
  context: QueryContext,
  asked: RunQueryJob,
): AsyncGenerator<readonly Column[] | EncodedPieces, number, undefined> {
  const { connection } = context.catalog;
  await using opened = await openTables(context, asked);
  const job = { ...asked, query: opened.query };
  try {
    await using target = await insertTarget(connection, job.into);
    if (target === undefined) {
      if (job.constraints !== undefined) await assertDefinition(connection, job.query, job.constraints);
      const { query, hasParameters } = job;
      const all = hasParameters
        ? boundResults(context, query, { isKept: job.isKept })
        : results(context, query, keyOf(job), job.isKept);
      return yield* encodeResults(
        query.explain === undefined ? all : explanations(all, context, job, query.explain),
        job,
      );
    }
    await insertRows(context, target, job);
    const names = target.columns.map(({ name }) => name);
    return yield* encodeResults(results(context, { sql: target.selectSql }), job, names);
  } catch (error) {
    throw await explain(error, connection, asked, opened.edits);
  }
}

/** Whether DuckDB can keep them for a table of the query's columns. */
async function assertDefinition(connection: Connection, query: Query, constraints: NamedConstraints): Promise<void> {
  using statement = await prepareQuery(connection, query.sql);
  const { declaredTypes } = statement;
  const columns = (await readableColumns(connection, query, statement)).map((column, index) => ({
    ...column,
    declared: declaredTypes[index],
  }));
  await assertConstraints(connection, columns, constraints);
}

async function insertRows(
  context: QueryContext,
  target: InsertTarget,
  { query, hasParameters }: QueryJob,
): Promise<void> {
  const { connection } = context.catalog;
  const columns = hasParameters ? parametersAsRows(query.sql) : undefined;
  if (columns !== undefined) {
    await using rows = await loadArrowStream(connection, context.input, context);
    const list = columns.map((column) => meantValue(rows, column).value).join(', ');
    return await connection.run(target.insertSql(`SELECT ${list} FROM temp.main.${rows.table} ORDER BY rowid ASC`));
  }
  const insert = { ...query, sql: target.insertSql(query.sql) };
  for await (const result of hasParameters
    ? boundResults(context, insert, { isInsert: true })
    : results(context, insert)) {
    await using inserted = result;
    for await (const _ of inserted.batches()) context.signal.throwIfAborted();
  }
}

async function withTables<T>(context: QueryContext, asked: OpenJob, act: (job: QueryJob) => Promise<T>): Promise<T> {
  await using opened = await openTables(context, asked);
  try {
    return await act({ ...asked, query: opened.query });
  } catch (error) {
    throw await explain(error, context.catalog.connection, asked, opened.edits);
  }
}

/** The tables of a query, open until disposed. */
interface OpenTables extends AsyncDisposable {
  /** With the text that reads these tables. */
  readonly query: Query;
  /** Edits of the caller's text. */
  readonly edits: readonly TextEdit[];
}

interface OpenJob extends QueryJob {
  /** Default: whether the statement describes tables. */
  readonly describesOnly?: boolean | undefined;
}

async function openTables({ catalog }: QueryContext, job: OpenJob): Promise<OpenTables> {
  const tables = analyticsTables(job);
  const isLive = job.tables.some(({ source }) => source.kind === 'live');
  if (tables.length === 0 && !isLive) return await showTables(catalog, job);
  return await Cleanup.scope(async (cleanup) => {
    if (tables.length > 0) {
      cleanup.use(await catalog.openAnalytics());
      await assertTables(catalog.connection, tables);
    }
    cleanup.defer(() => catalog.dropLive(job.tables));
    const { query, edits } = cleanup.use(await showTables(catalog, job));
    return { query, edits };
  });
}

async function showPlain(catalog: QueryPlace, job: QueryJob): Promise<void> {
  const { tables, settings } = job;
  const show = (): Promise<void> => catalog.show(tables, { hasListMath: usesListMath(job) });
  if (!tables.some(({ source }) => source.kind === 'view')) return await show();
  // DuckDB remembers the types of a view's columns: they must not depend on these settings.
  await catalog.settings.apply(undefined);
  await show();
  await catalog.settings.apply(settings);
}

async function showTables(catalog: QueryPlace, job: OpenJob): Promise<OpenTables> {
  const { query, tables, settings, describesOnly = query.describesTables === true } = job;
  const hasListMath = usesListMath(job);
  const kept = { query, edits: [], [Symbol.asyncDispose]: async () => {} };
  try {
    if (query.describesTables && !readsRowIds(job)) return { ...kept, ...(await catalog.defineTables(tables)) };
    if (!readsRowIds(job) || tables.length === 0) {
      await showPlain(catalog, job);
      const { viewTextEdits: edits = [] } = query;
      return { ...kept, query: { ...query, sql: editedText(query.sql, edits).sql }, edits };
    }
    const hasViews = tables.some(({ source }) => source.kind === 'view');
    const edits = hasViews ? undefined : query.rowIds?.edits;
    // In a text with edits a column of the frame's own would be left out, too.
    if (edits !== undefined && !hasListMath && (await catalog.showNumbered(tables, { mayOwn: edits.length === 0 }))) {
      return { ...kept, query: { ...query, sql: editedText(query.sql, edits).sql }, edits };
    }
    await catalog.settings.apply(hasViews ? undefined : settings);
    const copies = await catalog.copyTables(tables, { hasListMath, hasRows: !describesOnly });
    await catalog.settings.apply(settings);
    return { ...kept, ...copies };
  } catch (error) {
    if (!(error instanceof DuckDbError) || error.interrupted) throw error;
    throw resourceError(error) ?? (namesLive(error, tables) ? unreadableLive(error) : unreadable(error));
  }
}

function unreadableAnalytics(cause: DuckDbError): AppError {
  return new AppError('sql_error', 'the database analytics cannot be read', {
    hint: 'its file may be damaged; the operator can restore it',
    cause,
  });
}

function namesLive({ message }: DuckDbError, tables: readonly QueryTable[]): boolean {
  return tables.some((table) => isLiveFile(table) && pathsOf(table).some((path) => message.includes(path)));
}

function isLiveFile({ source }: QueryTable): boolean {
  return source.kind === 'live' && source.path !== undefined;
}

/** If DuckDB does not name the file, only a read finds out. */
async function isOfLive(error: DuckDbError, connection: Connection, tables: readonly QueryTable[]): Promise<boolean> {
  if (namesLive(error, tables)) return true;
  for (const table of tables.filter(isLiveFile)) if (!(await canBeRead(connection, viewName(table)))) return true;
  return false;
}

function unreadableLive(cause: DuckDbError): AppError {
  return new AppError('tsdb_unreachable', 'the external database sent rows that cannot be read', {
    hint: 'send the statement again',
    retryAfterSeconds: 1,
    cause,
  });
}

function unreadable(cause: DuckDbError): AppError {
  return new AppError('frame_damaged', 'a frame of the query cannot be read', { cause });
}

/** Hides a value of the statement or the view: it may be of a row that the view leaves out. */
function hiddenValue({ name, schema }: QueryTable, cause: DuckDbError): AppError {
  const view = schema === undefined ? name : `${schema}.${name}`;
  return new AppError('sql_error', `a value cannot be computed by a statement that reads the view ${view}`, {
    hint: 'values of what the view reads are not shown in errors: try the view alone, then each expression over it',
    cause,
  });
}

function namesIn({ parameterNames = [] }: Pick<Query, 'parameterNames'>): readonly string[] {
  return parameterNames;
}

/** Also those of views. */
function analyticsTables({ query, tables }: QueryJob): readonly TableName[] {
  const ofViews = tables.flatMap(({ source }) => (source.kind === 'view' ? source.analyticsTables : []));
  return [...query.tables.filter(isAnalytics), ...ofViews];
}

/** Itself, or a view that it reads. */
function readsRowIds({ query, tables }: QueryJob): boolean {
  return query.rowIds !== undefined || tables.some(({ source }) => source.kind === 'view' && source.readsRowIds);
}

function usesListMath(job: QueryJob): boolean {
  return textsOf(job).some((text) => listMath.test(text));
}

/** The texts of the statement and of the views that it reads. */
function textsOf({ query, tables }: QueryJob): readonly string[] {
  return [query.sql, ...tables.flatMap(({ source }) => (source.kind === 'view' ? source.sql : []))];
}

/** Positions are those in the caller's text, also if the query was behind an INSERT of ours. */
async function explain(
  thrown: unknown,
  connection: Connection,
  job: QueryJob,
  edits: readonly TextEdit[],
): Promise<unknown> {
  const { query, into, tables } = job;
  const error = firstError(thrown);
  if (!(error instanceof DuckDbError) || error.interrupted) return error;
  const isOfFiles = await isAboutFiles(error, connection, tables);
  if (analyticsTables(job).length > 0 && (isOfFiles || error.fatal)) return unreadableAnalytics(error);
  if (isOfFiles && (await isOfLive(error, connection, tables))) return unreadableLive(error);
  if (isOfFiles && tables.length > 0) return unreadable(error);
  const barrier = tables.find(({ source }) => source.kind === 'view' && source.isBarrier);
  if (barrier !== undefined && error.isAboutValues) return hiddenValue(barrier, error);
  const before = into === undefined ? '' : insertInto(into);
  const columns = await columnCandidates(connection, error, query.sql);
  const text = editedText(query.sql, edits);
  const place = (at: number): number | undefined =>
    at < before.length ? undefined : placeIn(query.pieces ?? [], text.nearest(at - before.length));
  const { sql } = text;
  const types = [sql, ...(into?.columns ?? []).map(({ type, declared }) => sqlTypeName(declared ?? type))].join('\n');
  const told = sqlError(error, before + sql, place, columns, types);
  return into === undefined ? told : underName(into.name, told);
}

/**
 * An error that the caller is to blame for quotes the statement, which may contain anything, but cannot name our files. If DuckDB
 * does not name them either, only a read of them finds out.
 */
async function isAboutFiles(
  error: DuckDbError,
  connection: Connection,
  tables: readonly QueryTable[],
): Promise<boolean> {
  if (!error.isUnreadableFile) return false;
  if (!error.isCallers || tables.flatMap(pathsOf).some((path) => error.message.includes(path))) return true;
  for (const table of tables) {
    if (table.source.kind !== 'list' && !(await canBeRead(connection, viewName(table)))) return true;
  }
  return false;
}

function pathsOf({ source }: QueryTable): readonly string[] {
  switch (source.kind) {
    case 'defined':
    case 'list':
    case 'view':
      return [];
    case 'parquet':
      return source.parts.map(({ path }) => path);
    case 'numbered':
      return source.parts.map(({ path }) => path);
    case 'changes':
      return [source.path];
    case 'live':
      return source.path === undefined ? [] : [source.path];
    case 'range':
      return source.rows.parts.map(({ path }) => path);
    case 'warm':
      return [source.path, ...source.parts.map(({ path }) => path)];
    default:
      return source satisfies never;
  }
}

/**
 * A result for each row of parameters; each must be disposed of before the next. Of no rows a query gives its columns, and an
 * INSERT nothing.
 */
async function* boundResults(
  context: QueryContext,
  query: Pick<Query, 'sql' | 'parameterNames'>,
  { isInsert = false, isKept = false }: { readonly isInsert?: boolean; readonly isKept?: boolean | undefined },
): AsyncGenerator<ResultRows, void, undefined> {
  const { connection } = context.catalog;
  await using bound = await bindParameters(context, connection, { sql: query.sql, names: namesIn(query) });
  if (bound.count === 0 && !isInsert) yield noRows(await bound.columns());
  yield* bound.results({ isKept });
}

function noRows(columns: readonly Column[]): ResultRows {
  return { columns, async *batches() {}, [Symbol.asyncDispose]: async () => {} };
}

/** The one result of a statement without parameters. */
async function* results(
  { catalog: { connection, kept } }: QueryContext,
  { sql }: Pick<Query, 'sql'>,
  key?: string,
  isKept = false,
): AsyncGenerator<ResultRows, void, undefined> {
  const statement = (key === undefined ? undefined : kept.take(key)) ?? (await prepareQuery(connection, sql));
  let isWhole = false;
  try {
    const readable = readableSql(statement.columns, `(${sql})`);
    using cast = readable === undefined ? undefined : await prepareQuery(connection, readable);
    const result = await (cast ?? statement).execute();
    yield isKept ? withDeclared(result, statement.declaredTypes) : result;
    isWhole = true;
    if (readable === undefined && result.wasShort) statement.short.wasShort();
  } finally {
    if (isWhole && key !== undefined) kept.keep(key, statement);
    else statement[Symbol.dispose]();
  }
}

/** One plan for each call of the explained statement. */
async function* explanations(
  plans: AsyncIterable<ResultRows>,
  { catalog }: QueryContext,
  { tables }: QueryJob,
  explain: NonNullable<Query['explain']>,
): AsyncGenerator<ResultRows, void, undefined> {
  const notes = tables.flatMap(({ source }) =>
    source.kind === 'live' && source.note !== undefined ? source.note : [],
  );
  for await (const each of plans) {
    await using plan = each;
    yield await explainRows(plan, explain, catalog.shownNames(tables), notes);
  }
}

async function prepareQuery(connection: Connection, sql: string): Promise<PreparedStatement> {
  try {
    return await connection.prepare(sql);
  } catch (error) {
    if (!(error instanceof DuckDbError && error.message.includes('Cannot prepare multiple statements'))) throw error;
    return await connection.preparePivot(sql);
  }
}

async function readableColumns(
  connection: Connection,
  query: Query,
  statement: PreparedStatement,
): Promise<readonly Column[]> {
  const { sql } = query;
  const { columns, parameterCount: count } = statement;
  if (columns.some(({ typeId }) => typeId === duckdbType.INVALID)) {
    using unbound = await prepareUnbound(connection, { sql, count, names: namesIn(query) });
    return unbound.typedColumns;
  }
  const readable = readableSql(columns, `(${sql})`);
  if (readable === undefined) return statement.typedColumns;
  using cast = await prepareQuery(connection, readable);
  return cast.typedColumns;
}
