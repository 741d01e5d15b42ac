import type { DataType } from '@framehold/columns';
import { refuseProducer } from '../../core/callers/producer.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import {
  excludedColumn,
  type FrameTable,
  type InsertedTable,
  insertOrderColumn,
  rowNumberColumn,
  type SqlTable,
  targetSchema,
  type ViewTable,
} from '../../core/sql/sql.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import type { FrameReader } from '../../frames/read/frame-reader.ts';
import type { PreparedSql, SqlUpdate, UpdateRequest } from '../frame-sql.ts';
import { describeQuery } from '../rows/run-query.ts';
import { stageInserted } from '../rows/staged-rows.ts';
import type { StatementRun } from '../statement-run.ts';
import { tableOf } from '../tables/frame-tables.ts';
import { ownQuery } from '../tables/own-query.ts';
import { applyChange, assertChangeable, describeChange, type RowChange } from './change.ts';
import { conflictKeys } from './conflict-keys.ts';
import { conflictParameters } from './conflict-parameters.ts';
import { conflictingColumns, conflictingRows, frameName } from './conflicting-rows.ts';
import { insertedRows, insertedTable, type Upsert } from './inserted-rows.ts';

interface InsertTarget {
  readonly handle: Handle;
  readonly into: InsertedTable;
}

type Described = Pick<PreparedSql, 'parameters' | 'parameterNames'>;

export async function prepareUpsert(
  call: StatementRun,
  statement: Upsert,
  target: InsertTarget,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  const { frames, principal, options } = call;
  const { onConflict, query, settings } = statement;
  await using reader = await frames.open(principal, target.handle, options);
  const keys = checkedKeys(statement, reader);
  const into = insertedTable(onConflict, target.into);
  const rows = await describeQuery(call, { query, into, settings });
  const given = await insertedRows(principal, reader, into, undefined);
  const tables = await conflictTables(call, { statement, reader, keys, given });
  const changes = await describeChange(call, changeOf(statement), { reader, tables });
  return { ...rows, columns: changes.columns, parameters: parameterTypes(rows, changes) };
}

/**
 * The rows of the INSERT are written to a file. The change is a query over that and the frame's rows with the same keys. Once: see
 * `applyChange`.
 */
export async function upsertRows(
  call: StatementRun,
  { statement, parameters, producer, returned }: UpdateRequest & { readonly statement: Upsert },
  target: InsertTarget,
): Promise<SqlUpdate> {
  const { frames, principal, options } = call;
  refuseProducer(producer, 'the statement has ON CONFLICT');
  const { onConflict, query, settings } = statement;
  await using reader = await frames.open(principal, target.handle, options);
  const keys = checkedKeys(statement, reader);
  const into = insertedTable(onConflict, target.into);
  await using staged = await stageInserted(call, { query, settings, parameters, into });
  const given = await insertedRows(principal, reader, into, staged);
  const bound = await conflictParameters(call, { statement, parameters, keys, given });
  const tables = await conflictTables(call, { statement, reader, keys, given });
  return await applyChange(call, changeOf(statement), { reader, tables }, { parameters, returned, bound });
}

/** Its query gives whole rows, with the defaults of columns. */
function changeOf({ onConflict: { query }, table, returning, settings }: Upsert): RowChange {
  return { verb: 'upsert', table, query, set: [], isWhole: true, returning, settings };
}

function checkedKeys(statement: Upsert, reader: FrameReader): readonly (readonly string[])[] {
  const { onConflict, settings } = statement;
  assertChangeable(changeOf(statement), reader, {
    names: onConflict.action === 'update' ? [insertOrderColumn, excludedColumn] : [insertOrderColumn],
    named: [...onConflict.set, ...onConflict.excluded],
  });
  if (settings?.default_collation) throw collated();
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

/** The inserted rows and those of the frame, as one table by the schema `_target`. */
async function conflictTables(
  call: StatementRun,
  { statement, reader, keys, given }: ConflictParts,
): Promise<readonly SqlTable[]> {
  const { engine, principal } = call;
  const { onConflict, table } = statement;
  const { columns, definition } = reader;
  const replaced = await replacedColumns(call, statement, reader);
  const conflict = { columns, keys, onConflict, replaced, definition };
  const query = await ownQuery(engine, conflictingRows(conflict), call.job);
  const frame = await tableOf(reader, principal.tenant, { name: frameName, schema: undefined });
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
  return [{ ...frame, rowNumbers: rowNumberColumn }, given, rows];
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
