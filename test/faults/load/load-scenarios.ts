import type { Scenario } from '../harness/scenario.ts';
import { descriptors } from './descriptors.ts';
import { fairness } from './fairness.ts';
import { fatalMistakes } from './fatal-mistakes.ts';
import { hungStatements } from './hung-statements.ts';
import { leavers } from './leavers.ts';
import { overload } from './overload.ts';
import { slowReaders } from './slow-readers.ts';
import { soak } from './soak.ts';
import { stopUnderLoad } from './stop-under-load.ts';
import { tenantAttacks } from './tenant-attacks.ts';
import { workerDeaths } from './worker-deaths.ts';

export const loadScenarios: readonly Scenario[] = [
  overload,
  slowReaders,
  leavers,
  hungStatements,
  fairness,
  tenantAttacks,
  stopUnderLoad,
  fatalMistakes,
  soak,
  descriptors,
  workerDeaths,
];
