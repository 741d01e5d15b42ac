import type { Scenario } from '../harness/scenario.ts';
import { lyingUpstream } from './lying-upstream.ts';
import { manyQueries } from './many-queries.ts';

export const upstreamScenarios: readonly Scenario[] = [lyingUpstream, manyQueries];
