import type { Scenario } from '../harness/scenario.ts';
import { compressedBombs } from './compressed-bombs.ts';
import { hostileParameters } from './hostile-parameters.ts';
import { leavingClients } from './leaving-clients.ts';
import { malformedHttp } from './malformed-http.ts';
import { mutatedLines } from './mutated-lines.ts';
import { oversizedRequests } from './oversized-requests.ts';
import { slowClients } from './slow-clients.ts';
import { smuggledRequests } from './smuggled-requests.ts';

export const httpScenarios: readonly Scenario[] = [
  malformedHttp,
  smuggledRequests,
  oversizedRequests,
  slowClients,
  compressedBombs,
  hostileParameters,
  mutatedLines,
  leavingClients,
];
