import type { DataType } from '@framehold/columns';
import { refuseProducer } from '../../../core/callers/producer.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { Handle } from '../../../core/names/handle.ts';
import {
  excludedColumn,
  type FrameTable,
  type InsertedTable,
  insertOrderColumn,
  rowNumberColumn,
  type SqlJob,
  targetSchema,
  type ViewTable,
} from '../../../core/sql/sql.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';
import { viewTaken } from '../../../frames/catalog/frame-errors.ts';
import type { FrameReader } from '../../../frames/read/frame-reader.ts';
import type { PreparedSql, SqlUpdate, UpdateRequest } from '../../frame-sql.ts';
import type { StatementRun } from '../../statement-run.ts';
import { sqlColumns, tableOf } from '../../tables/frame-tables.ts';
import { ownQuery } from '../../tables/own-query.ts';
import { applyChange } from '../change.ts';
import { actionColumn, assertOwnNames, changeColumns, refuseGenerated } from '../open-change.ts';
import { returnedColumns } from '../returning.ts';
import { describeQuery } from '../run-query.ts';
import { assertColumns } from '../target-frame.ts';
import { conflictKeys } from './conflict-keys.ts';
import { conflictParameters } from './conflict-parameters.ts';
import { conflictingColumns, conflictingRows, frameName } from './conflicting-rows.ts';
import { insertedRows, insertedTable, stageInserted, type Upsert } from './inserted-rows.ts';

interface UpsertTarget {
  readonly handle: Handle;
  readonly into: InsertedTable;
}

type Described = Pick<PreparedSql, 'parameters' | 'parameterNames'>;

export async function prepareUpsert(
  call: StatementRun,
  statement: Upsert,
  target: UpsertTarget,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  const { engine, frames, principal, options } = call;
  const { onConflict, query, settings, returning, table } = statement;
  await using reader = await frames.open(principal, target.handle, options);
  const keys = checkedKeys(statement, reader);
  const into = insertedTable(onConflict, target.into);
  const rows = await describeQuery(call, { query, into, settings });
  const given = await insertedRows(principal, reader, into, undefined);
  const job = await conflictJob(call, { statement, reader, keys, given });
  const { parameters } = await engine.describe(job, call.job);
  const described = returning && { returning, table };
  const columns = described ? await returnedColumns(call, described, reader) : [];
  const { parameterNames } = onConflict.query;
  return { ...rows, columns, parameters: parameterTypes(rows, { parameters, parameterNames }) };
}

/**
 * The rows of the INSERT are written to a file. From that and the frame's rows with the same keys the frame's next version is made.
 * Once: rejects with `frame_changed` if another change of the frame came between.
 */
export async function upsertRows(
  call: StatementRun,
  { statement, parameters, producer, returned }: UpdateRequest & { readonly statement: Upsert },
  target: UpsertTarget,
): Promise<SqlUpdate> {
  const { frames, principal, options } = call;
  refuseProducer(producer, 'the statement has ON CONFLICT');
  const { onConflict } = statement;
  await using reader = await frames.open(principal, target.handle, options);
  const keys = checkedKeys(statement, reader);
  const into = insertedTable(onConflict, target.into);
  await using staged = await stageInserted(call, { statement, parameters, into });
  const given = await insertedRows(principal, reader, into, staged);
  const bound = await conflictParameters(call, { statement, parameters, keys, given });
  const job = await conflictJob(call, { statement, reader, keys, given });
  const run = { ...job, parameters: bound, form: 'arrow', isKept: true } as const;
  const hidden = [rowNumberColumn, actionColumn];
  const set = reader.columns.map((_, index) => index);
  return await applyChange(call, { statement, run, hidden, set, reader, parameters, returned });
}

function checkedKeys({ onConflict, settings = {} }: Upsert, reader: FrameReader): readonly (readonly string[])[] {
  const { columns, handle } = reader;
  if (reader.view !== undefined) throw viewTaken(handle);
  refuseGenerated(reader);
  if (settings.default_collation) throw collated();
  const names = [rowNumberColumn, insertOrderColumn, actionColumn];
  assertOwnNames(onConflict.action === 'update' ? [...names, excludedColumn] : names, columns, handle);
  assertColumns([...onConflict.set, ...onConflict.excluded], columns, handle);
  return conflictKeys(onConflict, reader);
}

/** A key means the same for every caller. */
function collated(): AppError {
  return new AppError('invalid_parameter', 'keys are looked for under the standard collation alone', {
    hint: 'leave out default_collation; in a session of Flight SQL: RESET default_collation',
  });
}

interface ConflictParts {
  readonly statement: Upsert;
  readonly reader: FrameReader;
  readonly keys: readonly (readonly string[])[];
  /** The rows that are inserted. */
  readonly given: FrameTable;
}

/** Gives the changes of the inserted rows and of the frame's. */
async function conflictJob(call: StatementRun, { statement, reader, keys, given }: ConflictParts): Promise<SqlJob> {
  const { engine, principal } = call;
  const { onConflict, table, settings } = statement;
  const { columns, constraints, definition } = reader;
  const { tenant } = principal;
  const replaced = await replacedColumns(call, statement, reader);
  const conflict = { columns, keys, onConflict, replaced, definition };
  const query = await ownQuery(engine, conflictingRows(conflict), call.job);
  const frame = await tableOf(reader, tenant, { name: frameName, schema: undefined });
  const rows: ViewTable = {
    kind: 'view',
    name: table.name,
    schema: targetSchema,
    frame: frame.frame,
    versionId: given.versionId,
    columns: conflictingColumns(conflict),
    query,
    isBarrier: false,
  };
  return {
    query: onConflict.query,
    tables: [{ ...frame, rowNumbers: rowNumberColumn }, given, rows],
    into: {
      name: table.name,
      columns: [...changeColumns(actionColumn), ...sqlColumns(reader)],
      named: undefined,
      constraints,
    },
    settings,
  };
}

/** For OR REPLACE: the columns that the statement gives values for. */
async function replacedColumns(
  call: StatementRun,
  { onConflict, columns, match, query, settings }: Upsert,
  reader: FrameReader,
): Promise<readonly string[]> {
  if (onConflict.action !== 'replace') return [];
  if (columns !== undefined) return columns;
  const given = match === 'name' ? await describeQuery(call, { query, settings }) : reader;
  return given.columns.map(({ name }) => name);
}

/** A parameter may stand in the rows, in DO UPDATE, or in both. */
function parameterTypes(rows: Described, changes: Described): readonly DataType[] {
  const indexIn = ({ parameterNames }: Described, index: number): number => {
    const name = rows.parameterNames?.[index];
    return name === undefined
      ? index
      : (parameterNames ?? []).findIndex((each) => asciiLower(each) === asciiLower(name));
  };
  return rows.parameters.map((type, index) => {
    const other = changes.parameters[indexIn(changes, index)];
    return type.kind === 'null' && other !== undefined ? other : type;
  });
}
