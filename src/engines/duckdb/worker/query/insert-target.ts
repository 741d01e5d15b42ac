import { randomBytes } from 'node:crypto';
import { type Column, sqlName } from '@framehold/columns';
import { type Connection, DuckDbError } from '@framehold/duckdb';
import type { AppError } from '../../../../core/errors/app-error.ts';
import type { InsertedTable, NamedConstraints, SqlColumn, SqlJob } from '../../../../core/sql/sql.ts';
import { sqlError } from '../gate/errors/sql-error.ts';
import { keyDefinitions, tableDefinition } from './table-definition.ts';

/** An empty table like the frame that an INSERT names. DuckDB inserts here, with its own rules for types, columns and constraints. */
export interface InsertTarget extends AsyncDisposable {
  /** Under the frame's own names. */
  readonly columns: readonly Column[];
  insertSql(querySql: string): string;
  readonly selectSql: string;
}

/** A name that only this process knows: in an error it stands for the name of the frame. */
const standIn = `insert_target_${randomBytes(8).toString('hex')}`;
const table = `temp.main.${standIn}`;

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

/** Throws if DuckDB cannot keep these constraints for a table of these columns. */
export async function assertConstraints(
  connection: Connection,
  columns: readonly SqlColumn[],
  constraints: NamedConstraints,
): Promise<void> {
  const items = await tableDefinition(connection, { columns, constraints });
  try {
    await createTarget(connection, [...items, ...keyDefinitions(constraints)]);
  } catch (error) {
    // It quotes a text of ours.
    if (!(error instanceof DuckDbError) || error.interrupted) throw error;
    throw underName(
      constraints.table,
      sqlError(error, '', () => -1),
    );
  } finally {
    await connection.tidy(`DROP TABLE IF EXISTS ${table}`);
  }
}

/** The error with the frame's name in place of the stand-in. */
export function underName(name: string, error: AppError): AppError {
  const named = (text: string): string => text.replaceAll(standIn, () => name);
  return error.with({ message: named(error.message), hint: error.hint && named(error.hint) });
}

/** The text before the query. */
export function insertInto({ named, isByName }: InsertedTable): string {
  const columns = named === undefined ? '' : ` (${named.map(sqlName).join(', ')})`;
  return `INSERT INTO ${table}${columns} ${isByName === true ? 'BY NAME ' : ''}`;
}

async function createTarget(connection: Connection, items: readonly string[]): Promise<void> {
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${standIn} (${items.join(', ')})`);
}
