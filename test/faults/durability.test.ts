import { killAnytime } from './durability/kill-anytime.ts';
import { testScenarios } from './harness/test-scenarios.ts';

await testScenarios('what was acknowledged stays', [killAnytime]);
