import type { Contender, Reading } from './bench-case.ts';

export interface Series {
  readonly who: string;
  /** One a round. */
  readonly readings: readonly Reading[];
}

/** All contenders in turn, round after round, so that disturbances of the machine affect them alike. Every other round backwards. */
export async function runRounds(contenders: readonly Contender[], rounds: number): Promise<Series[]> {
  const readings = new Map(contenders.map((contender): [Contender, Reading[]] => [contender, []]));
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? contenders : [...contenders].reverse();
    for (const contender of order) {
      await contender.beforeRound?.(round);
      readings.get(contender)?.push(await contender.measure(round));
    }
  }
  return [...readings].map(([{ name }, series]) => ({ who: name, readings: series }));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
