import type { Column } from '../../../../core/data-type.ts';
import type { InsertedTable, SqlColumn, SqlJob } from '../../../../core/sql.ts';
import type { TableConstraints } from '../../../../core/table-constraints.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import { sqlError } from '../gate/sql-error.ts';
import { DuckDbError } from '../native/duckdb-error.ts';
import type { Connection } from '../native/session.ts';
import { keyDefinitions, tableDefinition } from './table-definition.ts';

/** An empty table like the frame that an INSERT names. DuckDB inserts here, with its own rules for types, columns and constraints. */
export interface InsertTarget extends AsyncDisposable {
  /** Under the frame's own names. */
  readonly columns: readonly Column[];
  insertSql(querySql: string): string;
  readonly selectSql: string;
}

const table = 'temp.main.insert_target';

export async function insertTarget(connection: Connection, into: SqlJob['into']): Promise<InsertTarget | undefined> {
  if (into === undefined) return undefined;
  await createTarget(connection, await tableDefinition(connection, into));
  return {
    columns: into.columns,
    insertSql: (querySql) => insertInto(into) + querySql,
    selectSql: `SELECT * FROM ${table}`,
    [Symbol.asyncDispose]: () => connection.tidy(`DROP TABLE IF EXISTS ${table}`),
  };
}

/** Whether DuckDB can keep the constraints for a table of these columns: it refuses what it cannot. */
export async function assertConstraints(
  connection: Connection,
  columns: readonly SqlColumn[],
  constraints: TableConstraints,
): Promise<void> {
  const items = await tableDefinition(connection, { columns, constraints });
  try {
    await createTarget(connection, [...items, ...keyDefinitions(constraints)]);
  } catch (error) {
    // It quotes a text of ours.
    throw error instanceof DuckDbError && !error.interrupted ? sqlError(error, '', () => -1) : error;
  } finally {
    await connection.tidy(`DROP TABLE IF EXISTS ${table}`);
  }
}

/** What stands before the query. */
export function insertInto({ named, isByName }: InsertedTable): string {
  const columns = named === undefined ? '' : ` (${named.map(sqlName).join(', ')})`;
  return `INSERT INTO ${table}${columns} ${isByName === true ? 'BY NAME ' : ''}`;
}

async function createTarget(connection: Connection, items: readonly string[]): Promise<void> {
  await connection.run(`CREATE OR REPLACE TEMP TABLE insert_target (${items.join(', ')})`);
}
