import type { JumpReading } from '../harness/console-readings.ts';
import { type MeasuredPage, open, quantile, slowDown } from './measured-page.ts';

/** Goes to rows of a frame whose column `id` is the number of the row, one after another, as links do. */
export async function measureJumps(
  measured: MeasuredPage & { readonly handle: string; readonly rows: readonly number[] },
): Promise<JumpReading> {
  const { page, handle, rows } = measured;
  const fragment = `#/frames/${handle}?columns=id,timestamp,symbol,side,price,amount`;
  await open(measured, fragment);
  await page.getByRole('grid').getByRole('rowheader', { name: '1', exact: true }).waitFor();
  await slowDown(measured);
  const jumps = await page.evaluate(
    async ({ start, asked }) => {
      const jump = async (row: number): Promise<{ ms: number; isRight: boolean }> => {
        const from = performance.now();
        location.hash = `${start}&row=${row}`;
        for (;;) {
          await new Promise(requestAnimationFrame);
          const element = document.querySelector(`[role=grid] [role=row][aria-rowindex="${row + 1}"]`);
          const ms = performance.now() - from;
          if (element === null || element.getAttribute('aria-busy') === 'true') {
            if (ms < 10_000) continue;
            return { ms, isRight: false };
          }
          const id = element.querySelector('[role=gridcell]')?.textContent?.replaceAll(',', '');
          const { top, bottom } = element.getBoundingClientRect();
          const box = document.querySelector('[role=grid]')?.getBoundingClientRect();
          const isSeen = box !== undefined && top >= box.top && bottom <= box.bottom;
          return { ms, isRight: id === String(row - 1) && isSeen };
        }
      };
      const done = [];
      for (const row of asked) done.push(await jump(row));
      return done;
    },
    { start: fragment, asked: rows },
  );
  const times = jumps.map(({ ms }) => ms);
  return {
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    jumps: jumps.length,
    wrong: jumps.filter(({ isRight }) => !isRight).length,
  };
}
