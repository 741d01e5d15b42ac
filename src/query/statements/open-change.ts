import type { Column } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import {
  type Change,
  mergeActionColumn,
  type Query,
  rowNumberColumn,
  type SqlColumn,
  type SqlJob,
  targetSchema,
} from '../../core/sql/sql.ts';
import { asciiLower, isSameName } from '../../core/text/ascii-lower.ts';
import { viewTaken } from '../../frames/catalog/frame-errors.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { StatementRun } from '../statement-run.ts';
import { sqlColumns, tableOf } from '../tables/frame-tables.ts';
import { openTables } from '../tables/open-tables.ts';
import { assertColumns } from './target-frame.ts';

/** The action on a row, if RETURNING does not name it. */
export const actionColumn = 'framehold action';

export type ChangeWithSettings = Change & Pick<SqlJob, 'settings'>;

interface ChangeJob extends Pick<SqlJob, 'settings'> {
  readonly query: Query;
  readonly into: NonNullable<SqlJob['into']>;
  readonly tables: SqlJob['tables'];
}

interface OpenChange extends ChangeJob, AsyncDisposable {
  /** The same with all rows that it reads. */
  withRows(): Promise<ChangeJob>;
}

/** The query of a change over a version of the frame and the other tables that it reads. */
export async function openChange(
  call: StatementRun,
  statement: ChangeWithSettings,
  reader: FrameReader,
): Promise<OpenChange> {
  const { principal } = call;
  const { query, table, set, isWhole, settings, verb } = statement;
  const { columns, handle, constraints } = reader;
  if (reader.view !== undefined) throw viewTaken(handle);
  if (verb !== 'delete') refuseGenerated(reader);
  const action = actionNameOf(statement);
  assertOwnNames([rowNumberColumn, action], columns, handle);
  assertColumns(set, columns, handle);
  const target = await tableOf(reader, principal.tenant, { name: table.name, schema: targetSchema });
  const opened = await openTables(call, query);
  const given = set.filter(({ isDefault }) => !isDefault);
  const all = sqlColumns(reader);
  const values = valuePositions({ set, isWhole }, columns).map((index) => all[index] as SqlColumn);
  const isDefault = ({ name }: Column): boolean => set.some((each) => each.isDefault && isSameName(each.name, name));
  const names = isWhole ? values.filter((column) => !isDefault(column)) : given;
  const named = [rowNumberColumn, action, ...names.map(({ name }) => name)];
  const hasDefaults = given.length < set.length;
  const rows = { ...target, rowNumbers: rowNumberColumn };
  const job: ChangeJob = {
    query,
    into: {
      name: table.name,
      columns: [...changeColumns(action), ...values],
      named: isWhole && !hasDefaults ? undefined : named,
      // Removed rows are not checked.
      constraints: verb === 'delete' ? undefined : constraints,
    },
    settings,
    tables: [...opened.described, rows],
  };
  return {
    ...job,
    async withRows() {
      const tables = await opened.withRows(job, [rows]);
      return { ...job, tables: [...tables, rows] };
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** Positions of the columns whose values a change gives, in order. */
export function valuePositions(
  { set, isWhole }: Pick<Change, 'set' | 'isWhole'>,
  columns: readonly Column[],
): number[] {
  if (isWhole) return columns.map((_, index) => index);
  return set.map(({ name }) => columns.findIndex((column) => isSameName(column.name, name)));
}

/** The columns before the values of each row. */
export function changeColumns(action: string): readonly SqlColumn[] {
  return [
    { name: rowNumberColumn, type: { kind: 'int', bits: 64, signed: true } },
    { name: action, type: { kind: 'utf8' } },
  ];
}

/** Name of the column with the action on a row. */
export function actionNameOf({ verb, returning }: Change): string {
  return verb === 'merge' && returning?.namesAction === true ? mergeActionColumn : actionColumn;
}

/** Refuses columns that have the names of others beside them. */
export function assertOwnNames(own: readonly string[], columns: readonly Column[], handle: Handle): void {
  const found = columns.find(({ name }) => own.includes(asciiLower(name)));
  if (found === undefined) return;
  throw new AppError(
    'sql_error',
    `the column ${JSON.stringify(found.name)} of ${handle} has a name that changes need`,
    {
      hint: 'give it another one: CREATE OR REPLACE TABLE … AS SELECT … AS other',
    },
  );
}

/** Refuses a frame with generated columns. */
export function refuseGenerated({ constraints, handle }: Pick<FrameReader, 'constraints' | 'handle'>): void {
  if (constraints === undefined || constraints.generated.length === 0) return;
  throw new AppError('sql_forbidden', `${handle} has generated columns: its rows cannot be changed in place`, {
    hint: 'delete rows and insert others, or drop the generated columns',
  });
}
