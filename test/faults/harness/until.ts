import { setTimeout as delay } from 'node:timers/promises';
import { promised } from './scenario.ts';

/** Resolves, with the milliseconds that it took, as soon as the condition holds; the promise is broken where it is not in time. */
export async function until(
  what: string,
  withinMs: number,
  condition: () => boolean | Promise<boolean>,
  found?: () => unknown,
): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const holds = await condition();
    const elapsedMs = performance.now() - startedAt;
    promised(elapsedMs < withinMs, `within ${withinMs} ms ${what}`, found?.() ?? `${Math.round(elapsedMs)} ms`);
    if (holds) return elapsedMs;
    await delay(10);
  }
}
