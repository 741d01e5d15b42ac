import type { Scenario } from '../harness/scenario.ts';
import { descriptors } from './descriptors.ts';
import { fairness } from './fairness.ts';
import { fatalMistakes } from './fatal-mistakes.ts';
import { hungStatements } from './hung-statements.ts';
import { leavers } from './leavers.ts';
import { stopUnderLoad } from './stop-under-load.ts';
import { workerDeaths } from './worker-deaths.ts';

export const loadScenarios: readonly Scenario[] = [
  leavers,
  hungStatements,
  fairness,
  stopUnderLoad,
  fatalMistakes,
  descriptors,
  workerDeaths,
];
