import { accessScenarios } from './access/access-scenarios.ts';
import { testScenarios } from './harness/test-scenarios.ts';

await testScenarios('access', accessScenarios);
