import { randomPages } from '../data/random-pages.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { loadContender, requestsPerSecond, warmUp } from '../harness/contenders.ts';
import { emptyDiskCache } from '../harness/disk-cache.ts';
import { exchangeable } from '../harness/exchangeable.ts';
import { assertSameRows, getExecTable } from '../harness/exec-table.ts';
import { urlOf } from '../harness/http-get.ts';
import { type Lab, tradeRows } from '../harness/lab.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { handlePath } from '../rivals/framehold.ts';
import { pagePath, queryPath, startQuestDb } from '../rivals/questdb.ts';

const connections = 32;
const pageRows = 1000;
const pagesARound = 100_000;
const pagesCompared = 20;

/** Ours is started anew in every round and has nothing in memory or in its disk cache; QuestDB stays as warm as it gets. */
export const coldPages: BenchCase = {
  name: 'cold-pages',
  title: 'another 1,000 rows of trades in every request, from a server that was just started, 32 connections',
  unit: 'requests/s',
  better: 'higher',
  rounds: 5,
  bars: [{ kind: 'ratio', against: 'questdb', atLeast: 1 }],

  async prepare(lab, cleanup) {
    const ours = exchangeable(() => startCold(lab), cleanup);
    await ours.renew();
    const uncached = cleanup.use(await lab.startDemo({ CACHE_SIZE: '0' }));
    const trades = await lab.trades();
    const questdb = await lab.rival(() => startQuestDb(lab.folder, trades));
    if (questdb !== undefined) cleanup.use(questdb);

    const contender = (
      name: string,
      server: () => HttpServer,
      path: PagePath,
      beforeRound: () => Promise<void>,
    ): Contender =>
      loadContender({
        name,
        server,
        connections,
        paths: (round) => pages(round).map(path),
        until: { ms: lab.loadMs },
        value: requestsPerSecond,
        beforeRound,
      });
    const warm = (server: HttpServer, path: PagePath) => () =>
      warmUp(server, pages(-1).map(path), connections, lab.warmUpMs);
    return {
      contenders: [
        contender('framehold', ours.current, ourPath, ours.renew),
        contender('framehold, no cache', () => uncached, ourPath, warm(uncached, ourPath)),
        ...(questdb === undefined
          ? []
          : [
              contender('questdb', () => questdb, questdbPath, warm(questdb, questdbPath)),
              contender('questdb, limit=', () => questdb, questdbLimitPath, warm(questdb, questdbLimitPath)),
            ]),
      ],
      async verify() {
        for (const page of pages(0).slice(0, pagesCompared)) {
          const table = await getExecTable(urlOf(ours.current(), ourPath(page)));
          if (table.dataset.length !== pageRows) throw new Error(`framehold answered ${table.dataset.length} rows`);
          assertSameRows(table, await getExecTable(urlOf(uncached, ourPath(page))), 'framehold without cache');
          if (questdb === undefined) continue;
          for (const path of [questdbPath, questdbLimitPath]) {
            assertSameRows(table, await getExecTable(urlOf(questdb, path(page))), 'questdb');
          }
        }
        return `${pagesCompared} pages`;
      },
    };
  },
};

type PagePath = (page: string) => string;

const ourPath: PagePath = (page) => handlePath('trades', page);
const questdbPath: PagePath = (page) => pagePath('trades', page);
/** As we write it: QuestDB walks over all rows before the page. */
const questdbLimitPath: PagePath = (page) => queryPath('trades', page);

function pages(round: number): string[] {
  return randomPages(round, pagesARound, tradeRows, pageRows);
}

async function startCold(lab: Lab): Promise<HttpServer> {
  await emptyDiskCache(await lab.demoFolder());
  return lab.startDemo();
}
