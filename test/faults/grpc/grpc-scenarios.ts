import type { Scenario } from '../harness/scenario.ts';
import { abandonedWork } from './abandoned-work.ts';
import { http2Abuse } from './http2-abuse.ts';
import { messageBombs } from './message-bombs.ts';
import { mutatedCalls } from './mutated-calls.ts';
import { slowReaders } from './slow-readers.ts';

export const grpcScenarios: readonly Scenario[] = [mutatedCalls, http2Abuse, messageBombs, slowReaders, abandonedWork];
