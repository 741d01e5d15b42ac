import { AppError } from '../../core/app-error.ts';
import type { Column } from '../../core/data-type.ts';
import type { RowChanges } from '../../core/frame-engine.ts';
import type { Principal } from '../../core/principal.ts';
import { mergeActionColumn, type Query, rowNumberColumn, type SqlRun, type TableName } from '../../core/sql.ts';
import { viewTaken } from '../../frames/catalog/frame-errors.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { CallOptions, PreparedSql, SqlUpdate, UpdateRequest } from '../frame-sql.ts';
import { definitionsIn } from '../tables/definitions-in.ts';
import { openTables } from '../tables/open-tables.ts';
import type { TableSources } from '../tables/table-opener.ts';
import { errorWritten, isWhole, namedColumns } from './named-columns.ts';
import { actionNameOf, type ChangeWithSettings, openChange, valuePositions } from './open-change.ts';
import { returnedColumns, returnedRows, stageRows } from './returning.ts';
import { changedFrame, describeHeld } from './target-frame.ts';

type ChangeRun = Pick<UpdateRequest, 'parameters' | 'returned'>;

export async function prepareChange(
  sources: TableSources,
  principal: Principal,
  asked: ChangeWithSettings,
  options: CallOptions,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  const handle = await changedFrame(sources.frames, principal, asked.table, options);
  await using reader = await sources.frames.open(principal, handle, options);
  return await withNames(sources, principal, asked, reader, options, async (statement) => {
    const { returning, query, table } = statement;
    await using job = await openChange(sources, principal, statement, reader, options);
    const { parameters } = await sources.engine.describe(job, { ...options, tenant: principal.tenant });
    const described = returning && { returning, table, action: actionNameOf(statement) };
    const columns = described ? await returnedColumns(sources, principal, described, reader, options) : [];
    return { columns, parameters, parameterNames: query.parameterNames };
  });
}

/**
 * UPDATE, DELETE and MERGE: a query tells what becomes of which rows, and from that the frame's next version is made. Once: rejects
 * with `frame_changed` where another change of the frame came between.
 */
export async function changeRows(
  sources: TableSources,
  principal: Principal,
  asked: ChangeWithSettings,
  run: ChangeRun,
  options: CallOptions,
): Promise<SqlUpdate> {
  const handle = await changedFrame(sources.frames, principal, asked.table, options);
  await using reader = await sources.frames.open(principal, handle, options);
  return await withNames(sources, principal, asked, reader, options, (statement) =>
    changeNamed(sources, principal, statement, reader, run, options),
  );
}

async function changeNamed(
  sources: TableSources,
  principal: Principal,
  statement: ChangeWithSettings,
  reader: FrameReader,
  { parameters, returned: form }: ChangeRun,
  options: CallOptions,
): Promise<SqlUpdate> {
  await using job = await openChange(sources, principal, statement, reader, options);
  const whole = await job.withRows();
  const run = { ...whole, parameters, form: 'arrow', isKept: true } as const;
  const action = actionNameOf(statement);
  const hidden = action === mergeActionColumn ? [rowNumberColumn] : [rowNumberColumn, action];
  const set = valuePositions(statement, reader.columns);
  return await applyChange(
    sources,
    principal,
    { statement, run, hidden, set, reader, parameters, returned: form },
    options,
  );
}

interface ChangeToApply extends ChangeRun {
  readonly statement: { readonly table: TableName; readonly returning?: Query | undefined };
  /** Gives what becomes of which rows. */
  readonly run: SqlRun;
  /** Columns that it gives beside those of the frame. */
  readonly hidden: readonly string[];
  /** Positions of the columns that it gives. */
  readonly set: readonly number[];
  /** The version in which rows have the numbers that it names. */
  readonly reader: FrameReader;
}

/** Makes the next version of a frame. */
export async function applyChange(
  sources: TableSources,
  principal: Principal,
  { statement: { table, returning }, run, hidden, set, reader, parameters, returned: form }: ChangeToApply,
  options: CallOptions,
): Promise<SqlUpdate> {
  const { settings } = run;
  await using staged = await stageRows(sources, principal, run, options);
  const { rows, path } = staged;
  const wanted = returning && { returning, table, path, hidden, reader, settings, parameters, returned: form };
  const returned = wanted && (await returnedRows(sources, principal, wanted, options));
  if (rows === 0) return { rows, hasChanged: false, returned };
  const changes: RowChanges = { path, set };
  const { handle, lineage, definition } = reader;
  await sources.frames.change(principal, { handle, lineage, definition, changes }, options);
  return { rows, hasChanged: true, returned };
}

/** TRUNCATE, and DELETE of all rows */
export async function truncate(
  { frames }: TableSources,
  principal: Principal,
  { table }: { readonly table: TableName },
  options: CallOptions,
): Promise<SqlUpdate> {
  const handle = await changedFrame(frames, principal, table, options);
  const { rows, view } = await describeHeld(frames, principal, handle, options);
  if (view !== undefined) throw viewTaken(handle);
  if (rows === 0) return { rows, hasChanged: false };
  const { rowsBefore } = await frames.change(principal, { handle, changes: undefined }, options);
  return { rows: rowsBefore, hasChanged: rowsBefore > 0 };
}

/** Uses the statement with the names of its columns. */
async function withNames<T>(
  sources: TableSources,
  principal: Principal,
  statement: ChangeWithSettings,
  reader: FrameReader,
  options: CallOptions,
  use: (named: ChangeWithSettings) => Promise<T>,
): Promise<T> {
  const { unnamed, settings } = statement;
  if (unnamed === undefined) return await use(statement);
  if (reader.view !== undefined) throw viewTaken(reader.handle);
  const { engine, frames } = sources;
  const job = { ...options, tenant: principal.tenant };
  const defaults = reader.constraints?.defaults ?? [];
  if (isWhole(unnamed, defaults)) return await use(statement);
  const { source } = unnamed;
  const given = await (async (): Promise<readonly Column[]> => {
    if (source === undefined) return [];
    const { query } = source;
    await using opened = await openTables(sources, principal, query, options);
    return (await engine.describe({ query, tables: opened.tables, settings }, job)).columns;
  })();
  const target = reader.columns.map(({ name }) => name);
  const { sql, written } = namedColumns(unnamed, { target, defaults, source: given.map(({ name }) => name) });
  try {
    const definitions = await definitionsIn(frames, principal, sql, options.temporary);
    const named = await engine.analyze(sql, { ...job, definitions });
    if (named.kind !== 'change') throw new AppError('internal', 'a MERGE with the names of its columns is none');
    return await use({ ...named, settings });
  } catch (error) {
    throw errorWritten(error, written);
  }
}
