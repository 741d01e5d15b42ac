import { durabilityScenarios } from './durability/durability-scenarios.ts';
import { testScenarios } from './harness/test-scenarios.ts';

await testScenarios('what was acknowledged stays', durabilityScenarios);
