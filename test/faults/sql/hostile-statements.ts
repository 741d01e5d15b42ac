import { fileAccess } from './corpus/file-access.ts';
import { nesting } from './corpus/nesting.ts';
import { memoryBombs, timeBombs } from './corpus/resources.ts';
import { serverState } from './corpus/server-state.ts';
import { otherStatements } from './corpus/statements.ts';
import { strangeValues } from './corpus/values.ts';

const topics = { fileAccess, serverState, otherStatements, strangeValues, nesting, memoryBombs, timeBombs };

export interface HostileStatement {
  readonly topic: keyof typeof topics;
  readonly sql: string;
}

/** Every statement of the corpus, once. Names that begin with @ stand for what is made for the trial. */
export const hostileStatements: readonly HostileStatement[] = Object.entries(topics).flatMap(([topic, list]) =>
  [...new Set(list)].map((sql) => ({ topic: topic as HostileStatement['topic'], sql })),
);
