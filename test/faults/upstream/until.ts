import { setTimeout as delay } from 'node:timers/promises';
import { promised } from '../harness/scenario.ts';

/** Waits for a condition, and fails the trial where it does not come about in time. */
export async function until(what: string, withinMs: number, isSo: () => boolean | Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    if (await isSo()) return performance.now() - startedAt;
    promised(performance.now() - startedAt < withinMs, `${what} within ${withinMs} ms`);
    await delay(5);
  }
}
