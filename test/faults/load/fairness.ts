import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from './connection.ts';
import { quantile } from './quantile.ts';

const heavyConnections = { ci: 60, release: 200 } as const;
/** In heavy statements: one under way in each process, and one of the heavy client's for each of the light one's jobs. */
const mostHeavyTurns = { ci: 12, release: 6 } as const;

/** O5: one client with many connections, each with a heavy statement, and others who ask for little. */
export const fairness: Scenario = {
  id: 'O5',
  promise: 'a client with hundreds of heavy statements does not hold up the small ones of others',
  rounds: { ci: 2, release: 100 },
  secondsPerRound: 15,
  async run({ rounds, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    let texts = 0;
    const heavySql = () => `select sum(range * ${++texts})::hugeint::varchar as n from range(20_000_000)`;
    using light = new Connection(server.url, '127.0.0.2');
    const askLight = async (): Promise<number> => {
      const n = ++texts;
      const { status, ms, text } = await light.sql(`select ${n} as n`);
      promised(status === 200 && text.includes(`[[${n}]]`), 'a small statement is answered right', text);
      return ms;
    };
    await askLight();
    const idleMs: number[] = [];
    for (let n = 0; n < 20; n++) idleMs.push(await askLight());

    const heavies = Array.from({ length: heavyConnections[size] }, () => new Connection(server.url));
    let isOver = false;
    let heavyAnswers = 0;
    const heavyWork = heavies.map(async (heavy) => {
      while (!isOver) {
        const { status } = await heavy.sql(heavySql()).catch(() => ({ status: 0 }));
        if (status === 200) heavyAnswers++;
      }
    });
    await until('the heavy statements are under way', 60_000, () => heavyAnswers >= 4);
    const heavyBefore = heavyAnswers;
    const startedAt = performance.now();
    const loadedMs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      loadedMs.push(await askLight());
      if (round % 20 === 19)
        progress(`${round + 1} small statements, the slowest ${Math.round(Math.max(...loadedMs))} ms`);
    }
    // Two processes work at a time.
    const heavyMs = (2 * (performance.now() - startedAt)) / Math.max(1, heavyAnswers - heavyBefore);
    isOver = true;
    for (const heavy of heavies) heavy[Symbol.dispose]();
    await Promise.all(heavyWork);
    const slowestMs = Math.max(...loadedMs);
    const mostMs = mostHeavyTurns[size] * heavyMs + 500;
    promised(slowestMs < mostMs, `a small statement waits for at most ${mostHeavyTurns[size]} heavy ones`, {
      loadedMs,
      heavyMs,
    });
    return {
      'heavy connections': heavyConnections[size],
      'heavy statement ms': Math.round(heavyMs),
      'small statement idle ms': Math.round(quantile(idleMs, 0.5)),
      'small statement ms': Math.round(quantile(loadedMs, 0.5)),
      'slowest small statement ms': Math.round(slowestMs),
    };
  },
};
