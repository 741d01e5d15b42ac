import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { loadContender, warmUp } from '../harness/contenders.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { queryPath, startQuestDb } from '../rivals/questdb.ts';

const path = `${queryPath('trades limit 10')}&fmt=json`;

/** The time that our proxy mode adds to QuestDB's own. */
export const proxy: BenchCase = {
  name: 'proxy',
  title: 'ten rows of QuestDB through our proxy mode and directly, p50 of one connection',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'margin', of: 'framehold', over: 'questdb', atMost: 0.3 }],

  async prepare(lab, cleanup) {
    const questdb = cleanup.use(await startQuestDb(lab.folder, await lab.trades()));
    const framehold = cleanup.use(await lab.startDemo({ TSDB_HTTP_URL: urlOf(questdb, '') }));
    const contender = (name: string, server: HttpServer): Contender =>
      loadContender({
        name,
        server: () => server,
        connections: 1,
        paths: () => [path],
        until: { ms: lab.loadMs },
        value: ({ p50Ms }) => p50Ms,
        beforeRound: () => warmUp(server, [path], 1, lab.warmUpMs),
      });
    return {
      contenders: [contender('framehold', framehold), contender('questdb', questdb)],
      async verify() {
        const direct = await httpGetBody(urlOf(questdb, path));
        const proxied = await httpGetBody(urlOf(framehold, path));
        if (!proxied.equals(direct)) throw new Error('the proxied body is not QuestDB’s own');
        return `${direct.length} bytes`;
      },
    };
  },
};
