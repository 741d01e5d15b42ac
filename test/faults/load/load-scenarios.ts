import type { Scenario } from '../harness/scenario.ts';
import { descriptors } from './descriptors.ts';

export const loadScenarios: readonly Scenario[] = [descriptors];
