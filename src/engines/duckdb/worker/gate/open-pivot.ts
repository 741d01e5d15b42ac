import { isWord } from './token-cursor.ts';
import type { Token } from './tokenizer.ts';

/** Words that end the list behind ON. */
const clauses = ['using', 'group', 'order', 'limit', 'offset'];

/**
 * Finds [WITH …] PIVOT source ON expression, … without IN, which leaves it to DuckDB to find the values that become
 * columns: gives where the lists of values belong. DuckDB makes two statements of it, so that it can neither be
 * serialized nor prepared; only the statement itself may be one, not a part of it.
 */
export function openPivot(tokens: readonly Token[]): readonly number[] | undefined {
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

  const places: number[] = [];
  for (let from = on + 1; from < end; ) {
    const comma = tokens.findIndex(
      (token, index) => index > from && index < end && depths[index] === 0 && token.text === ',',
    );
    const to = comma < 0 ? end : comma;
    const listed = tokens.slice(from, to).some((_, index) => isTop(from + index, 'in'));
    if (!listed) places.push(tokens[to - 1]?.end ?? 0);
    from = to + 1;
  }
  return places.length === 0 ? undefined : places;
}

const oneValue = ' IN (0)';

/** Where an offset in the statement with values stands in the one without. */
export function placeWithoutValues(offset: number, places: readonly number[]): number {
  let added = 0;
  for (const place of places) {
    if (offset < place + added) break;
    if (offset < place + added + oneValue.length) return place;
    added += oneValue.length;
  }
  return offset - added;
}

/** The statement with a list of one value at each of these places. */
export function withValues(sql: string, places: readonly number[]): string {
  let closed = '';
  let at = 0;
  for (const place of places) {
    closed += `${sql.slice(at, place)}${oneValue}`;
    at = place;
  }
  return closed + sql.slice(at);
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
