import { Random } from './random.ts';
import type { Figures, Scenario, Size } from './scenario.ts';

export interface RunOptions {
  readonly size: Size;
  readonly seed: number;
  readonly rounds?: number | undefined;
  readonly progress?: (text: string) => void;
}

/** Runs a scenario. Where it fails, the error says how to run exactly this again. */
export async function runScenario(
  scenario: Scenario,
  { size, seed, rounds = scenario.rounds[size], progress = () => {} }: RunOptions,
): Promise<Figures> {
  try {
    return await scenario.run({ rounds, size, random: new Random(seed), progress });
  } catch (error) {
    const replay = `npm run torture -- --only ${scenario.id} --seed ${seed} --rounds ${rounds}`;
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${scenario.id} with the seed ${seed}: ${message}\nagain: ${replay}`, { cause: error });
  }
}
