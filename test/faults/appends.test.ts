import { appendScenarios } from './appends/append-scenarios.ts';
import { testScenarios } from './harness/test-scenarios.ts';

await testScenarios('frames that grow', appendScenarios);
