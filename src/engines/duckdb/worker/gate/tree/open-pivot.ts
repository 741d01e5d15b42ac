import type { TextEdit } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { depthsOf } from '../text/clauses.ts';

/** Words that end the list behind ON. */
const clauses = ['using', 'group', 'order', 'limit', 'offset'];
/** Words that end a query. */
const ends = ['union', 'except', 'intersect', ...clauses.slice(2)];

/**
 * Finds each PIVOT source ON expression, … without IN, which leaves it to DuckDB to find the values that become columns: gives a
 * list of one value for each of them. DuckDB makes several statements of it, so that it can neither be serialized nor prepared.
 */
export function openPivots(tokens: readonly Token[]): readonly TextEdit[] {
  const depths = depthsOf(tokens);
  const places = tokens.flatMap((token, index) =>
    token.word === 'pivot' || token.word === 'pivot_wider' ? openLists(tokens, depths, index) : [],
  );
  return places.sort((a, b) => a - b).map((at) => ({ at, text: ' IN (0)' }));
}

/** The places for the lists of values of the PIVOT at this token. */
function openLists(tokens: readonly Token[], depths: readonly number[], pivot: number): number[] {
  const depth = depths[pivot] ?? 0;
  const isHere = (index: number, ...words: string[]): boolean =>
    depths[index] === depth && words.includes(tokens[index]?.word ?? '');
  const first = (from: number, is: (index: number) => boolean): number => {
    const found = tokens.findIndex((_, index) => index >= from && is(index));
    return found < 0 ? tokens.length : found;
  };
  // FROM table PIVOT (… FOR …) has its values always.
  const close = first(pivot + 2, (index) => (depths[index] ?? 0) <= depth);
  const isSuffix = tokens
    .slice(pivot, close)
    .some((token, index) => token.word === 'for' && depths[pivot + index] === depth + 1);
  if (isSuffix && tokens[pivot + 1]?.text === '(') return [];
  // Behind it the parenthesis around it closes.
  const over = first(pivot + 1, (index) => (depths[index] ?? 0) < depth);
  const end = Math.min(
    over,
    first(pivot + 1, (index) => isHere(index, ...ends)),
  );
  // A join in the source has an ON too, and perhaps a USING: the last ON is the pivot's.
  const on = tokens.findLastIndex((_, index) => index > pivot && index < end && isHere(index, 'on'));
  if (on < 0) return [];
  const behind = Math.min(
    end,
    first(on, (index) => isHere(index, ...clauses)),
  );
  const places: number[] = [];
  for (let from = on + 1; from < behind; ) {
    const comma = first(from + 1, (index) => depths[index] === depth && tokens[index]?.text === ',');
    const to = Math.min(comma, behind);
    const listed = tokens.slice(from, to).some((_, index) => isHere(from + index, 'in'));
    if (!listed) places.push(tokens[to - 1]?.end ?? 0);
    from = to + 1;
  }
  return places;
}
