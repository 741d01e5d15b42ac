import type { Scenario } from '../harness/scenario.ts';
import { failingLog } from './failing-log.ts';
import { handedOverAppends } from './handed-over-appends.ts';
import { killedAppends } from './killed-appends.ts';
import { powerCuts } from './power-cuts.ts';
import { retryingProducers } from './retrying-producers.ts';
import { weekOfTicks } from './week-of-ticks.ts';

/** Frames that grow. */
export const appendScenarios: readonly Scenario[] = [
  killedAppends,
  powerCuts,
  failingLog,
  handedOverAppends,
  retryingProducers,
  weekOfTicks,
];
