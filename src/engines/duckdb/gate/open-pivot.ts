import { isWord } from './token-cursor.ts';
import type { Token } from './tokenizer.ts';

/** A PIVOT statement that leaves it to DuckDB to find the values that become columns. */
export interface OpenPivot {
  /** WITH … before it, or nothing. */
  readonly head: string;
  /** What stands between PIVOT and ON. */
  readonly source: string;
  /** What is pivoted on without a list of values, and where the list belongs. */
  readonly columns: readonly { readonly expression: string; readonly end: number }[];
}

/** Words that end the list behind ON. */
const clauses = ['using', 'group', 'order', 'limit', 'offset'];

/**
 * Finds [WITH …] PIVOT source ON expression, … without IN. DuckDB makes two statements of it, so that it can neither
 * be serialized nor prepared; only the statement itself may be one, not a part of it.
 */
export function openPivot(sql: string, tokens: readonly Token[]): OpenPivot | undefined {
  const depths = depthsOf(tokens);
  const isTop = (index: number, ...words: string[]): boolean =>
    depths[index] === 0 && words.some((word) => isWord(tokens[index], word));
  const pivot = tokens.findIndex((_, index) => isTop(index, 'pivot', 'pivot_wider'));
  if (pivot < 0 || (pivot > 0 && !isWord(tokens[0], 'with'))) return undefined;
  // A join in the source has an ON too, and perhaps a USING: the last ON is the pivot's.
  const on = tokens.findLastIndex((_, index) => index > pivot && isTop(index, 'on'));
  if (on < 0) return undefined;
  const behind = tokens.findIndex((_, index) => index > on && isTop(index, ...clauses));
  const end = behind < 0 ? tokens.length : behind;

  const text = (from: number, to: number): string => sql.slice(tokens[from]?.start, tokens[to - 1]?.end);
  const columns: { expression: string; end: number }[] = [];
  for (let from = on + 1; from < end; ) {
    const comma = tokens.findIndex(
      (token, index) => index > from && index < end && depths[index] === 0 && token.text === ',',
    );
    const to = comma < 0 ? end : comma;
    const listed = tokens.slice(from, to).some((_, index) => isTop(from + index, 'in'));
    if (!listed) columns.push({ expression: text(from, to), end: tokens[to - 1]?.end ?? 0 });
    from = to + 1;
  }
  if (columns.length === 0) return undefined;
  return { head: sql.slice(0, tokens[pivot]?.start), source: text(pivot + 1, on), columns };
}

/** The statement with these lists of values. */
export function withValues(sql: string, pivot: OpenPivot, lists: readonly (readonly string[])[]): string {
  let closed = '';
  let at = 0;
  for (const [index, { end }] of pivot.columns.entries()) {
    closed += `${sql.slice(at, end)} IN (${(lists[index] ?? []).join(', ')})`;
    at = end;
  }
  return closed + sql.slice(at);
}

/** The query for the values of a column that is pivoted on. */
export function valuesQuery({ head, source }: OpenPivot, expression: string): string {
  // A line comment in the caller's text must not reach what is put behind it.
  const value = `(\n${expression}\n)`;
  const rows = `(SELECT DISTINCT ${value} AS value FROM ${source}\n)`;
  return `${head}SELECT value::VARCHAR AS value FROM ${rows} WHERE value IS NOT NULL ORDER BY ALL`;
}

function depthsOf(tokens: readonly Token[]): number[] {
  let depth = 0;
  return tokens.map(({ kind, text }) => {
    if (kind !== 'mark') return depth;
    if (/[([{]/.test(text)) return depth++;
    if (/[)\]}]/.test(text)) return --depth;
    return depth;
  });
}
