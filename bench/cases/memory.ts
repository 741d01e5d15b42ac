import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchCase, Contender, Reading } from '../bench-case.ts';
import { getExecTable } from '../exec-table.ts';
import { urlOf } from '../http-get.ts';
import type { Lab } from '../lab.ts';
import { makeTrades } from '../large-frame.ts';
import { runLoad } from '../load.ts';
import { treeOf, watch } from '../process-tree.ts';
import { handlePath, startFramehold } from '../rivals/framehold.ts';
import type { HttpServer } from '../server-process.ts';

const handle = 'trades_large';
const pages = 10;
const sampleMs = 50;
const allowedMb = 500;

/** Two sizes of the cache: one that holds all that is read, and one that must let go all the time. */
const cachesMb = [1000, 200];

export const memory: BenchCase = {
  name: 'memory',
  title: 'peak memory of all processes while pages of a million rows are read from a frame of ten million',
  unit: 'MB',
  better: 'lower',
  rounds: 2,
  bars: cachesMb.map((cacheMb) => ({ kind: 'ceiling', of: nameOf(cacheMb), atMost: cacheMb + allowedMb })),

  async prepare(lab) {
    const dataDir = join(lab.folder, 'large');
    await mkdir(dataDir, { recursive: true });
    const pageRows = lab.quick ? 100_000 : 1_000_000;
    await makeTrades(dataDir, handle, pages * pageRows);
    return {
      contenders: cachesMb.map(
        (cacheMb): Contender => ({
          name: nameOf(cacheMb),
          measure: async () => {
            await using server = await startLarge(lab, dataDir, cacheMb);
            return await readAll(server, pageRows);
          },
        }),
      ),
      async verify() {
        await using server = await startLarge(lab, dataDir, 0);
        const lastPage = pagePaths(pageRows).at(-1) ?? '';
        const { columns, dataset } = await getExecTable(urlOf(server, lastPage));
        const id = columns.findIndex(({ name }) => name === 'id');
        const first = (pages - 1) * pageRows;
        if (dataset.length !== pageRows || !dataset.every((row, at) => row[id] === first + at)) {
          throw new Error('the last page does not hold the last rows');
        }
        return `the last of ${pages} pages of ${pageRows.toLocaleString('en-US')} rows holds the right ones`;
      },
    };
  },
};

function nameOf(cacheMb: number): string {
  return `framehold, cache ${cacheMb} MB`;
}

function startLarge(lab: Lab, dataDir: string, cacheMb: number): Promise<HttpServer> {
  const settings = { CACHE_SIZE: String(cacheMb / 1000) };
  return startFramehold({ dataDir, logPath: lab.frameholdLog, settings });
}

/** All pages, one after another; then the first one by four at once; then all pages by four. */
async function readAll({ host, port, pid }: HttpServer, pageRows: number): Promise<Reading> {
  const all = pagePaths(pageRows);
  const first = [handlePath(handle, String(pageRows))];
  const read = (paths: readonly string[], connections: number, requests: number) =>
    runLoad({ host, port, connections, paths, until: { requests } });
  const { usage } = await watch(
    pid,
    async () => {
      await read(all, 1, pages);
      await read(first, 4, 8);
      await read(all, 4, 2 * pages);
    },
    { everyMs: sampleMs },
  );
  const afterMb = treeOf(pid).rssBytes / 1e6;
  return { value: usage.peakRssBytes / 1e6, usage, details: { afterMb } };
}

function pagePaths(pageRows: number): string[] {
  return Array.from({ length: pages }, (_, at) => handlePath(handle, `${at * pageRows + 1},${(at + 1) * pageRows}`));
}
