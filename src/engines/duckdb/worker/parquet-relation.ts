import { sqlString } from '../sql-text.ts';
import type { Connection, QueryResult } from './session.ts';

/** Types (ids of duckdb_type) that Parquet can give and our vocabulary has not, with what they are read as. */
const readAs: Readonly<Record<number, string>> = {
  23: 'VARCHAR', // ENUM
  29: 'VARCHAR', // BIT
  30: 'TIME', // TIME WITH TIME ZONE: Parquet holds it in UTC
  35: 'VARCHAR', // BIGNUM
  41: 'JSON', // VARIANT
};

export function parquetRelation(paths: readonly string[]): string {
  return `read_parquet([${paths.map(sqlString).join(', ')}], hive_partitioning = false)`;
}

/** All columns of `from`, each with a type of our vocabulary. */
export async function queryReadable(connection: Connection, from: string): Promise<QueryResult> {
  using statement = await connection.prepare(`SELECT * FROM ${from}`);
  const casts = statement.columns.map(({ typeId }, index) => {
    const type = readAs[typeId];
    return type === undefined ? `#${index + 1}` : `CAST(#${index + 1} AS ${type})`;
  });
  if (casts.every((item) => item.startsWith('#'))) return await statement.execute();
  return await connection.query(`SELECT ${casts.join(', ')} FROM ${from}`);
}
