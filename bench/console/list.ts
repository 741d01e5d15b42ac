import type { ListReading } from '../harness/console-readings.ts';
import { type MeasuredPage, open, slowDown } from './measured-page.ts';

/** Opens the list of frames with an empty browser cache. */
export async function measureList(measured: MeasuredPage & { readonly frames: number }): Promise<ListReading> {
  const { page, frames } = measured;
  await slowDown(measured);
  await open(measured);
  const all = page.locator(`[role=table][aria-rowcount="${frames + 1}"]`);
  await all.waitFor();
  const times = await page.evaluate(async () => {
    const entriesOf = (type: string): Promise<PerformanceEntryList> =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries())).observe({ type, buffered: true });
        // There may be none.
        setTimeout(() => resolve([]), 1000);
      });
    const paints = await entriesOf('largest-contentful-paint');
    const tasks = await entriesOf('longtask');
    return {
      firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      firstRowsMs: paints.at(-1)?.startTime ?? Number.NaN,
      blockedMs: tasks.reduce((sum, { duration }) => sum + Math.max(0, duration - 50), 0),
    };
  });
  return { ...times, listed: Number(await all.getAttribute('aria-rowcount')) - 1 };
}
