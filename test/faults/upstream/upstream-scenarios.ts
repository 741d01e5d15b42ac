import type { Scenario } from '../harness/scenario.ts';
import { boundlessAnswers } from './boundless-answers.ts';
import { keptSecrets } from './kept-secrets.ts';
import { lyingUpstream } from './lying-upstream.ts';
import { manyQueries } from './many-queries.ts';
import { noConnection } from './no-connection.ts';
import { realQuestDb } from './real-questdb.ts';
import { sentOnce } from './sent-once.ts';

export const upstreamScenarios: readonly Scenario[] = [
  realQuestDb,
  lyingUpstream,
  keptSecrets,
  manyQueries,
  sentOnce,
  noConnection,
  boundlessAnswers,
];
