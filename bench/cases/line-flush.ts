import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { assertRows } from '../data/ticks.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { median } from '../harness/rounds.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startFramehold } from '../rivals/framehold.ts';
import { startQuestDb } from '../rivals/questdb.ts';

const rows = 75_000;
const flushesPerRound = 10;

/** A flush of QuestDB's own client, until it is acknowledged. */
export const lineFlush: BenchCase = {
  name: 'line-flush',
  title: '75,000 rows by a flush of the questdb client for Python; ours on the disk before the answer, QuestDB not',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'ratio', against: 'questdb', atLeast: 0.7 }],
  async prepare(lab, cleanup) {
    const dataDir = await mkdtemp(join(lab.folder, 'line-flush-'));
    const framehold = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
    const questdb = await lab.rival(() => startQuestDb(lab.folder));
    const contender = async (name: string, server: HttpServer): Promise<Contender> => {
      const client = cleanup.use(await PythonClient.start('line_flush', lab.folder));
      const flush = (table: string): Promise<{ seconds: number }> =>
        client.ask('flush', { host: server.host, port: server.port, table, rows });
      return {
        name,
        async beforeRound(round) {
          for (let at = 0; at < (round === 0 ? 10 : 1); at++) await flush('ticks');
          await untilQuiet(server.pid);
        },
        async measure() {
          const times: number[] = [];
          const { usage } = await watch(server.pid, async () => {
            for (let at = 0; at < (lab.quick ? 2 : flushesPerRound); at++)
              times.push(1000 * (await flush('ticks')).seconds);
          });
          return { value: median(times), usage, details: {} };
        },
      };
    };
    const verifier = cleanup.use(await PythonClient.start('line_flush', lab.folder));
    return {
      contenders: [
        await contender('framehold', framehold),
        ...(questdb === undefined ? [] : [await contender('questdb', cleanup.use(questdb))]),
      ],
      async verify() {
        await verifier.ask('flush', { host: framehold.host, port: framehold.port, table: 'verified', rows });
        await assertRows(framehold, 'verified', rows);
        return `${rows} rows of a flush can be read`;
      },
    };
  },
};
