import { type DataType, sqlTypeName } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import type { AddedRows, ChangeCounts, ChangedRows, RowChanges } from '../../../../core/rows/frame-engine.ts';
import { hasUnnamedField } from '../../../../core/rows/type-in-frame.ts';
import { parquetRelation } from './parquet-relation.ts';
import { numberedParts } from './part-rows.ts';

/**
 * A part as it is after changes, in the order of its rows. DuckDB's joins keep no order, not even that of their left side, so
 * that the rows are sorted again: where they nearly are in order that takes a tenth of the time that writing them takes.
 */
export function changedRelation({ part, columns, firstRow, changes }: ChangedRows): string {
  const values = columns.map((_, index) => `#${index + 1} AS c${index}`);
  const numbered = numberedParts([part], columns, { name: 'number', firstRow });
  const rows = `SELECT ${[...values, `#${columns.length + 1} AS "row"`].join(', ')} FROM ${numbered}`;
  const changed = columns.map(({ type }, index) => {
    const at = changes.set.indexOf(index);
    const written = asStored(`d.v${at}`, type);
    return at < 0 ? `p.c${index}` : `CASE WHEN d."row" IS NULL THEN p.c${index} ELSE ${written} END`;
  });
  const ofPart = `"row" BETWEEN ${firstRow} AND ${firstRow + part.rows - 1}`;
  return `(SELECT ${changed.join(', ')}
    FROM (${rows}) AS p LEFT JOIN (SELECT * FROM ${changesRelation(changes)} WHERE ${ofPart}) AS d ON d."row" = p."row"
    WHERE d."action" IS DISTINCT FROM 'DELETE' ORDER BY p."row")`;
}

/** The rows that changes add, in their order. */
export function addedRelation({ columns, changes }: AddedRows): string {
  const values = columns.map(({ type }, index) => asStored(`v${changes.set.indexOf(index)}`, type));
  return `(SELECT ${values.join(', ')} FROM ${changesRelation(changes)} WHERE "action" = 'INSERT')`;
}

/** SQL has no name for a struct with a field that has none, as which a union is kept: it has that type already. */
function asStored(value: string, type: DataType): string {
  return hasUnnamedField(type) ? value : `CAST(${value} AS ${sqlTypeName(type)})`;
}

export async function countChanges(
  connection: Connection,
  { changes, firstRows }: { readonly changes: RowChanges; readonly firstRows: readonly number[] },
): Promise<ChangeCounts> {
  const relation = changesRelation(changes);
  const starts = `SELECT unnest([${firstRows.join(', ')}]::BIGINT[]) AS first, unnest(range(${firstRows.length})) AS part`;
  const counted = await connection.rows<{ part: number; changed: number; deleted: number }>(
    `SELECT part, count(*) AS changed, count(*) FILTER ("action" = 'DELETE') AS deleted
     FROM (SELECT * FROM ${relation} WHERE "row" IS NOT NULL) ASOF JOIN (${starts}) ON "row" >= first GROUP BY part`,
  );
  const [all] = await connection.rows<{ added: number; repeated: number }>(
    `SELECT count(*) FILTER ("action" = 'INSERT') AS added, count("row") - count(DISTINCT "row") AS repeated FROM ${relation}`,
  );
  const parts = firstRows.map((_, index) => {
    const { changed = 0, deleted = 0 } = counted.find(({ part }) => part === index) ?? {};
    return { changed, deleted };
  });
  return { parts, added: all?.added ?? 0, repeated: all?.repeated ?? 0 };
}

export function changesRelation({ path, set }: RowChanges): string {
  const values = set.map((_, index) => `#${index + 3} AS v${index}`);
  return `(SELECT ${['#1 AS "row"', '#2 AS "action"', ...values].join(', ')} FROM ${parquetRelation([{ path }])})`;
}
