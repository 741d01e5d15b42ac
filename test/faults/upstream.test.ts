import { testScenarios } from './harness/test-scenarios.ts';
import { upstreamScenarios } from './upstream/upstream-scenarios.ts';

await testScenarios('the external database in trouble', upstreamScenarios);
