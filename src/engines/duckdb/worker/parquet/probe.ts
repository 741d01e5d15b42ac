import { stat } from 'node:fs/promises';
import { AppError } from '../../../../core/app-error.ts';
import type { Column } from '../../../../core/data-type.ts';
import type { PartFacts } from '../../../../core/frame-engine.ts';
import { sqlString } from '../../protocol/sql-text.ts';
import { DuckDbError, describeDataError, resourceError } from '../native/duckdb-error.ts';
import type { Connection } from '../native/session.ts';
import { refuseImpossible } from './impossible-footer.ts';
import { refuseDeepLists } from './list-depth.ts';
import { columnNamesKey } from './parquet-names.ts';
import { parquetRelation, queryReadable } from './parquet-relation.ts';
import { pruningOf } from './safe-pruning.ts';

/** What a Parquet file holds, from its footer alone. */
export async function probe(connection: Connection, path: string): Promise<PartFacts> {
  return await explained(path, async () => {
    const file = sqlString(path);
    await refuseImpossible(path);
    const columns = await columnsOf(connection, path);
    const names = await exactNames(connection, file);
    await refuseWideDecimals(connection, file);
    const [counted] = await connection.rows<{ rows: number }>(
      `SELECT sum(num_rows) AS rows FROM parquet_file_metadata(${file})`,
    );
    return {
      rows: Number(counted?.rows ?? 0),
      columns: columns.map((column, index) => ({ ...column, name: names[index] ?? column.name })),
      uncompressedBytes: (await uncompressedBytes(connection, file)) ?? (await stat(path)).size,
      isMisread: pruningOf([path]).misread.length > 0,
    };
  });
}

/** Undefined where DuckDB does not tell: with it, it would tell the least and largest values, and some timestamps it has no text for. */
async function uncompressedBytes(connection: Connection, file: string): Promise<number | undefined> {
  try {
    const [sum] = await connection.rows<{ bytes: number }>(
      `SELECT coalesce(sum(total_uncompressed_size), 0)::BIGINT AS bytes FROM parquet_metadata(${file})`,
    );
    return Number(sum?.bytes ?? 0);
  } catch (error) {
    if (error instanceof DuckDbError && /timestamp_ns conversion/.test(error.message)) return undefined;
    throw error;
  }
}

/** The columns of a Parquet file as DuckDB reads them, by the names that it was written with. */
export async function probeColumns(
  connection: Connection,
  path: string,
  names: readonly string[],
): Promise<readonly Column[]> {
  return await explained(path, async () => {
    const columns = await columnsOf(connection, path);
    return columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }));
  });
}

async function explained<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DuckDbError) || error.interrupted || error.fatal) throw error;
    throw (
      resourceError(error) ??
      new AppError('invalid_input', `not readable as Parquet: ${describeDataError(error, path)}`, { cause: error })
    );
  }
}

async function columnsOf(connection: Connection, path: string): Promise<readonly Column[]> {
  await using result = await queryReadable(connection, `${parquetRelation([path])} LIMIT 0`);
  refuseDeepLists(result.columns);
  return result.columns;
}

/** DuckDB has no decimals of more than 38 digits and reads them as DOUBLE, far off the mark. */
async function refuseWideDecimals(connection: Connection, file: string): Promise<void> {
  const [wide] = await connection.rows<{ name: string; precision: number }>(
    `SELECT name, precision FROM parquet_schema(${file}) WHERE precision > 38 LIMIT 1`,
  );
  if (wide === undefined) return;
  const { name, precision } = wide;
  throw new AppError(
    'unsupported_type',
    `column ${JSON.stringify(name)} has decimals of ${precision} digits; 38 is the most`,
  );
}

/** Top-level column names as the file spells them: DuckDB renames what differs only in case. */
async function exactNames(connection: Connection, file: string): Promise<string[]> {
  const [kept] = await connection.rows<{ names: string }>(
    `SELECT decode(value) AS names FROM parquet_kv_metadata(${file}) WHERE decode(key) = ${sqlString(columnNamesKey)}`,
  );
  if (kept !== undefined) return JSON.parse(kept.names) as string[];
  const nodes = await connection.rows<{ name: string; num_children: number | null }>(
    `SELECT name, num_children FROM parquet_schema(${file})`,
  );
  const names: string[] = [];
  let at = 1;
  const skipSubtree = (): void => {
    const children = nodes[at++]?.num_children ?? 0;
    for (let n = 0; n < children; n++) skipSubtree();
  };
  while (at < nodes.length) {
    names.push(nodes[at]?.name ?? '');
    skipSubtree();
  }
  return names;
}
