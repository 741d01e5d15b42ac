import type { SqlAnswer } from './engine-door.ts';

/**
 * Where two answers differ, undefined if they agree: the same rows in the same order, every cell equal. Only what one
 * engine has as a double may differ, as sums of doubles do by their order; and by one unit of the last digit where the
 * other has a decimal, as for averages and quotients of decimals.
 */
export function answerDifference(expected: SqlAnswer, found: SqlAnswer): string | undefined {
  const names = ({ columns }: SqlAnswer): string => columns.map(({ name }) => name).join();
  if (names(expected) !== names(found)) return `columns ${names(found)}, not ${names(expected)}`;
  if (expected.count !== found.count) return `${found.count} rows, not ${expected.count}`;
  for (const [at, row] of expected.dataset.entries()) {
    const theirs = found.dataset[at] ?? [];
    const differs = row.findIndex(
      (cell, column) => !isSame(cell, theirs[column], toleranceOf(expected, found, column)),
    );
    if (differs >= 0) return `row ${at + 1} is ${JSON.stringify(theirs)}, not ${JSON.stringify(row)}`;
  }
  return undefined;
}

function toleranceOf(expected: SqlAnswer, found: SqlAnswer, column: number): number {
  const types = [expected, found].map(({ columns }) => columns[column]?.type ?? '');
  if (!types.includes('DOUBLE')) return 0;
  const scale = types.map((type) => /^DECIMAL\(\d+,(\d+)\)$/.exec(type)?.[1]).find((text) => text !== undefined);
  return scale === undefined ? Number.MIN_VALUE : 10 ** -Number(scale);
}

/** `tolerance` 0: exact, however many digits there are. */
function isSame(cell: unknown, other: unknown, tolerance: number): boolean {
  if (canonical(cell) === canonical(other)) return true;
  if (tolerance === 0 || cell === null || other === null) return false;
  const [a, b] = [Number(cell), Number(other)];
  return Math.abs(a - b) <= Math.max(tolerance, 1e-9 * Math.abs(a));
}

/** The same number may have more digits of its scale in one type than in another. */
function canonical(cell: unknown): string {
  return /^-?\d+\.\d+$/.test(String(cell)) ? String(cell).replace(/\.?0+$/, '') : String(cell);
}
