import type { Scenario } from '../harness/scenario.ts';
import { killAnytime } from './kill-anytime.ts';
import { orderOfSystemCalls } from './order-of-system-calls.ts';
import { powerLoss } from './power-loss.ts';

export const durabilityScenarios: readonly Scenario[] = [killAnytime, orderOfSystemCalls, powerLoss];
