import type { Connection } from '@framehold/duckdb';
import { AppError } from '../../../../core/errors/app-error.ts';
import { type AnalyticsTable, type TableName, tableText } from '../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { didYouMean } from '../../../../core/text/did-you-mean.ts';

/** The names in the operator's database while it is open. */
export function analyticsNames(connection: Connection): Promise<Omit<AnalyticsTable, 'columns'>[]> {
  return connection.rows(
    `SELECT schema_name AS schema, table_name AS name, 'table' AS kind FROM duckdb_tables() WHERE database_name = 'analytics'
     UNION ALL
     SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE database_name = 'analytics' AND NOT internal
     ORDER BY ALL`,
  );
}

/**
 * Refuses missing tables of the operator's database. DuckDB would take such a name, with all its qualifiers, for that of a file:
 * analytics.csv.
 */
export async function assertTables(connection: Connection, tables: readonly TableName[]): Promise<void> {
  const names = await analyticsNames(connection);
  for (const table of tables) {
    const schema = table.catalog === undefined ? 'main' : (table.schema ?? 'main');
    const candidates = names.filter((each) => asciiLower(each.schema) === asciiLower(schema)).map(({ name }) => name);
    if (candidates.some((name) => asciiLower(name) === asciiLower(table.name))) continue;
    const { name, position } = table;
    throw new AppError('sql_error', `table ${tableText(table)} not found${didYouMean(name, candidates)}`, { position });
  }
}
