import { type Column, sqlName, sqlTypeName } from '@framehold/columns';
import type { ParquetRows, PartSource } from '../../../../core/rows/frame-engine.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { parquetRelation, parquetScan, unpruned } from './parquet-relation.ts';
import type { ReadFile } from './safe-pruning.ts';
import { uniqueNames } from './unique-names.ts';

export interface PartRange {
  readonly part: PartSource;
  readonly from: number;
  readonly to: number;
}

/** A file that may have only the first of the frame's columns. */
type PartFile = ReadFile & Pick<PartSource, 'columnCount'>;

/** Virtual columns of a file's rows. One of the frame's own may hide them. */
const rowNumberColumn = 'file_row_number';
const fileNumberColumn = 'file_index';

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

/** All rows of files of which some may have only the first of the columns. */
export function partsRelation(parts: readonly PartFile[], columns: readonly Column[]): string {
  return unpruned(widenedParts(parts, columns), parts);
}

function widenedParts(parts: readonly PartFile[], columns: readonly Column[]): string {
  if (parts.every(({ columnCount }) => columnCount === undefined)) return parquetRelation(parts);
  const groups: { readonly columnCount: number | undefined; readonly files: PartFile[] }[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (last !== undefined && last.columnCount === part.columnCount) last.files.push(part);
    else groups.push({ columnCount: part.columnCount, files: [part] });
  }
  const relations = groups.map(({ columnCount, files }) => widened(parquetRelation(files), columnCount, columns));
  const [only] = relations;
  if (only !== undefined && relations.length === 1) return only;
  return `(${relations.map((relation) => `(SELECT * FROM ${relation})`).join(' UNION ALL ')})`;
}

/** With NULL for the columns that were added behind those of the relation. */
function widened(relation: string, columnCount: number | undefined, columns: readonly Column[]): string {
  if (columnCount === undefined) return relation;
  return `(SELECT ${['*', ...addedColumns(columnCount, columns)].join(', ')} FROM ${relation})`;
}

function addedColumns(columnCount: number | undefined, columns: readonly Column[]): readonly string[] {
  if (columnCount === undefined) return [];
  const names = uniqueNames(columns.map(({ name }) => name));
  return columns
    .map(({ type }, index) => `CAST(NULL AS ${sqlTypeName(type)}) AS ${sqlName(names[index] ?? '')}`)
    .slice(columnCount);
}

/**
 * All rows of the parts, and behind their columns one that has the number of each from 0. By a virtual column that one of the
 * frame's own may hide: undefined there. A range of numbers reads only the row groups that hold it.
 */
export function numberedRows(
  parts: readonly (PartFile & Pick<PartSource, 'rows'>)[],
  columns: readonly Column[],
  names: { readonly own: readonly string[]; readonly number: string },
): string | undefined {
  if (names.own.some((name) => asciiLower(name) === rowNumberColumn)) return undefined;
  let start = 0;
  const relations = parts.map((part) => {
    const number = `${rowNumberColumn} + ${start} AS ${sqlName(names.number)}`;
    start += part.rows;
    return `SELECT ${['*', ...addedColumns(part.columnCount, columns), number].join(', ')} FROM ${parquetScan([part])}`;
  });
  return relations.length === 0 ? undefined : unpruned(`(${relations.join(' UNION ALL ')})`, parts);
}

/** All rows, with one more column behind the others: the number of the row, from `firstRow` on. */
export function numberedParts(
  parts: readonly PartSource[],
  columns: readonly Column[],
  number: { readonly name: string; readonly firstRow?: number },
): string {
  return unpruned(numbered(parts, columns, number), parts);
}

function numbered(
  parts: readonly PartSource[],
  columns: readonly Column[],
  { name, firstRow = 0 }: { readonly name: string; readonly firstRow?: number },
): string {
  const firstRows = firstRowsOf(parts, firstRow);
  const isUniform = parts.every(({ columnCount }) => columnCount === undefined);
  const isPlain = !isHidden(rowNumberColumn, columns) && !isHidden(fileNumberColumn, columns);
  if (isUniform && isPlain && parts.length > 1) {
    const first = `([${firstRows.join(', ')}]::BIGINT[])[CAST(${fileNumberColumn} AS BIGINT) + 1]`;
    return `(SELECT *, ${first} + ${rowNumberColumn} AS ${sqlName(name)} FROM ${parquetScan(parts)})`;
  }
  const relations = parts.map((part, index) => {
    // Numbering them as they come takes more time: one thread reads them.
    const number = isHidden(rowNumberColumn, columns) ? 'row_number() OVER () - 1' : rowNumberColumn;
    const items = [
      '*',
      ...addedColumns(part.columnCount, columns),
      `${firstRows[index]} + ${number} AS ${sqlName(name)}`,
    ];
    return `(SELECT ${items.join(', ')} FROM ${parquetScan([part])})`;
  });
  return relations.length === 1
    ? (relations[0] ?? '')
    : `(${relations.map((rows) => `FROM ${rows}`).join(' UNION ALL ')})`;
}

/** The number of the first row of each part. */
function firstRowsOf(parts: readonly PartSource[], firstRow: number): number[] {
  let next = firstRow;
  return parts.map(({ rows }) => {
    const first = next;
    next += rows;
    return first;
  });
}

function isHidden(name: string, columns: readonly Column[]): boolean {
  return columns.some((column) => asciiLower(column.name) === name);
}

/** Only the row groups that hold the range are read. */
export function rangeRelation({ part, from, to }: PartRange, columns: readonly Column[]): string {
  const relation = parquetRelation([part]);
  const isWhole = from === 0 && to === part.rows;
  const rows = isHidden(rowNumberColumn, columns)
    ? `${relation} LIMIT ${to - from} OFFSET ${from}`
    : parquetScan([part], `${rowNumberColumn} BETWEEN ${from} AND ${to - 1}`);
  return widened(isWhole ? relation : rows, part.columnCount, columns);
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
  const all = partsRelation(parts, columns);
  if (range === undefined) return selection(all, select);
  const ranges = [...partRanges(parts, range.from, range.to)];
  const rows = ranges.map((each) => {
    const relation = unpruned(rangeRelation(each, columns), [each.part]);
    return `(SELECT * FROM ${selection(relation, select)})`;
  });
  return rows.length === 0 ? `(SELECT * FROM ${selection(all, select)} LIMIT 0)` : `(${rows.join(' UNION ALL ')})`;
}
