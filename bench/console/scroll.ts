import type { ScrollReading } from '../harness/console-readings.ts';
import { type MeasuredPage, open, quantile, slowDown } from './measured-page.ts';

/** Scrolls a frame whose column `id` is the number of the row, by the wheel, from its middle. */
export async function measureScroll(
  measured: MeasuredPage & { readonly handle: string; readonly row: number; readonly seconds: number },
): Promise<ScrollReading> {
  const { page, devtools, handle, row, seconds } = measured;
  await open(measured, `#/frames/${handle}?row=${row}&columns=id,timestamp,symbol,side,price,amount`);
  const grid = page.getByRole('grid');
  await grid.getByRole('rowheader', { name: row.toLocaleString('en-US'), exact: true }).waitFor();
  const box = await grid.boundingBox();
  if (box === null) throw new Error('the grid is not to be seen');
  await devtools.send('Performance.enable');
  await slowDown(measured);
  await page.evaluate(() => {
    const intervals: number[] = [];
    Object.assign(globalThis, { intervals });
    let last = performance.now();
    const tick = (): void => {
      const now = performance.now();
      intervals.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const taskSeconds = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
  const before = await taskSeconds();
  const speed = 2000;
  await devtools.send('Input.synthesizeScrollGesture', {
    x: Math.round(box.x + box.width / 2),
    y: Math.round(box.y + box.height / 2),
    yDistance: -speed * seconds,
    speed,
    gestureSourceType: 'mouse',
    preventFling: true,
  });
  const after = await taskSeconds();
  const { intervals, nodes, wrongRows } = await page.evaluate(() => {
    const rows = [...document.querySelectorAll('[role=grid] [role=row]')].filter(
      (element) => element.querySelector('[role=rowheader]') !== null && element.getAttribute('aria-busy') !== 'true',
    );
    const wrong = rows.filter((element) => {
      const id = element.querySelector('[role=gridcell]')?.textContent?.replaceAll(',', '');
      return Number(id) !== Number(element.getAttribute('aria-rowindex')) - 2;
    });
    return {
      intervals: (globalThis as unknown as { intervals: number[] }).intervals,
      nodes: document.querySelectorAll('*').length,
      wrongRows: wrong.length,
    };
  });
  return {
    p50Ms: quantile(intervals, 0.5),
    p95Ms: quantile(intervals, 0.95),
    workMs: ((after - before) * 1000) / intervals.length,
    frames: intervals.length,
    nodes,
    wrongRows,
  };
}
