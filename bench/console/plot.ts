import type { PlotReading } from '../harness/console-readings.ts';
import { type MeasuredPage, open, slowDown } from './measured-page.ts';

/** Opens the plot of a frame from its details, and zooms into a hundredth of it. */
export async function measurePlot(measured: MeasuredPage & { readonly handle: string }): Promise<PlotReading> {
  const { page, handle } = measured;
  await open(measured, `#/frames/${handle}?tab=details`);
  await page.getByRole('tab', { name: 'Plot' }).waitFor();
  await slowDown(measured);
  const settings = encodeURIComponent(JSON.stringify({ kind: 'line', x: 'timestamp', y: ['price'], series: '' }));
  const drawnMs = await page.evaluate(
    async ({ fragment }) => {
      const from = performance.now();
      location.hash = fragment;
      for (;;) {
        await new Promise(requestAnimationFrame);
        const panel = document.querySelector('.plot-panel[aria-busy=false]');
        if (panel?.querySelector('canvas') != null) return performance.now() - from;
      }
    },
    { fragment: `#/frames/${handle}?tab=plot&plot=${settings}` },
  );
  const status = page.locator('.plot-shown');
  const shown = (await status.textContent()) ?? '';
  const box = await page.locator('.u-over').boundingBox();
  if (box === null) throw new Error('the plot is not to be seen');
  await page.evaluate(() => {
    const done = new Promise<number>((resolve) => {
      addEventListener('mouseup', () => {
        const from = performance.now();
        const before = document.querySelector('.plot-shown')?.textContent;
        const look = (): void => {
          const isNew = document.querySelector('.plot-shown')?.textContent !== before;
          const isBusy = document.querySelector('.plot-panel')?.getAttribute('aria-busy') !== 'false';
          if (isNew && !isBusy) resolve(performance.now() - from);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      });
    });
    Object.assign(globalThis, { zoomed: done });
  });
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + box.width / 100, y, { steps: 4 });
  await page.mouse.up();
  const zoomMs = await page.evaluate(() => (globalThis as unknown as { zoomed: Promise<number> }).zoomed);
  return { drawnMs, zoomMs, shown, zoomed: (await status.textContent()) ?? '' };
}
