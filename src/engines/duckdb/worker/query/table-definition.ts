import { sqlName, sqlTypeName } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { TableDefinition } from '../../../../core/sql/sql.ts';
import type { TableConstraints } from '../../../../core/sql/table-constraints.ts';
import { gateQuery } from '../gate/gate-query.ts';
import { gateKeptExpressions } from '../gate/statements/gate-expressions.ts';
import { uniqueNames } from '../parquet/unique-names.ts';

/** The text in the parentheses of CREATE TABLE, without keys. The expressions are callers': they pass the gate again. */
export async function tableDefinition(
  connection: Connection,
  { columns, constraints }: TableDefinition,
): Promise<string[]> {
  const names = uniqueNames(columns.map((column) => column.name));
  const { defaults = [], generated = [], checks = [], notNull = [] } = constraints ?? {};
  const expressions = [...defaults, ...generated, ...checks].map(({ sql }) => sql);
  if (expressions.length > 0) await gateKeptExpressions(expressions, (...part) => gateQuery(connection, ...part));
  const [defaultOf, expressionOf] = [byColumn(defaults), byColumn(generated)];
  const isNotNull = new Set(notNull);
  const items = columns.map(({ name, type, declared }, index) => {
    const column = `${sqlName(names[index] ?? '')} ${sqlTypeName(declared ?? type)}`;
    const expression = expressionOf.get(name);
    if (expression !== undefined) return `${column} GENERATED ALWAYS AS (${expression})`;
    const value = defaultOf.get(name);
    return `${column}${isNotNull.has(name) ? ' NOT NULL' : ''}${value === undefined ? '' : ` DEFAULT (${value})`}`;
  });
  return [...items, ...checks.map(({ sql }) => `CHECK (${sql})`)];
}

/** The same with keys. Constraints that DuckDB refuses are left out. */
export async function wholeDefinition(
  connection: Connection,
  { columns, constraints }: TableDefinition,
): Promise<string[]> {
  if (constraints === undefined) return await tableDefinition(connection, { columns });
  const { notNull, primaryKey } = constraints;
  // The key says it: DuckDB would list it twice.
  const told = notNull.filter((column) => !primaryKey?.columns.includes(column));
  try {
    const items = await tableDefinition(connection, { columns, constraints: { ...constraints, notNull: told } });
    return [...items, ...keyDefinitions(constraints)];
  } catch (error) {
    if (error instanceof AppError) return await tableDefinition(connection, { columns });
    throw error;
  }
}

/** Keys that DuckDB would enforce. */
export function keyDefinitions({ primaryKey, unique }: TableConstraints): string[] {
  const listOf = (columns: readonly string[]): string => columns.map(sqlName).join(', ');
  return [
    ...(primaryKey === undefined ? [] : [`PRIMARY KEY (${listOf(primaryKey.columns)})`]),
    ...unique.map(({ columns }) => `UNIQUE (${listOf(columns)})`),
  ];
}

/** Keys to tables of the same schema, which must be there with the key that is meant. */
export function foreignKeyDefinitions({ foreignKeys }: TableConstraints): string[] {
  const listOf = (columns: readonly string[]): string => `(${columns.map(sqlName).join(', ')})`;
  return foreignKeys.map(
    ({ columns, table, references }) =>
      `FOREIGN KEY ${listOf(columns)} REFERENCES ${sqlName(table)}${references === undefined ? '' : ` ${listOf(references)}`}`,
  );
}

function byColumn(expressions: TableConstraints['defaults']): ReadonlyMap<string, string> {
  return new Map(expressions.map(({ column, sql }) => [column, sql]));
}
