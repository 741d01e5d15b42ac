import type { Connection } from '@framehold/duckdb';
import { saysNumber, type TextKind, valueOfKind, widerKinds } from './text-kind.ts';

/** A column of uncertain kind. */
export interface UncertainColumn {
  readonly text: string;
  /** The kind of some of its values. */
  readonly kind: TextKind | 'text' | undefined;
}

/** Detects the kinds of columns from all rows. */
export async function surveyedKinds(
  connection: Connection,
  columns: readonly UncertainColumn[],
  from: string,
  where: string,
): Promise<(TextKind | 'text' | undefined)[]> {
  const items = columns.flatMap(({ text, kind }, index) => [
    ...widerKinds(kind).map(
      (wider) => `bool_and(${text} IS NULL OR (${valueOfKind(wider, text, false)}) IS NOT NULL) AS ${wider}${index}`,
    ),
    ...(kind === undefined
      ? [`bool_or(${saysNumber(text)}) AS number${index}`, `count(${text}) > 0 AS any${index}`]
      : []),
  ]);
  if (items.length === 0) return columns.map(({ kind }) => kind);
  const [row = {}] = await connection.rows<Record<string, boolean | null>>(
    `SELECT ${items.join(', ')} FROM ${from} ${where}`,
  );
  return columns.map(({ kind }, index) => {
    if (kind === undefined && row[`any${index}`] !== true) return undefined;
    const fitting = widerKinds(kind).find((wider) => row[`${wider}${index}`] === true);
    if (fitting === 'double' && kind === undefined && row[`number${index}`] !== true) return 'text';
    return fitting ?? 'text';
  });
}
