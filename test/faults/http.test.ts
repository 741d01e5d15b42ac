import { testScenarios } from './harness/test-scenarios.ts';
import { httpScenarios } from './http/http-scenarios.ts';

await testScenarios('HTTP', httpScenarios);
