import { testScenarios } from './harness/test-scenarios.ts';
import { httpScenarios } from './http/http-scenarios.ts';

await testScenarios('the HTTP door stands whatever comes to it', httpScenarios);
