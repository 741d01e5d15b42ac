import type { Column } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { RowChanges } from '../../core/rows/frame-engine.ts';
import { mergeActionColumn, type Query, rowNumberColumn, type SqlRun, type TableName } from '../../core/sql/sql.ts';
import { viewTaken } from '../../frames/catalog/frame-errors.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { PreparedSql, SqlUpdate, UpdateRequest } from '../frame-sql.ts';
import type { StatementRun } from '../statement-run.ts';
import { definitionsIn } from '../tables/definitions-in.ts';
import { openTables } from '../tables/open-tables.ts';
import { isWhole, namedColumns } from './named-columns.ts';
import { actionNameOf, type ChangeWithSettings, openChange, valuePositions } from './open-change.ts';
import { returnedColumns, returnedRows, stageRows } from './returning.ts';
import { changedFrame, describeHeld } from './target-frame.ts';

type ChangeRun = Pick<UpdateRequest, 'parameters' | 'returned'>;

export async function prepareChange(
  call: StatementRun,
  asked: ChangeWithSettings,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  const { engine, frames, principal, options } = call;
  const handle = await changedFrame(call, asked.table);
  await using reader = await frames.open(principal, handle, options);
  return await withNames(call, asked, reader, async (statement) => {
    const { returning, query, table } = statement;
    await using job = await openChange(call, statement, reader);
    const { parameters } = await engine.describe(job, call.job);
    const described = returning && { returning, table, action: actionNameOf(statement) };
    const columns = described ? await returnedColumns(call, described, reader) : [];
    return { columns, parameters, parameterNames: query.parameterNames };
  });
}

/**
 * UPDATE, DELETE and MERGE: a query gives row changes, and from these the frame's next version is made. Once: rejects with
 * `frame_changed` if another change of the frame came between.
 */
export async function changeRows(call: StatementRun, asked: ChangeWithSettings, run: ChangeRun): Promise<SqlUpdate> {
  const { frames, principal, options } = call;
  const handle = await changedFrame(call, asked.table);
  await using reader = await frames.open(principal, handle, options);
  return await withNames(call, asked, reader, (statement) => changeNamed(call, statement, reader, run));
}

async function changeNamed(
  call: StatementRun,
  statement: ChangeWithSettings,
  reader: FrameReader,
  { parameters, returned: form }: ChangeRun,
): Promise<SqlUpdate> {
  await using job = await openChange(call, statement, reader);
  const whole = await job.withRows();
  const run = { ...whole, parameters, form: 'arrow', isKept: true } as const;
  const action = actionNameOf(statement);
  const hidden = action === mergeActionColumn ? [rowNumberColumn] : [rowNumberColumn, action];
  const set = valuePositions(statement, reader.columns);
  return await applyChange(call, { statement, run, hidden, set, reader, parameters, returned: form });
}

interface ChangeToApply extends ChangeRun {
  readonly statement: { readonly table: TableName; readonly returning?: Query | undefined };
  /** Gives the row changes. */
  readonly run: SqlRun;
  /** Columns of the query beside those of the frame. */
  readonly hidden: readonly string[];
  /** Positions of the columns that it gives. */
  readonly set: readonly number[];
  /** The version in which rows have the numbers that it names. */
  readonly reader: FrameReader;
}

/** Makes the next version of a frame. */
export async function applyChange(
  call: StatementRun,
  { statement: { table, returning }, run, hidden, set, reader, parameters, returned: form }: ChangeToApply,
): Promise<SqlUpdate> {
  const { frames, principal, options } = call;
  const { settings } = run;
  await using staged = await stageRows(call, run);
  const { rows, path } = staged;
  const wanted = returning && { returning, table, path, hidden, reader, settings, parameters, returned: form };
  const returned = wanted && (await returnedRows(call, wanted));
  if (rows === 0) return { rows, hasChanged: false, returned };
  const changes: RowChanges = { path, set };
  const { handle, lineage, definition } = reader;
  await frames.change(principal, { handle, lineage, definition, changes }, options);
  return { rows, hasChanged: true, returned };
}

/** TRUNCATE, and DELETE of all rows */
export async function truncate(call: StatementRun, { table }: { readonly table: TableName }): Promise<SqlUpdate> {
  const { frames, principal, options } = call;
  const handle = await changedFrame(call, table);
  const { rows, view } = await describeHeld(call, handle);
  if (view !== undefined) throw viewTaken(handle);
  if (rows === 0) return { rows, hasChanged: false };
  const { rowsBefore } = await frames.change(principal, { handle, changes: undefined }, options);
  return { rows: rowsBefore, hasChanged: rowsBefore > 0 };
}

/** Uses the statement with the names of its columns. */
async function withNames<T>(
  call: StatementRun,
  statement: ChangeWithSettings,
  reader: FrameReader,
  use: (named: ChangeWithSettings) => Promise<T>,
): Promise<T> {
  const { engine, frames, principal, options } = call;
  const { unnamed, settings } = statement;
  if (unnamed === undefined) return await use(statement);
  if (reader.view !== undefined) throw viewTaken(reader.handle);
  const { job } = call;
  const defaults = reader.constraints?.defaults ?? [];
  if (isWhole(unnamed, defaults)) return await use(statement);
  const { source } = unnamed;
  const given = await (async (): Promise<readonly Column[]> => {
    if (source === undefined) return [];
    const { query } = source;
    await using opened = await openTables(call, query);
    return (await engine.describe({ query, tables: opened.tables, settings }, job)).columns;
  })();
  const target = reader.columns.map(({ name }) => name);
  const named = namedColumns(unnamed, { target, defaults, source: given.map(({ name }) => name) });
  const { sql } = named;
  try {
    const definitions = await definitionsIn(frames, principal, sql, options.temporary);
    const change = await engine.analyze(sql, { ...job, definitions });
    if (change.kind !== 'change') throw new AppError('internal', 'a MERGE with the names of its columns is none');
    return await use({ ...change, settings });
  } catch (error) {
    if (!(error instanceof AppError) || error.position === undefined) throw error;
    throw error.with({ position: named.nearest(error.position) });
  }
}
