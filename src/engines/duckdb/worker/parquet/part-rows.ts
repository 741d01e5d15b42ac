import type { Column } from '../../../../core/data-type.ts';
import type { ParquetRows, PartSource } from '../../../../core/frame-engine.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { sqlTypeName } from '../../../../encoding/sql-types/sql-type-name.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import { parquetRelation, unpruned } from './parquet-relation.ts';
import { uniqueNames } from './unique-names.ts';

export interface PartRange {
  readonly part: PartSource;
  readonly from: number;
  readonly to: number;
}

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
export function partsRelation(
  parts: readonly Pick<PartSource, 'path' | 'columnCount'>[],
  columns: readonly Column[],
): string {
  return withoutPruning(widenedParts(parts, columns), parts);
}

/** Conditions of statements around it find all rows that meet them. */
function withoutPruning(relation: string, parts: readonly Pick<PartSource, 'path'>[]): string {
  return unpruned(
    relation,
    parts.map(({ path }) => path),
  );
}

function widenedParts(parts: readonly Pick<PartSource, 'path' | 'columnCount'>[], columns: readonly Column[]): string {
  if (parts.every(({ columnCount }) => columnCount === undefined))
    return parquetRelation(parts.map(({ path }) => path));
  const groups: { readonly columnCount: number | undefined; readonly paths: string[] }[] = [];
  for (const { path, columnCount } of parts) {
    const last = groups.at(-1);
    if (last !== undefined && last.columnCount === columnCount) last.paths.push(path);
    else groups.push({ columnCount, paths: [path] });
  }
  const relations = groups.map(({ columnCount, paths }) => widened(parquetRelation(paths), columnCount, columns));
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
  parts: readonly Pick<PartSource, 'path' | 'rows' | 'columnCount'>[],
  columns: readonly Column[],
  names: { readonly own: readonly string[]; readonly number: string },
): string | undefined {
  if (names.own.some((name) => asciiLower(name) === rowNumberColumn)) return undefined;
  let start = 0;
  const relations = parts.map(({ path, rows, columnCount }) => {
    const number = `${rowNumberColumn} + ${start} AS ${sqlName(names.number)}`;
    start += rows;
    return `SELECT ${['*', ...addedColumns(columnCount, columns), number].join(', ')} FROM ${parquetRelation([path])}`;
  });
  return relations.length === 0 ? undefined : withoutPruning(`(${relations.join(' UNION ALL ')})`, parts);
}

/** All rows, with one more column behind the others: the number of the row, from `firstRow` on. */
export function numberedParts(
  parts: readonly PartSource[],
  columns: readonly Column[],
  number: { readonly name: string; readonly firstRow?: number },
): string {
  return withoutPruning(numbered(parts, columns, number), parts);
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
    const all = parquetRelation(parts.map(({ path }) => path));
    return `(SELECT *, ${first} + ${rowNumberColumn} AS ${sqlName(name)} FROM ${all})`;
  }
  const relations = parts.map(({ path, columnCount }, index) => {
    // Numbering them as they come takes more time: one thread reads them.
    const number = isHidden(rowNumberColumn, columns) ? 'row_number() OVER () - 1' : rowNumberColumn;
    const items = ['*', ...addedColumns(columnCount, columns), `${firstRows[index]} + ${number} AS ${sqlName(name)}`];
    return `(SELECT ${items.join(', ')} FROM ${parquetRelation([path])})`;
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
  const relation = parquetRelation([part.path]);
  const isWhole = from === 0 && to === part.rows;
  const rows = isHidden(rowNumberColumn, columns)
    ? `${relation} LIMIT ${to - from} OFFSET ${from}`
    : `${relation} WHERE ${rowNumberColumn} BETWEEN ${from} AND ${to - 1}`;
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
    const relation = withoutPruning(rangeRelation(each, columns), [each.part]);
    return `(SELECT * FROM ${selection(relation, select)})`;
  });
  return rows.length === 0 ? `(SELECT * FROM ${selection(all, select)} LIMIT 0)` : `(${rows.join(' UNION ALL ')})`;
}
