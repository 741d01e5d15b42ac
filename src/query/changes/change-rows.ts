import { rowNumberColumn, type TableName, targetSchema } from '../../core/sql/sql.ts';
import { viewTaken } from '../../frames/catalog/frame-errors.ts';
import type { PreparedSql, SqlUpdate } from '../frame-sql.ts';
import type { StatementRun } from '../statement-run.ts';
import { tableOf } from '../tables/frame-tables.ts';
import { changedFrame, describeHeld } from '../tables/target-frame.ts';
import { applyChange, assertChangeable, type ChangeRun, type ChangeTarget, describeChange } from './change.ts';
import { type ChangeWithSettings, withColumnNames } from './merge-columns.ts';

/** The columns and parameters of an UPDATE, DELETE or MERGE. */
export async function prepareChange(
  call: StatementRun,
  asked: ChangeWithSettings,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  return await withTarget(call, asked, (change, target) => describeChange(call, change, target));
}

/** UPDATE, DELETE and MERGE. Once: see `applyChange`. */
export async function changeRows(call: StatementRun, asked: ChangeWithSettings, run: ChangeRun): Promise<SqlUpdate> {
  return await withTarget(call, asked, (change, target) =>
    applyChange(call, change, target, { ...run, bound: run.parameters }),
  );
}

async function withTarget<T>(
  call: StatementRun,
  asked: ChangeWithSettings,
  use: (change: ChangeWithSettings, target: ChangeTarget) => Promise<T>,
): Promise<T> {
  const { frames, principal, options } = call;
  const handle = await changedFrame(call, asked.table);
  await using reader = await frames.open(principal, handle, options);
  return await withColumnNames(call, asked, reader, async (change) => {
    assertChangeable(change, reader);
    const rows = await tableOf(reader, principal.tenant, { name: change.table.name, schema: targetSchema });
    return await use(change, { reader, tables: [{ ...rows, rowNumbers: rowNumberColumn }] });
  });
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
