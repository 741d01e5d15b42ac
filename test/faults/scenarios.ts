import { killAnytime } from './durability/kill-anytime.ts';
import type { Scenario } from './harness/scenario.ts';

/** Everything that `npm run torture` runs. */
export const scenarios: readonly Scenario[] = [killAnytime];
