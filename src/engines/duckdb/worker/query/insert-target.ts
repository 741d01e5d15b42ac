import type { Column } from '../../../../core/data-type.ts';
import type { InsertedTable, SqlColumn, SqlJob } from '../../../../core/sql.ts';
import type { TableConstraints } from '../../../../core/table-constraints.ts';
import { sqlTypeName } from '../../../../encoding/sql-types/sql-type-name.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import { gateKeptExpressions } from '../gate/gate-expressions.ts';
import { gateQuery } from '../gate/gate-query.ts';
import { sqlError } from '../gate/sql-error.ts';
import { DuckDbError } from '../native/duckdb-error.ts';
import type { Connection } from '../native/session.ts';
import { uniqueNames } from '../parquet/unique-names.ts';

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
  const definitions = await definitionsOf(connection, into);
  await connection.run(`CREATE OR REPLACE TEMP TABLE insert_target (${definitions.join(', ')})`);
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
  const { primaryKey, unique } = constraints;
  const definitions = await definitionsOf(connection, { columns, constraints, named: undefined });
  if (primaryKey !== undefined) definitions.push(`PRIMARY KEY (${primaryKey.columns.map(sqlName).join(', ')})`);
  for (const key of unique) definitions.push(`UNIQUE (${key.columns.map(sqlName).join(', ')})`);
  try {
    await connection.run(`CREATE OR REPLACE TEMP TABLE insert_target (${definitions.join(', ')})`);
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

/** Keys are left out: they are not enforced. */
async function definitionsOf(connection: Connection, { columns, constraints }: InsertedTable): Promise<string[]> {
  const names = uniqueNames(columns.map((column) => column.name));
  const { defaults = [], generated = [], checks = [], notNull = [] } = constraints ?? {};
  const expressions = [...defaults, ...generated, ...checks].map(({ sql }) => sql);
  if (expressions.length > 0) {
    await gateKeptExpressions(expressions, (...part) => gateQuery(connection, ...part));
  }
  const [defaultOf, expressionOf] = [byColumn(defaults), byColumn(generated)];
  const isNotNull = new Set(notNull);
  const list = columns.map(({ name, type, declared }, index) => {
    const column = `${sqlName(names[index] ?? '')} ${sqlTypeName(declared ?? type)}`;
    const expression = expressionOf.get(name);
    if (expression !== undefined) return `${column} GENERATED ALWAYS AS (${expression})`;
    const value = defaultOf.get(name);
    return `${column}${isNotNull.has(name) ? ' NOT NULL' : ''}${value === undefined ? '' : ` DEFAULT (${value})`}`;
  });
  return [...list, ...checks.map(({ sql }) => `CHECK (${sql})`)];
}

function byColumn(expressions: TableConstraints['defaults']): ReadonlyMap<string, string> {
  return new Map(expressions.map(({ column, sql }) => [column, sql]));
}
