/** `; did you mean X?` for the candidate nearest to the typed text, or nothing if none is near. */
export function didYouMean(typed: string, candidates: Iterable<string>): string {
  const nearest = nearestTo(typed, candidates);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** The same with the name in quotes, as SQL has names. */
export function didYouMeanName(typed: string, candidates: Iterable<string>): string {
  const nearest = nearestTo(typed, candidates);
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
}

const longestName = 200;
/** Letters that are compared with letters: some milliseconds. Candidates behind them are not looked at. */
const mostWork = 250_000;

export function nearestTo(typed: string, candidates: Iterable<string>): string | undefined {
  // The work grows with both lengths, and longer texts are no typing errors.
  if (typed.length > longestName) return undefined;
  const word = typed.toLowerCase();
  let work = 0;
  let nearest: string | undefined;
  let nearestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= nearestDistance) continue;
    work += word.length * candidate.length;
    if (work > mostWork) break;
    const distance = editDistance(word, candidate.toLowerCase());
    if (distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Letters to insert, delete or replace, or neighbours to swap. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : replaced;
      row.push(Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(a.length, b.length);
}
