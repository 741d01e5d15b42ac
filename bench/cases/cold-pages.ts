import type { BenchCase, Contender } from '../bench-case.ts';
import { loadContender, requestsPerSecond, warmUp } from '../contenders.ts';
import { assertSameRows, getExecTable } from '../exec-table.ts';
import { urlOf } from '../http-get.ts';
import { type Lab, tradeRows } from '../lab.ts';
import { randomPages } from '../random-pages.ts';
import { handlePath } from '../rivals/framehold.ts';
import { queryPath, startQuestDb } from '../rivals/questdb.ts';
import type { HttpServer } from '../server-process.ts';

const connections = 32;
const pageRows = 1000;
const pagesARound = 100_000;
const pagesCompared = 20;

/** Ours is started anew in every round and so has nothing in memory; QuestDB stays as warm as it gets. */
export const coldPages: BenchCase = {
  name: 'cold-pages',
  title: 'another 1,000 rows of trades in every request, from a server that was just started, 32 connections',
  unit: 'requests/s',
  better: 'higher',
  rounds: 5,
  bars: [{ kind: 'ratio', against: 'questdb', atLeast: 1 }],

  async prepare(lab, cleanup) {
    const ours = await restarting(lab);
    cleanup.defer(() => ours.server()[Symbol.asyncDispose]());
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
        contender('framehold', ours.server, ourPath, ours.restart),
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
          const table = await getExecTable(urlOf(ours.server(), ourPath(page)));
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
/** In SQL, where it counts rows from 0: QuestDB's fastest way to a page, although it compiles every request anew. */
const questdbPath: PagePath = (page) => {
  const [from, to] = page.split(',');
  return queryPath(`trades limit ${Number(from) - 1},${to}`);
};
/** As we write it: QuestDB walks over all rows before the page. */
const questdbLimitPath: PagePath = (page) => queryPath('trades', page);

function pages(round: number): string[] {
  return randomPages(round, pagesARound, tradeRows, pageRows);
}

/** A server that can be exchanged for a new one. */
async function restarting(
  lab: Lab,
): Promise<{ readonly server: () => HttpServer; readonly restart: () => Promise<void> }> {
  let current = await lab.startDemo();
  return {
    server: () => current,
    async restart() {
      await current[Symbol.asyncDispose]();
      current = await lab.startDemo();
    },
  };
}
