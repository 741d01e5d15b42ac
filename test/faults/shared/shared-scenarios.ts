import type { Scenario } from '../harness/scenario.ts';
import { changedTogether } from './changed-together.ts';
import { frozenWriter } from './frozen-writer.ts';
import { manyServers } from './many-servers.ts';

export const sharedScenarios: readonly Scenario[] = [manyServers, frozenWriter, changedTogether];
