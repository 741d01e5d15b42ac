import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { assertSameTable, type Checksums, tableSize } from '../harness/checksums.ts';
import { tradeRows } from '../harness/lab.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { median } from '../harness/rounds.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startFramehold } from '../rivals/framehold.ts';
import { startQuestDb, tradesSchema } from '../rivals/questdb.ts';

/** The same body for both. Ours is on the disk for good when the time ends; QuestDB does not fsync. */
export const impCsv: BenchCase = {
  name: 'imp-csv',
  title: `${tradeRows.toLocaleString('en-US')} rows of trades as CSV by /imp, until SQL shows them all`,
  unit: 's',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'ratio', against: 'questdb', atLeast: 1 / 0.8 }],

  async prepare(lab, cleanup) {
    const path = await lab.tradesPath();
    const dataDir = await mkdtemp(join(lab.folder, 'imp-'));
    const ours = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
    const questdb = await lab.rival(() => startQuestDb(lab.folder));
    if (questdb !== undefined) cleanup.use(questdb);
    const client = cleanup.use(await PythonClient.start('csv_import', lab.folder));
    await client.ask('load', { path, schema: tradesSchema });
    const into = ({ host, port }: HttpServer, table: string) => ({ host, port, table });

    const contender = (name: string, server: HttpServer): Contender => ({
      name,
      // Background work of the import before must not count for this one.
      beforeRound: () => untilQuiet(server.pid),
      async measure(round) {
        const tables = Array.from({ length: lab.quick ? 1 : 3 }, (_, at) => into(server, `imp_${round}_${at}`));
        const { result, usage } = await watch(server.pid, async () => {
          const seconds: number[] = [];
          for (const table of tables) seconds.push((await client.ask<{ seconds: number }>('put', table)).seconds);
          return median(seconds);
        });
        for (const table of tables) await client.ask('drop', table);
        return { value: result, usage, details: {} };
      },
    });
    return {
      contenders: [contender('framehold', ours), ...(questdb === undefined ? [] : [contender('questdb', questdb)])],
      async verify() {
        const imported = async (server: HttpServer): Promise<Checksums> => {
          await client.ask('put', into(server, 'verified'));
          const found = await client.ask<Checksums>('check', into(server, 'verified'));
          await client.ask('drop', into(server, 'verified'));
          return found;
        };
        const mine = await imported(ours);
        if (questdb !== undefined) assertSameTable(mine, await imported(questdb), 'questdb');
        return `${tableSize(mine)}, exported again`;
      },
    };
  },
};
