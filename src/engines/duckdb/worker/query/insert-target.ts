import type { Column } from '../../../../core/data-type.ts';
import type { SqlJob } from '../../../../core/sql.ts';
import { sqlTypeName } from '../../../../encoding/sql-types/sql-type-name.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import type { Connection } from '../native/session.ts';
import { uniqueNames } from '../parquet/unique-names.ts';

/** An empty table like the frame that an INSERT names. DuckDB inserts here, with its own rules for types and columns. */
export interface InsertTarget extends AsyncDisposable {
  /** Under the frame's own names. */
  readonly columns: readonly Column[];
  insertSql(querySql: string): string;
  readonly selectSql: string;
}

const table = 'temp.main.insert_target';

export async function insertTarget(connection: Connection, into: SqlJob['into']): Promise<InsertTarget | undefined> {
  if (into === undefined) return undefined;
  const names = uniqueNames(into.columns.map((column) => column.name));
  const definitions = into.columns.map(
    ({ type, declared }, index) => `${sqlName(names[index] ?? '')} ${sqlTypeName(declared ?? type)}`,
  );
  await connection.run(`CREATE OR REPLACE TEMP TABLE insert_target (${definitions.join(', ')})`);
  return {
    columns: into.columns,
    insertSql: (querySql) => insertInto(into) + querySql,
    selectSql: `SELECT * FROM ${table}`,
    [Symbol.asyncDispose]: () => connection.tidy(`DROP TABLE IF EXISTS ${table}`),
  };
}

/** What stands before the query. */
export function insertInto({ named }: NonNullable<SqlJob['into']>): string {
  return `INSERT INTO ${table}${named === undefined ? '' : ` (${named.map(sqlName).join(', ')})`} `;
}
