import { describe, expect, test } from 'vitest';
import { isLeftOutHere } from './needs.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';

/** The same in every run, so that a failure is one of the change and not of luck. `npm run torture` draws others. */
const ciSeed = 20261115;

/** Tests of the size of CI, one for each scenario. */
export async function testScenarios(title: string, all: readonly Scenario[]): Promise<void> {
  const scenarios = all.filter(({ rounds }) => rounds.ci > 0);
  const leftOut = await Promise.all(scenarios.map(isLeftOutHere));
  describe(title, () => {
    for (const [index, scenario] of scenarios.entries()) {
      const { id, promise, rounds, secondsPerRound } = scenario;
      const timeout = 120_000 + rounds.ci * secondsPerRound * 1000;
      test.skipIf(leftOut[index])(`${id}: ${promise}`, { timeout }, async () => {
        const figures = await runScenario(scenario, { size: 'ci', seed: ciSeed });
        expect(Object.keys(figures).length).toBeGreaterThan(0);
      });
    }
  });
}
