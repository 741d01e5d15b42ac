import type { Column } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { Query, SqlJob, SqlResult, SqlRun } from '../../core/sql/sql.ts';
import { resultOver } from '../../core/sql/sql-result.ts';
import type { PreparedSql, QueryRequest } from '../frame-sql.ts';
import type { StatementRun } from '../statement-run.ts';
import { listedInCatalogs } from '../tables/listed-in-catalogs.ts';
import { openTables } from '../tables/open-tables.ts';
import { ownQuery } from '../tables/own-query.ts';

/** Runs a query over one version of every frame that it reads. */
export async function runQuery(
  call: StatementRun,
  run: Omit<SqlJob, 'tables'> & Omit<QueryRequest, 'statement'>,
): Promise<SqlResult> {
  const { engine } = call;
  const opened = await openTables(call, run.query);
  return await resultOver(opened, async () => {
    const listed = await listedFor(call, run.query);
    const tables = await opened.withRows(run);
    return await engine.run({ ...run, tables, listed }, call.job);
  });
}

/** The columns and parameters of a query, without its rows. */
export async function describeQuery(
  call: StatementRun,
  job: Omit<SqlJob, 'tables'> & Pick<SqlRun, 'parameters'>,
): Promise<Omit<PreparedSql, 'isUpdate'>> {
  const { engine } = call;
  await using opened = await openTables(call, job.query);
  const listed = await listedFor(call, job.query);
  const described = { ...job, tables: opened.described, listed };
  const { columns, parameters } = await engine.describe(described, call.job);
  return { columns, parameters, parameterNames: job.query.parameterNames };
}

/** The columns of a query that the server has put together. `viewMade`: see `openTables`. */
export async function describeOwnText(
  call: StatementRun,
  { sql, viewMade }: { readonly sql: string; readonly viewMade?: string },
): Promise<readonly Column[]> {
  const { engine, job } = call;
  try {
    const query = await ownQuery(engine, sql, job);
    await using opened = await openTables(call, query, viewMade);
    const listed = await listedFor(call, query);
    return (await engine.describe({ query, tables: opened.described, listed }, job)).columns;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'sql_error') throw error;
    // The caller does not know this text.
    throw error.with({ position: undefined, cause: error });
  }
}

/** Undefined for a query that reads no catalogs. */
export async function listedFor(call: StatementRun, query: Query): Promise<SqlJob['listed']> {
  return query.readsCatalogs ? await listedInCatalogs(call, query) : undefined;
}
