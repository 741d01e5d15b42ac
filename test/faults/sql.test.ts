import { testScenarios } from './harness/test-scenarios.ts';
import { sqlScenarios } from './sql/sql-scenarios.ts';

await testScenarios('SQL from strangers', sqlScenarios);
