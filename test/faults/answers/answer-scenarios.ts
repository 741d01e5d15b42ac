import type { Scenario } from '../harness/scenario.ts';
import { rightAnswers } from './right-answers.ts';

export const answerScenarios: readonly Scenario[] = [rightAnswers];
