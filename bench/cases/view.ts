import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { loadContender } from '../harness/contenders.ts';
import { runLoad } from '../harness/load.ts';
import { postSql } from '../harness/post-sql.ts';
import { untilQuiet } from '../harness/process-tree.ts';

const hourly = `SELECT symbol, side, date_trunc('hour', timestamp) AS hour, count(*) AS trades, max(price) AS highest
  FROM trades GROUP BY ALL`;
const asked = (from: string): string => `SELECT * FROM ${from} WHERE symbol = 'BTC-USD' ORDER BY hour, side LIMIT 20`;

export const view: BenchCase = {
  name: 'view',
  title:
    'a query of a view over the million rows of `trades`, and the same with the query of the view written out, by POST /sql, p50 of one connection',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  // A draw: two runs of the same query differ by as much.
  bars: [{ kind: 'ratio', against: 'framehold, written out', atLeast: 0.95 }],

  async prepare(lab, cleanup) {
    const server = cleanup.use(await lab.startDemo());
    await postSql(server, `CREATE OR REPLACE VIEW hourly AS ${hourly}`);
    const ofView = asked('hourly');
    const writtenOut = asked(`(${hourly}) AS hourly`);
    const contender = (name: string, sql: string): Contender => {
      const bodies = [JSON.stringify({ sql, engine: 'local' })];
      const load = { paths: ['/sql'], bodies, connections: 1 };
      return loadContender({
        name,
        server: () => server,
        connections: 1,
        paths: () => load.paths,
        bodies,
        until: { requests: lab.quick ? 5 : 100 },
        value: ({ p50Ms }) => p50Ms,
        beforeRound: async () => {
          await runLoad({ ...server, ...load, until: { requests: lab.quick ? 2 : 20 } });
          // The copy of the frame that its second query begins is made.
          await untilQuiet(server.pid);
        },
      });
    };
    return {
      contenders: [contender('framehold', ofView), contender('framehold, written out', writtenOut)],
      async verify() {
        const [found, expected] = [await postSql(server, ofView), await postSql(server, writtenOut)];
        const rows = expected.dataset?.length ?? 0;
        if (rows === 0) throw new Error('the query gives no rows');
        if (JSON.stringify(found.dataset) !== JSON.stringify(expected.dataset)) throw new Error('the answers differ');
        return `${rows} rows, the same from both`;
      },
    };
  },
};
