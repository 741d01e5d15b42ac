import { accessScenarios } from './access/access-scenarios.ts';
import { answerScenarios } from './answers/answer-scenarios.ts';
import { appendScenarios } from './appends/append-scenarios.ts';
import { diskScenarios } from './disk/disk-scenarios.ts';
import { durabilityScenarios } from './durability/durability-scenarios.ts';
import { grpcScenarios } from './grpc/grpc-scenarios.ts';
import type { Scenario } from './harness/scenario.ts';
import { httpScenarios } from './http/http-scenarios.ts';
import { loadScenarios } from './load/load-scenarios.ts';
import { sharedScenarios } from './shared/shared-scenarios.ts';
import { sqlScenarios } from './sql/sql-scenarios.ts';
import { upstreamScenarios } from './upstream/upstream-scenarios.ts';

/** Everything that `npm run torture` runs. */
export const scenarios: readonly Scenario[] = [
  ...durabilityScenarios,
  ...diskScenarios,
  ...sharedScenarios,
  ...appendScenarios,
  ...answerScenarios,
  ...httpScenarios,
  ...grpcScenarios,
  ...loadScenarios,
  ...sqlScenarios,
  ...upstreamScenarios,
  ...accessScenarios,
];
