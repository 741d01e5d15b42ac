/** The result of `answers` of clients/tpch.py: rows by the number of the query, as text and sorted. */
export interface TpchAnswers {
  readonly answers: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly errors: Readonly<Record<string, string>>;
}

export const tpchQueryCount = 22;

/** Where answers differ from those expected, one line a query; empty where all agree. */
export function tpchDifferences(expected: TpchAnswers, found: TpchAnswers, tolerance: number): string[] {
  const differences: string[] = [];
  for (const [query, rows] of Object.entries(expected.answers)) {
    const theirs = found.answers[query];
    const difference =
      theirs === undefined ? (found.errors[query] ?? 'no answer') : differenceOf(rows, theirs, tolerance);
    if (difference !== undefined) differences.push(`query ${query}: ${difference}`);
  }
  return differences;
}

function differenceOf(
  rows: readonly (readonly string[])[],
  theirs: readonly (readonly string[])[],
  tolerance: number,
): string | undefined {
  if (rows.length !== theirs.length) return `${theirs.length} rows, not ${rows.length}`;
  for (const [at, row] of rows.entries()) {
    const theirRow = theirs[at] ?? [];
    const isSame = row.length === theirRow.length && row.every((cell, n) => isNear(cell, theirRow[n] ?? '', tolerance));
    if (!isSame) return `row ${at + 1} is ${JSON.stringify(theirRow)}, not ${JSON.stringify(row)}`;
  }
  return undefined;
}

/** Sums of doubles depend on the order of the rows. */
function isNear(cell: string, other: string, tolerance: number): boolean {
  if (cell === other) return true;
  const [a, b] = [Number(cell), Number(other)];
  return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
}
