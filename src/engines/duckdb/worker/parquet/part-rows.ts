import type { Column } from '../../../../core/data-type.ts';
import type { ParquetRows, PartSource } from '../../../../core/frame-engine.ts';
import { parquetRelation } from './parquet-relation.ts';

export interface PartRange {
  readonly part: PartSource;
  readonly from: number;
  readonly to: number;
}

const rowNumberColumn = 'file_row_number';

/** What each part has of the rows [fromRow, toRow) of all parts together. */
export function* partRanges(parts: readonly PartSource[], fromRow: number, toRow: number): Generator<PartRange> {
  let start = 0;
  for (const part of parts) {
    const from = Math.max(fromRow - start, 0);
    const to = Math.min(toRow - start, part.rows);
    if (from < to) yield { part, from, to };
    start += part.rows;
  }
}

/** Only the row groups that hold the range are read, by a virtual column that one of the frame's own may hide. */
export function rangeRelation({ part, from, to }: PartRange, columns: readonly Column[]): string {
  const relation = parquetRelation([part.path]);
  if (from === 0 && to === part.rows) return relation;
  const isHidden = columns.some((column) => column.name.toLowerCase() === rowNumberColumn);
  return isHidden
    ? `${relation} LIMIT ${to - from} OFFSET ${from}`
    : `${relation} WHERE ${rowNumberColumn} BETWEEN ${from} AND ${to - 1}`;
}

export function selection(relation: string, select: readonly number[] | undefined): string {
  if (select === undefined) return relation;
  return `(SELECT ${select.map((index, n) => `#${index + 1} AS c${n}`).join(', ')} FROM ${relation})`;
}

export function selected(columns: readonly Column[], select: readonly number[] | undefined): readonly Column[] {
  return select?.map((index) => columns[index] as Column) ?? columns;
}

/** All rows of the source as one relation. */
export function rowsRelation({ parts, columns, select, range }: ParquetRows): string {
  const all = parquetRelation(parts.map((part) => part.path));
  if (range === undefined) return selection(all, select);
  const ranges = [...partRanges(parts, range.from, range.to)];
  const rows = ranges.map((each) => `(SELECT * FROM ${selection(rangeRelation(each, columns), select)})`);
  return rows.length === 0 ? `(SELECT * FROM ${selection(all, select)} LIMIT 0)` : `(${rows.join(' UNION ALL ')})`;
}
