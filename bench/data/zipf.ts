import { seededRandom } from './random-pages.ts';

/** Ranks from 0, each drawn with a chance that falls as 1 / (rank + 1): the same list for the same seed. */
export function zipfRanks(seed: number, count: number, ranks: number): number[] {
  const random = seededRandom(seed);
  const sums: number[] = [];
  for (let rank = 0; rank < ranks; rank++) sums.push((sums[rank - 1] ?? 0) + 1 / (rank + 1));
  const total = sums.at(-1) ?? 0;
  return Array.from({ length: count }, () => firstAbove(sums, random() * total));
}

/** Where the first of the rising values is that is larger. */
function firstAbove(values: readonly number[], limit: number): number {
  let from = 0;
  let to = values.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((values[middle] ?? 0) > limit) to = middle;
    else from = middle + 1;
  }
  return from;
}
