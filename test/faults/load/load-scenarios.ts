import type { Scenario } from '../harness/scenario.ts';
import { descriptors } from './descriptors.ts';
import { fatalMistakes } from './fatal-mistakes.ts';
import { stopUnderLoad } from './stop-under-load.ts';
import { workerDeaths } from './worker-deaths.ts';

export const loadScenarios: readonly Scenario[] = [stopUnderLoad, fatalMistakes, descriptors, workerDeaths];
