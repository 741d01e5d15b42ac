import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../../src/core/async/cleanup.ts';
import { makeTrades } from '../data/large-frame.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { measureInBrowser } from '../harness/browser-client.ts';
import type { JumpReading, PlotReading, ScrollReading } from '../harness/console-readings.ts';
import { urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { watch } from '../harness/process-tree.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startFramehold, untilReadable } from '../rivals/framehold.ts';

const handle = 'trades_shown';
const mostNodes = 3000;
const mostWorkMs = 6;

/** Slowdown of the processor for the page, and the bar for it. */
const scrollBars = { 'console, CPU as it is': [1, 17], 'console, CPU 6 times slower': [6, 34] } as const;

export const consoleScroll: BenchCase = {
  name: 'console-scroll',
  title: 'time between two frames of the browser while the grid is scrolled through ten million rows, 95th percentile',
  unit: 'ms',
  better: 'lower',
  rounds: 3,
  bars: Object.entries(scrollBars).map(([of, [, atMost]]) => ({ kind: 'ceiling', of, atMost })),

  async prepare(lab, cleanup) {
    const { server, rows } = await startLarge(lab, cleanup);
    const scroll = (slowdown: number, seconds: number): Promise<ScrollReading> =>
      measureInBrowser('scroll', { url: urlOf(server, ''), slowdown, handle, row: Math.floor(rows / 2), seconds });
    const contenders = Object.entries(scrollBars).map(
      ([name, [slowdown]]): Contender => ({
        name,
        async measure() {
          const { result, usage } = await watch(server.pid, () => scroll(slowdown, lab.quick ? 1 : 5));
          const { p50Ms, p95Ms, workMs, frames, nodes } = result;
          return { value: p95Ms, usage, details: { p50Ms, workMs, frames, nodes } };
        },
      }),
    );
    return {
      contenders,
      async verify() {
        const { wrongRows, nodes, workMs } = await scroll(1, 1);
        if (wrongRows > 0) throw new Error(`${wrongRows} rows show the cells of others`);
        if (nodes > mostNodes) throw new Error(`${nodes} nodes are in the document`);
        if (workMs > mostWorkMs) lab.note(`the main thread works ${workMs.toFixed(1)} ms a frame, of ${mostWorkMs}`);
        return `every row that is shown is the one that it says; ${nodes} nodes are in the document`;
      },
    };
  },
};

export const consoleJump: BenchCase = {
  name: 'console-jump',
  title: 'time from a row number to its cells on the screen, in a frame of ten million rows, 95th percentile',
  unit: 'ms',
  better: 'lower',
  rounds: 3,
  bars: [{ kind: 'ceiling', of: 'console', atMost: 150 }],

  async prepare(lab, cleanup) {
    const { server, rows } = await startLarge(lab, cleanup);
    const jumpTo = (asked: readonly number[]): Promise<JumpReading> =>
      measureInBrowser('jumps', { url: urlOf(server, ''), slowdown: 1, handle, rows: asked });
    return {
      contenders: [
        {
          name: 'console',
          async measure() {
            const { result, usage } = await watch(server.pid, () => jumpTo(randomRows(rows, lab.quick ? 20 : 200)));
            const { p50Ms, p95Ms, jumps } = result;
            return { value: p95Ms, usage, details: { p50Ms, jumps } };
          },
        },
      ],
      async verify() {
        const { jumps, wrong } = await jumpTo([1, rows, ...randomRows(rows, lab.quick ? 20 : 1000)]);
        if (wrong > 0) throw new Error(`${wrong} of ${jumps} jumps did not show the row that was asked for`);
        return `the first, the last and ${jumps - 2} other rows are shown with their own cells`;
      },
    };
  },
};

const plotBars = { 'whole frame': 1500, 'zoom to a hundredth': 200 } as const;

export const consolePlot: BenchCase = {
  name: 'console-plot',
  title: 'time from a link to the line of ten million rows, and from a zoom to the line of a hundredth of them',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: Object.entries(plotBars).map(([of, atMost]) => ({ kind: 'ceiling', of, atMost })),

  async prepare(lab, cleanup) {
    const { server, rows } = await startLarge(lab, cleanup);
    const plot = (): Promise<PlotReading> => measureInBrowser('plot', { url: urlOf(server, ''), slowdown: 1, handle });
    const contender = (name: keyof typeof plotBars, of: 'drawnMs' | 'zoomMs'): Contender => ({
      name,
      async measure() {
        const { result, usage } = await watch(server.pid, plot);
        return { value: result[of], usage, details: {} };
      },
    });
    return {
      contenders: [contender('whole frame', 'drawnMs'), contender('zoom to a hundredth', 'zoomMs')],
      async verify() {
        const { shown, zoomed } = await plot();
        const all = rows.toLocaleString('en-US');
        if (!shown.endsWith(`of ${all} points`)) throw new Error(`the plot says ${shown}, and there are ${all}`);
        return `it shows ${shown}, and ${zoomed} of its hundredth`;
      },
    };
  },
};

function randomRows(rows: number, count: number): readonly number[] {
  return Array.from({ length: count }, () => 1 + Math.floor(Math.random() * rows));
}

async function startLarge(lab: Lab, cleanup: Cleanup): Promise<{ server: HttpServer; rows: number }> {
  const rows = lab.quick ? 1_000_000 : 10_000_000;
  const dataDir = join(lab.folder, 'console');
  await mkdir(dataDir, { recursive: true });
  await makeTrades(dataDir, handle, rows);
  const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
  await untilReadable(server, handle);
  return { server, rows };
}
