import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTrades } from '../data/large-frame.ts';
import type { Bar, BenchCase, Contender, Reading } from '../harness/bench-case.ts';
import { emptyDiskCache, noDiskCache } from '../harness/disk-cache.ts';
import { getExecTable } from '../harness/exec-table.ts';
import { urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { runLoad } from '../harness/load.ts';
import { treeOf, watch } from '../harness/process-tree.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { handlePath, startFramehold } from '../rivals/framehold.ts';

const handle = 'trades_large';
const pages = 10;
const sampleMs = 50;
const allowedMb = 500;

const diskCacheMb = 30;

interface Caches {
  readonly memoryMb: number;
  readonly onDisk: boolean;
}

const large: Caches = { memoryMb: 1000, onDisk: true };
const small: Caches = { memoryMb: 200, onDisk: true };
const smallAlone: Caches = { memoryMb: 200, onDisk: false };

/** One cache that holds all read rows, and one that must evict all the time: with and without a disk cache below it. */
const measured = [large, small, smallAlone];

export const memory: BenchCase = {
  name: 'memory',
  title: 'peak memory of all processes while pages of a million rows are read from a frame of ten million',
  unit: 'MB',
  better: 'lower',
  rounds: 5,
  bars: [
    ...measured.map((caches): Bar => ({ kind: 'ceiling', of: nameOf(caches), atMost: caches.memoryMb + allowedMb })),
    { kind: 'margin', of: nameOf(small), over: nameOf(smallAlone), atMost: diskCacheMb },
  ],

  async prepare(lab) {
    const dataDir = join(lab.folder, 'large');
    await mkdir(dataDir, { recursive: true });
    const pageRows = lab.quick ? 100_000 : 1_000_000;
    await makeTrades(dataDir, handle, pages * pageRows);
    return {
      contenders: measured.map(
        (caches): Contender => ({
          name: nameOf(caches),
          beforeRound: () => emptyDiskCache(dataDir),
          measure: async () => {
            await using server = await startLarge(lab, dataDir, caches);
            return await readAll(server, pageRows);
          },
        }),
      ),
      async verify() {
        await using server = await startLarge(lab, dataDir, smallAlone);
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

function nameOf({ memoryMb, onDisk }: Caches): string {
  return `framehold, cache ${memoryMb} MB${onDisk ? '' : ', no disk cache'}`;
}

function startLarge(lab: Lab, dataDir: string, { memoryMb, onDisk }: Caches): Promise<HttpServer> {
  const settings = { CACHE_SIZE: String(memoryMb / 1000), ...(!onDisk && noDiskCache) };
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
