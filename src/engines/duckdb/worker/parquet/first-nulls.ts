import { type Column, sqlName, sqlString } from '@framehold/columns';
import { type Connection, DuckDbError } from '@framehold/duckdb';
import type { FirstNull } from '../../../../core/rows/frame-engine.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { parquetRelation } from './parquet-relation.ts';

const rowNumberColumn = 'file_row_number';

/** Of those columns of a file that have NULLs. Of one whose statistics tell that it has none, nothing is read. */
export async function firstNulls(
  connection: Connection,
  path: string,
  columns: readonly Column[],
  wanted: readonly string[],
): Promise<FirstNull[]> {
  const isHidden = columns.some(({ name }) => asciiLower(name) === rowNumberColumn);
  const row = isHidden ? 'NULL::BIGINT' : rowNumberColumn;
  const found: FirstNull[] = [];
  const names = new Set(columns.map(({ name }) => name));
  const full = wanted.length === 0 ? new Set() : await columnsWithoutNulls(connection, path);
  for (const column of wanted) {
    if (!names.has(column) || full.has(column)) continue;
    const [first] = await connection.rows<{ n: number; row: number | null }>(
      `SELECT count(*) AS n, min(${row}) AS row FROM ${parquetRelation([{ path }])} WHERE ${sqlName(column)} IS NULL`,
    );
    if (Number(first?.n ?? 0) === 0) continue;
    found.push({ column, ...(first?.row != null && { row: Number(first.row) }) });
  }
  return found;
}

/** By the statistics of the file alone, which has them of values that hold no others. What is in `a` is named `a, b`. */
async function columnsWithoutNulls(connection: Connection, path: string): Promise<ReadonlySet<string>> {
  try {
    const rows = await connection.rows<{ name: string }>(
      `SELECT path_in_schema AS name FROM parquet_metadata(${sqlString(path)})
       GROUP BY ALL HAVING bool_and(coalesce(stats_null_count = 0, false))`,
    );
    return new Set(rows.map(({ name }) => name).filter((name) => !name.includes(', ')));
  } catch (error) {
    // It also words the least and the largest values, and for some timestamps DuckDB has no text.
    if (error instanceof DuckDbError && !error.interrupted && !error.fatal) return new Set();
    throw error;
  }
}
