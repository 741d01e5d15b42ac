import type { Scenario } from '../harness/scenario.ts';
import { http2Abuse } from './http2-abuse.ts';
import { mutatedCalls } from './mutated-calls.ts';

export const grpcScenarios: readonly Scenario[] = [mutatedCalls, http2Abuse];
