import { leftOutWithoutMount, leftOutWithoutStrace } from '../../support/left-out.ts';
import { needed } from '../../support/missing.ts';
import { questdbUnavailable } from '../../support/questdb-unavailable.ts';
import { foreignWriters } from '../answers/foreign-files.ts';
import type { Need, Scenario } from './scenario.ts';

const isLeftOut: Readonly<Record<Need, () => boolean | Promise<boolean>>> = {
  mount: leftOutWithoutMount,
  strace: leftOutWithoutStrace,
  questdb: async () => (await questdbUnavailable()) !== undefined,
  python: async () => (await needed('Parquet from outside', foreignWriters)) === undefined,
};

/** Whether a scenario cannot run here, which is then said in one line. Never in CI. */
export async function isLeftOutHere({ needs = [] }: Scenario): Promise<boolean> {
  for (const need of needs) if (await isLeftOut[need]()) return true;
  return false;
}
