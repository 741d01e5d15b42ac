import type { Scenario } from '../harness/scenario.ts';
import { hostileSql } from './hostile-sql.ts';
import { tableRaces } from './table-races.ts';

export const sqlScenarios: readonly Scenario[] = [hostileSql, tableRaces];
