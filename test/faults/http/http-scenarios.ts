import type { Scenario } from '../harness/scenario.ts';
import { hostileParameters } from './hostile-parameters.ts';
import { malformedHttp } from './malformed-http.ts';
import { oversizedRequests } from './oversized-requests.ts';

export const httpScenarios: readonly Scenario[] = [malformedHttp, oversizedRequests, hostileParameters];
