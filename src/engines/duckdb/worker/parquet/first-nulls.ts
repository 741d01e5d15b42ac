import type { Column } from '../../../../core/data-type.ts';
import type { FirstNull } from '../../../../core/frame-engine.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import type { Connection } from '../native/session.ts';
import { parquetRelation } from './parquet-relation.ts';

const rowNumberColumn = 'file_row_number';

/** Of those columns of a file that have NULLs. Where its statistics tell that there is none, no value is read. */
export async function firstNulls(
  connection: Connection,
  path: string,
  columns: readonly Column[],
  wanted: readonly string[],
): Promise<FirstNull[]> {
  const isHidden = columns.some(({ name }) => name.toLowerCase() === rowNumberColumn);
  const row = isHidden ? 'NULL::BIGINT' : rowNumberColumn;
  const found: FirstNull[] = [];
  for (const column of wanted) {
    if (!columns.some(({ name }) => name === column)) continue;
    const [first] = await connection.rows<{ n: number; row: number | null }>(
      `SELECT count(*) AS n, min(${row}) AS row FROM ${parquetRelation([path])} WHERE ${sqlName(column)} IS NULL`,
    );
    if (Number(first?.n ?? 0) === 0) continue;
    found.push({ column, ...(first?.row != null && { row: Number(first.row) }) });
  }
  return found;
}
