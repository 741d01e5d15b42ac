import { sqlName, sqlString } from '@framehold/columns';
import { type Connection, DuckDbError, duckdbType, type QueryResult, type StatementColumn } from '@framehold/duckdb';
import { resourceError } from '../resource-error.ts';
import { readableValue } from './readable-value.ts';
import { pruningOf, type ReadFile, unprunedValue } from './safe-pruning.ts';

/** Types that Parquet can give and our vocabulary has not, with what they are read as. */
const readAs: Readonly<Record<number, string>> = {
  [duckdbType.ENUM]: 'VARCHAR',
  [duckdbType.BIT]: 'VARCHAR',
  [duckdbType.GEOMETRY]: 'VARCHAR',
  [duckdbType.VARIANT]: 'JSON',
};

/** All rows of these files. */
export function parquetRelation(files: readonly ReadFile[]): string {
  return pruningOf(files).condition === undefined ? scanOf(files) : `(SELECT * FROM ${parquetScan(files)})`;
}

/** What stands behind FROM: the files with the columns that DuckDB adds to theirs, such as the number of the row. */
export function parquetScan(files: readonly ReadFile[], ...wanted: readonly string[]): string {
  const { condition } = pruningOf(files);
  const conditions = condition === undefined ? wanted : [...wanted, condition];
  return conditions.length === 0 ? scanOf(files) : `${scanOf(files)} WHERE ${conditions.join(' AND ')}`;
}

/** The option is one of the scan: DuckDB has none by column or by file. */
function scanOf(files: readonly ReadFile[]): string {
  const nan = pruningOf(files).mayHideNan ? ', can_have_nan = true' : '';
  return `read_parquet([${files.map(({ path }) => sqlString(path)).join(', ')}], hive_partitioning = false${nan})`;
}

/** A relation with the columns of these files, under conditions that the files are not to be pruned by. */
export function unpruned(relation: string, files: readonly ReadFile[]): string {
  const items = pruningOf(files).misread.map((name) => `${unprunedValue(sqlName(name))} AS ${sqlName(name)}`);
  return items.length === 0 ? relation : `(SELECT * REPLACE (${items.join(', ')}) FROM ${relation})`;
}

/** All columns of `from`, each with a type of our vocabulary. */
export async function queryReadable(connection: Connection, from: string): Promise<QueryResult> {
  using statement = await connection.prepare(`SELECT * FROM ${from}`);
  const readable = readableSql(statement.columns, from);
  return readable === undefined ? await statement.execute() : await connection.query(readable);
}

/** Whether a relation gives all its rows. Takes as long as to read them. */
export async function canBeRead(connection: Connection, from: string): Promise<boolean> {
  try {
    await using rows = await queryReadable(connection, from);
    for await (const _ of rows.batches());
    return true;
  } catch (error) {
    if (!(error instanceof DuckDbError) || error.interrupted || resourceError(error) !== undefined) throw error;
    return false;
  }
}

/** A query that casts the columns of `from` which our vocabulary has not; undefined when there are none. */
export function readableSql(columns: readonly StatementColumn[], from: string): string | undefined {
  const items = columns.map((column, index) => readableColumn(column, `#${index + 1}`));
  if (items.every((item) => item === undefined)) return undefined;
  const named = columns.map(({ name }, index) => `${items[index] ?? `#${index + 1}`} AS ${sqlName(name)}`);
  return `SELECT ${named.join(', ')} FROM ${from}`;
}

/** Undefined where the value is readable as it is. */
function readableColumn({ typeId, nested }: StatementColumn, value: string): string | undefined {
  if (nested !== undefined) return readableValue(value, nested);
  if (typeId === duckdbType.TIME_TZ) return readableValue(value, { kind: 'zonedTime' });
  if (typeId === duckdbType.BIGNUM) return readableValue(value, { kind: 'bignum' });
  const type = readAs[typeId];
  return type === undefined ? undefined : `CAST(${value} AS ${type})`;
}
