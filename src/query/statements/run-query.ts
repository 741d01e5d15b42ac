import { AppError } from '../../core/app-error.ts';
import type { Column } from '../../core/data-type.ts';
import type { Principal } from '../../core/principal.ts';
import type { Query, SqlJob, SqlResult, SqlRun } from '../../core/sql.ts';
import { resultOver } from '../../core/sql-result.ts';
import type { CallOptions, PreparedSql, QueryRequest } from '../frame-sql.ts';
import { listedInCatalogs } from '../tables/listed-in-catalogs.ts';
import { openTables } from '../tables/open-tables.ts';
import { ownQuery } from '../tables/own-query.ts';
import type { TableSources } from '../tables/table-opener.ts';

/** Runs a query over one version of every frame that it reads. */
export async function runQuery(
  sources: TableSources,
  principal: Principal,
  run: Omit<SqlJob, 'tables'> & Omit<QueryRequest, 'statement'>,
  options: CallOptions,
): Promise<SqlResult> {
  const opened = await openTables(sources, principal, run.query, options);
  return await resultOver(opened, async () => {
    const listed = await listedFor(sources, principal, run.query, options);
    const tables = await opened.withRows(run);
    return await sources.engine.run({ ...run, tables, listed }, { ...options, tenant: principal.tenant });
  });
}

/** What a query gives and takes, without its rows. */
export async function describeQuery(
  sources: TableSources,
  principal: Principal,
  job: Omit<SqlJob, 'tables'> & Pick<SqlRun, 'parameters'>,
  options: CallOptions,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  await using opened = await openTables(sources, principal, job.query, options);
  const listed = await listedFor(sources, principal, job.query, options);
  const described = { ...job, tables: opened.described, listed };
  const { columns, parameters } = await sources.engine.describe(described, { ...options, tenant: principal.tenant });
  return { columns, parameters, parameterNames: job.query.parameterNames };
}

/** The columns of a query that the server has put together. `viewMade`: see `openTables`. */
export async function describeOwnText(
  sources: TableSources,
  principal: Principal,
  { sql, viewMade }: { readonly sql: string; readonly viewMade?: string },
  options: CallOptions,
): Promise<readonly Column[]> {
  const job = { ...options, tenant: principal.tenant };
  try {
    const query = await ownQuery(sources.engine, sql, job);
    await using opened = await openTables(sources, principal, query, options, viewMade);
    const listed = await listedFor(sources, principal, query, options);
    return (await sources.engine.describe({ query, tables: opened.described, listed }, job)).columns;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'sql_error') throw error;
    // The caller does not know this text.
    throw new AppError(error.code, error.message, { hint: error.hint, cause: error });
  }
}

/** Undefined for a query that reads no catalogs. */
export async function listedFor(
  sources: TableSources,
  principal: Principal,
  query: Query,
  options: CallOptions,
): Promise<SqlJob['listed']> {
  return query.readsCatalogs ? await listedInCatalogs(sources, principal, options, query) : undefined;
}
