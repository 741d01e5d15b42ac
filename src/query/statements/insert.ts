import { refuseProducer } from '../../core/callers/producer.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { InsertedTable, SqlResult, SqlRun, SqlTable } from '../../core/sql/sql.ts';
import { resultOver } from '../../core/sql/sql-result.ts';
import type { HeldSummary } from '../../frames/catalog/frame-summary.ts';
import { definitionOf } from '../../frames/disk/manifest.ts';
import type { Upsert } from '../changes/inserted-rows.ts';
import { prepareUpsert, upsertRows } from '../changes/upsert.ts';
import type { AnalysedStatement, PreparedSql, SqlUpdate, UpdateRequest } from '../frame-sql.ts';
import { putResult } from '../rows/keep-rows.ts';
import { describeQuery, runQuery } from '../rows/run-query.ts';
import { returnedColumns, returnedRows, stageInserted, stageRows } from '../rows/staged-rows.ts';
import type { StatementRun } from '../statement-run.ts';
import { isAbsent, sqlColumns } from '../tables/frame-tables.ts';
import { openTables } from '../tables/open-tables.ts';
import { assertColumns, describeHeld, targetFrame } from '../tables/target-frame.ts';
import { temporaryGone, temporaryHandle } from '../tables/temporary-tables.ts';

export type Insert = Extract<AnalysedStatement, { kind: 'insert' }>;

interface InsertTarget {
  readonly handle: Handle;
  readonly into: InsertedTable;
  readonly definition: string;
}

export async function prepareInsert(call: StatementRun, statement: Insert): Promise<Omit<PreparedSql, 'isUpdate'>> {
  const { caster, frames, principal, options } = call;
  const { query, settings, returning } = statement;
  const { handle, into } = await insertTarget(call, statement);
  if (isUpsert(statement)) return await prepareUpsert(call, statement, { handle, into });
  const given = caster === undefined ? { query, into, settings } : { query, settings };
  const description = await describeQuery(call, given);
  if (returning === undefined) return { ...description, columns: [] };
  await using reader = await frames.open(principal, handle, options);
  return { ...description, columns: await returnedColumns(call, statement, { reader }) };
}

/** Once: rejects with `frame_changed` where the definition of the frame was changed meanwhile. */
export async function insertRows(
  call: StatementRun,
  { statement, parameters, producer, returned }: UpdateRequest & { readonly statement: Insert },
): Promise<SqlUpdate> {
  const { frames, principal, options } = call;
  const { handle, into, definition } = await insertTarget(call, statement);
  if (isUpsert(statement)) {
    const request = { statement, parameters, producer, returned };
    return await upsertRows(call, request, { handle, into });
  }
  const { query, returning, settings } = statement;
  if (returning !== undefined) {
    refuseProducer(producer, 'the statement has RETURNING');
    await using staged = await stageInserted(call, { query, settings, parameters, into });
    const { rows, path } = staged;
    await using like = await frames.open(principal, handle, options);
    const result = await returnedRows(call, statement, { path, hidden: [], like }, { parameters, returned });
    if (rows === 0) return { rows, hasChanged: false, returned: result };
    const source = { kind: 'parquet', parts: [{ path, rows }], columns: into.columns } as const;
    await frames.put(principal, { handle, mode: 'append', source, isChecked: true, definition }, options);
    return { rows, hasChanged: true, returned: result };
  }
  const run = { query, settings, form: 'arrow', parameters, isKept: true } as const;
  await using result = await castRows(call, run, into);
  const put = { handle, mode: 'append', producer, isChecked: true, definition } as const;
  const { isRepeated } = await putResult(call, result, put);
  if (isRepeated) return { rows: 0, hasChanged: false, isRepeated };
  return { rows: result.totalRows, hasChanged: result.totalRows > 0 };
}

function isUpsert(statement: Insert): statement is Upsert {
  return statement.onConflict !== undefined;
}

/** The rows of a query as an INSERT adds them. */
async function castRows(
  call: StatementRun,
  run: Omit<SqlRun, 'tables' | 'into'>,
  into: InsertedTable,
): Promise<SqlResult> {
  const { caster } = call;
  if (caster === undefined) return await runQuery(call, { ...run, into });
  await using opened = await openTables(call, run.query);
  const staged = await stageRows(call, { ...run, tables: opened.tables });
  return await resultOver(staged, async () => {
    const name = 'given_rows';
    const tables: SqlTable[] = [{ kind: 'changes', name, path: staged.path, hidden: [] }];
    const query = { sql: `SELECT * FROM ${name}`, tables: [], parameterCount: 0 };
    const { form, isKept, settings } = run;
    const cast = { query, into, tables, form, isKept, settings };
    return await caster.run(cast, call.job);
  });
}

async function insertTarget(call: StatementRun, { table, columns: listed, match }: Insert): Promise<InsertTarget> {
  const own = temporaryHandle(call.options.temporary, table);
  const handle = own ?? (await targetFrame(call, table)).handle;
  const frame = await describeHeld(call, handle).catch((error: unknown) => {
    throw own !== undefined && isAbsent(error) ? temporaryGone(table, error) : error;
  });
  const given = listed?.map((name) => ({ name })) ?? [];
  assertColumns(given, frame.columns, own === undefined ? handle : table.name);
  const { constraints } = frame;
  const columns = sqlColumns(frame);
  const named = match === 'defaults' ? [anyColumn(frame)] : listed;
  const into = { name: table.name, columns, constraints, named, isByName: match === 'name' };
  return { handle, into, definition: definitionOf(frame) };
}

/** A column that takes a value. */
function anyColumn({ columns, constraints }: HeldSummary): string {
  const generated = new Set(constraints?.generated.map(({ column }) => column));
  return columns.find(({ name }) => !generated.has(name))?.name ?? '';
}
