import { type Column, sqlName } from '@framehold/columns';
import { type Connection, DuckDbError, UnreadableType } from '@framehold/duckdb';
import type { AnalyticsTable } from '../../../../core/sql/sql.ts';
import { readableSql } from '../parquet/parquet-relation.ts';
import { analyticsNames } from './analytics-names.ts';
import type { QueryPlace } from './sql-catalog.ts';

/** The tables and views of the operator's database. */
export async function analyticsTables(catalog: QueryPlace): Promise<AnalyticsTable[]> {
  const { connection } = catalog;
  await using _ = await catalog.openAnalytics();
  const tables: AnalyticsTable[] = [];
  for (const { schema, name, kind } of await analyticsNames(connection)) {
    const columns = await columnsOf(connection, `analytics.${sqlName(schema)}.${sqlName(name)}`);
    if (columns !== undefined) tables.push({ schema, name, kind, columns });
  }
  return tables;
}

/** Undefined for tables that cannot be read, such as a view over a file. */
async function columnsOf(connection: Connection, table: string): Promise<readonly Column[] | undefined> {
  try {
    using statement = await connection.prepare(`SELECT * FROM ${table}`);
    const readable = readableSql(statement.columns, table);
    if (readable === undefined) return statement.typedColumns;
    using cast = await connection.prepare(readable);
    return cast.typedColumns;
  } catch (error) {
    if (error instanceof DuckDbError || error instanceof UnreadableType) return undefined;
    throw error;
  }
}
