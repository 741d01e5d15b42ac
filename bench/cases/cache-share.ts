import {
  comparePages,
  largeConnections,
  largePages,
  ourLargePath,
  questdbContender,
  questdbOf,
  startLarge,
} from '../data/large-pages.ts';
import { largeHandle, largeTrades } from '../data/large-trades.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { loadContender, requestsPerSecond, warmUp } from '../harness/contenders.ts';
import { fillDiskCache, noDiskCache } from '../harness/disk-cache.ts';
import { exchangeable } from '../harness/exchangeable.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import type { HttpServer } from '../harness/server-process.ts';

const sharesInPercent = [5, 10, 25, 50, 100];
/** The cache's overhead beside the rows. */
const overhead = 1.1;
const rowsWeighed = 10_000;

/** For the plot: the speed by the share of the frame in memory, with and without a disk cache. */
export const cacheShare: BenchCase = {
  name: 'cache-share',
  title: `another 1,000 rows of ten million in every request, with a cache for ${sharesInPercent.join(', ')} % of them, 32 connections`,
  unit: 'requests/s',
  better: 'higher',
  rounds: 3,
  bars: [],

  async prepare(lab, cleanup) {
    const trades = await largeTrades(lab);
    const { rows, put: dataDir } = trades;
    let settings: Readonly<Record<string, string>> = {};
    const ours = exchangeable(() => startLarge({ dataDir, logPath: lab.frameholdLog, settings }), cleanup);
    await ours.renew();
    const bytesARow = (await httpGetBody(urlOf(ours.current(), ourLargePath(`1,${rowsWeighed}`)))).length / rowsWeighed;

    const contender = (share: number, onDisk: boolean): Contender => {
      const loaded = loadContender({
        name: `framehold, ${share} %${onDisk ? '' : ', no disk cache'}`,
        server: ours.current,
        connections: largeConnections,
        paths: (round) => largePages(round, rows).map(ourLargePath),
        until: { ms: lab.loadMs },
        value: requestsPerSecond,
        async beforeRound() {
          const cacheBytes = (share / 100) * rows * bytesARow * overhead;
          settings = { CACHE_SIZE: String(cacheBytes / 1e9), ...(!onDisk && noDiskCache) };
          await ours.renew();
          await fill(ours.current());
        },
      });
      return {
        ...loaded,
        async measure(round) {
          const reading = await loaded.measure(round);
          return { ...reading, details: { ...reading.details, share, onDisk: Number(onDisk) } };
        },
      };
    };
    const fill = async (server: HttpServer): Promise<void> => {
      await fillDiskCache(server, { dataDir, handle: largeHandle, rows });
      await warmUp(server, largePages(-1, rows).map(ourLargePath), largeConnections, lab.warmUpMs);
    };
    const rivals = await questdbOf(cleanup, trades);
    return {
      contenders: [
        ...sharesInPercent.map((share) => contender(share, true)),
        ...sharesInPercent.map((share) => contender(share, false)),
        ...rivals.map((target) => questdbContender(lab, target, rows)),
      ],
      verify: () => comparePages([{ name: 'framehold', server: ours.current(), path: ourLargePath }, ...rivals], rows),
    };
  },
};
