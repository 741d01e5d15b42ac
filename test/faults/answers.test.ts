import { answerScenarios } from './answers/answer-scenarios.ts';
import { testScenarios } from './harness/test-scenarios.ts';

await testScenarios('answers are right', answerScenarios);
