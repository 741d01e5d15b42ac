import { testScenarios } from './harness/test-scenarios.ts';
import { loadScenarios } from './load/load-scenarios.ts';

await testScenarios('load, overload and the end of processes', loadScenarios);
