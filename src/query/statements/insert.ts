import type { Column } from '../../core/data-type.ts';
import type { Handle } from '../../core/handle.ts';
import type { Principal } from '../../core/principal.ts';
import { refuseProducer } from '../../core/producer.ts';
import type { InsertedTable, SqlEngine, SqlResult, SqlRun, SqlTable } from '../../core/sql.ts';
import { resultOver } from '../../core/sql-result.ts';
import type { HeldSummary } from '../../frames/catalog/frame-summary.ts';
import { definitionOf } from '../../frames/disk/manifest.ts';
import type { AnalysedStatement, CallOptions, PreparedSql, SqlUpdate, UpdateRequest } from '../frame-sql.ts';
import { isAbsent, sqlColumns } from '../tables/frame-tables.ts';
import { openTables } from '../tables/open-tables.ts';
import type { TableSources } from '../tables/table-opener.ts';
import { temporaryGone, temporaryHandle } from '../tables/temporary-tables.ts';
import { putResult } from './keep-rows.ts';
import { returnedColumns, returnedRows, stageRows } from './returning.ts';
import { describeQuery, runQuery } from './run-query.ts';
import { assertColumns, describeHeld, targetFrame } from './target-frame.ts';
import type { Upsert } from './upsert/inserted-rows.ts';
import { prepareUpsert, upsertRows } from './upsert/upsert.ts';

export type Insert = Extract<AnalysedStatement, { kind: 'insert' }>;

export interface InsertSources extends TableSources {
  /** What casts the rows of an INSERT to what a frame takes. Default: the engine itself. */
  readonly caster?: SqlEngine | undefined;
}

interface InsertTarget {
  readonly handle: Handle;
  readonly into: InsertedTable;
  readonly definition: string;
}

export async function prepareInsert(
  sources: InsertSources,
  principal: Principal,
  statement: Insert,
  options: CallOptions,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  const { query, settings, returning, table } = statement;
  const { handle, into } = await insertTarget(sources, principal, statement, options);
  if (isUpsert(statement)) return await prepareUpsert(sources, principal, statement, { handle, into }, options);
  const given = sources.caster === undefined ? { query, into, settings } : { query, settings };
  const description = await describeQuery(sources, principal, given, options);
  let columns: readonly Column[] = [];
  if (returning !== undefined) {
    await using reader = await sources.frames.open(principal, handle, options);
    columns = await returnedColumns(sources, principal, { returning, table }, reader, options);
  }
  return { ...description, columns };
}

/** Once: rejects with `frame_changed` where the definition of the frame was changed meanwhile. */
export async function insertRows(
  sources: InsertSources,
  principal: Principal,
  { statement, parameters, producer, returned }: UpdateRequest & { readonly statement: Insert },
  options: CallOptions,
): Promise<SqlUpdate> {
  const { handle, into, definition } = await insertTarget(sources, principal, statement, options);
  if (isUpsert(statement)) {
    const request = { statement, parameters, producer, returned };
    return await upsertRows(sources, principal, request, { handle, into }, options);
  }
  const { query, returning, table, settings } = statement;
  if (returning !== undefined) {
    refuseProducer(producer, 'the statement has RETURNING');
    await using opened = await openTables(sources, principal, query, options);
    const tables = await opened.withRows({ query, into, settings });
    const run = { query, into, settings, tables, form: 'arrow', parameters, isKept: true } as const;
    await using staged = await stageRows(sources, principal, run, options);
    const { rows, path } = staged;
    await using reader = await sources.frames.open(principal, handle, options);
    const wanted = { returning, table, path, hidden: [], reader, settings, parameters, returned };
    const result = await returnedRows(sources, principal, wanted, options);
    if (rows === 0) return { rows, hasChanged: false, returned: result };
    const source = { kind: 'parquet', parts: [{ path, rows }], columns: into.columns } as const;
    await sources.frames.put(principal, { handle, mode: 'append', source, isChecked: true, definition }, options);
    return { rows, hasChanged: true, returned: result };
  }
  const run = { query, settings, form: 'arrow', parameters, isKept: true } as const;
  await using result = await castRows(sources, principal, run, into, options);
  const put = { handle, mode: 'append', producer, isChecked: true, definition } as const;
  const { isRepeated } = await putResult(sources.frames, principal, result, put, options);
  if (isRepeated) return { rows: 0, hasChanged: false, isRepeated };
  return { rows: result.totalRows, hasChanged: result.totalRows > 0 };
}

function isUpsert(statement: Insert): statement is Upsert {
  return statement.onConflict !== undefined;
}

/** The rows of a query as an INSERT adds them. */
async function castRows(
  sources: InsertSources,
  principal: Principal,
  run: Omit<SqlRun, 'tables' | 'into'>,
  into: InsertedTable,
  options: CallOptions,
): Promise<SqlResult> {
  const { caster } = sources;
  if (caster === undefined) return await runQuery(sources, principal, { ...run, into }, options);
  await using opened = await openTables(sources, principal, run.query, options);
  const staged = await stageRows(sources, principal, { ...run, tables: opened.tables }, options);
  return await resultOver(staged, async () => {
    const name = 'given_rows';
    const tables: SqlTable[] = [{ kind: 'changes', name, path: staged.path, hidden: [] }];
    const query = { sql: `SELECT * FROM ${name}`, tables: [], parameterCount: 0 };
    const { form, isKept, settings } = run;
    const cast = { query, into, tables, form, isKept, settings };
    return await caster.run(cast, { ...options, tenant: principal.tenant });
  });
}

async function insertTarget(
  { frames }: TableSources,
  principal: Principal,
  { table, columns: listed, match }: Insert,
  { signal, temporary }: CallOptions,
): Promise<InsertTarget> {
  const own = temporaryHandle(temporary, table);
  const handle = own ?? (await targetFrame(frames, principal, table)).handle;
  const frame = await describeHeld(frames, principal, handle, { signal }).catch((error: unknown) => {
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

/** One that takes a value. */
function anyColumn({ columns, constraints }: HeldSummary): string {
  const generated = new Set(constraints?.generated.map(({ column }) => column));
  return columns.find(({ name }) => !generated.has(name))?.name ?? '';
}
