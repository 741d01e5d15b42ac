import { testScenarios } from './harness/test-scenarios.ts';
import { sharedScenarios } from './shared/shared-scenarios.ts';

await testScenarios('several servers share a directory', sharedScenarios);
