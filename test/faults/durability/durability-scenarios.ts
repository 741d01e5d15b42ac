import type { Scenario } from '../harness/scenario.ts';
import { alteredFrames } from './altered-frames.ts';
import { backupAnytime } from './backup-anytime.ts';
import { changedRows } from './changed-rows.ts';
import { failingCalls } from './failing-calls.ts';
import { killAnytime } from './kill-anytime.ts';
import { orderOfSystemCalls } from './order-of-system-calls.ts';
import { powerLoss } from './power-loss.ts';
import { recompressionCutOff } from './recompression-cut-off.ts';
import { sharedHandle } from './shared-handle.ts';

export const durabilityScenarios: readonly Scenario[] = [
  killAnytime,
  sharedHandle,
  changedRows,
  alteredFrames,
  orderOfSystemCalls,
  powerLoss,
  recompressionCutOff,
  failingCalls,
  backupAnytime,
];
