import type { Column } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import {
  type Change,
  mergeActionColumn,
  rowNumberColumn,
  type SetColumn,
  type SqlColumn,
  type SqlJob,
  type SqlTable,
} from '../../core/sql/sql.ts';
import { asciiLower, isSameName } from '../../core/text/ascii-lower.ts';
import { viewTaken } from '../../frames/catalog/frame-errors.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { PreparedSql, SqlUpdate, UpdateRequest } from '../frame-sql.ts';
import { returnedColumns, returnedRows, stageRows } from '../rows/staged-rows.ts';
import type { StatementRun } from '../statement-run.ts';
import { sqlColumns } from '../tables/frame-tables.ts';
import { openTables } from '../tables/open-tables.ts';
import { assertColumns } from '../tables/target-frame.ts';

/** The action on a row, if RETURNING does not name it. */
const actionColumn = 'framehold action';

/** UPDATE, DELETE, MERGE, and INSERT with ON CONFLICT: a query gives row changes, and from these comes the next version. */
export interface RowChange
  extends Pick<Change, 'table' | 'query' | 'set' | 'isWhole' | 'returning'>,
    Pick<SqlJob, 'settings'> {
  readonly verb: Change['verb'] | 'upsert';
}

/** What the query of a change reads beside the tables that the caller names. */
export interface ChangeTarget {
  /** The version in which rows have the numbers that the query gives. */
  readonly reader: FrameReader;
  /** The tables of our own text: by the schema `_target`, the rows that may change. */
  readonly tables: readonly SqlTable[];
}

export type ChangeRun = Pick<UpdateRequest, 'parameters' | 'returned'>;

interface BoundRun extends ChangeRun {
  /** The parameters of the query of the change: they may be others than those of the statement, or none. */
  readonly bound: Uint8Array | undefined;
}

/** Refuses a change that the frame does not allow. */
export function assertChangeable(
  change: RowChange,
  { view, constraints, columns, handle }: FrameReader,
  {
    names = [],
    named = change.set,
  }: {
    /** Columns that its query needs beside those of every change. */
    readonly names?: readonly string[];
    /** Columns that the statement names. */
    readonly named?: readonly Pick<SetColumn, 'name' | 'position'>[];
  } = {},
): void {
  if (view !== undefined) throw viewTaken(handle);
  if (change.verb !== 'delete' && constraints !== undefined && constraints.generated.length > 0) {
    throw new AppError('sql_forbidden', `${handle} has generated columns: its rows cannot be changed in place`, {
      hint: 'delete rows and insert others, or drop the generated columns',
    });
  }
  const own = [rowNumberColumn, actionOf(change), ...names];
  const taken = columns.find(({ name }) => own.includes(asciiLower(name)));
  if (taken !== undefined) {
    const message = `the column ${JSON.stringify(taken.name)} of ${handle} has a name that changes need`;
    throw new AppError('sql_error', message, {
      hint: 'give it another one: CREATE OR REPLACE TABLE … AS SELECT … AS other',
    });
  }
  assertColumns(named, columns, handle);
}

/** Its columns and parameters. */
export async function describeChange(
  call: StatementRun,
  change: RowChange,
  { reader, tables }: ChangeTarget,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  const { query } = change;
  await using opened = await openTables(call, query);
  const job = { ...changeJob(change, reader), tables: [...opened.described, ...tables] };
  const { parameters } = await call.engine.describe(job, call.job);
  const columns = await returnedColumns(call, change, { reader, hasAction: namesAction(change) });
  return { columns, parameters, parameterNames: query.parameterNames };
}

/** Makes the next version of the frame. Once: rejects with `frame_changed` if another change of it came between. */
export async function applyChange(
  call: StatementRun,
  change: RowChange,
  { reader, tables }: ChangeTarget,
  { parameters, returned: form, bound }: BoundRun,
): Promise<SqlUpdate> {
  const { frames, principal, options } = call;
  await using opened = await openTables(call, change.query);
  const job = changeJob(change, reader);
  const all = [...(await opened.withRows(job, tables)), ...tables];
  await using staged = await stageRows(call, { ...job, tables: all, parameters: bound, form: 'arrow', isKept: true });
  const { rows, path } = staged;
  const hidden = namesAction(change) ? [rowNumberColumn] : [rowNumberColumn, actionColumn];
  const returned = await returnedRows(call, change, { path, hidden, like: reader }, { parameters, returned: form });
  if (rows === 0) return { rows, hasChanged: false, returned };
  const { handle, lineage, definition, columns } = reader;
  const changes = { path, set: valuePositions(change, columns) };
  await frames.change(principal, { handle, lineage, definition, changes }, options);
  return { rows, hasChanged: true, returned };
}

function changeJob(change: RowChange, reader: FrameReader): Omit<SqlJob, 'tables'> {
  const { query, table, set, isWhole, settings, verb } = change;
  const action = actionOf(change);
  const before: readonly SqlColumn[] = [
    { name: rowNumberColumn, type: { kind: 'int', bits: 64, signed: true } },
    { name: action, type: { kind: 'utf8' } },
  ];
  const given = set.filter(({ isDefault }) => !isDefault);
  const hasDefaults = given.length < set.length;
  const all = sqlColumns(reader);
  const values = valuePositions(change, reader.columns).map((index) => all[index] as SqlColumn);
  const isDefault = ({ name }: Column): boolean => set.some((each) => each.isDefault && isSameName(each.name, name));
  const names = isWhole ? values.filter((column) => !isDefault(column)) : given;
  const named = [...before, ...names].map(({ name }) => name);
  return {
    query,
    into: {
      name: table.name,
      columns: [...before, ...values],
      named: isWhole && !hasDefaults ? undefined : named,
      // Removed rows are not checked.
      constraints: verb === 'delete' ? undefined : reader.constraints,
    },
    settings,
  };
}

/** Positions of the columns whose values a change gives, in order. */
function valuePositions({ set, isWhole }: RowChange, columns: readonly Column[]): number[] {
  if (isWhole) return columns.map((_, index) => index);
  return set.map(({ name }) => columns.findIndex((column) => isSameName(column.name, name)));
}

function namesAction({ verb, returning }: RowChange): boolean {
  return verb === 'merge' && returning?.namesAction === true;
}

/** Name of the column with the action on a row. */
function actionOf(change: RowChange): string {
  return namesAction(change) ? mergeActionColumn : actionColumn;
}
