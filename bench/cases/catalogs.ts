import { join } from 'node:path';
import { makeSmallFrames } from '../data/large-frame.ts';
import type { BenchCase } from '../harness/bench-case.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { median } from '../harness/rounds.ts';
import { startFramehold, untilReadable } from '../rivals/framehold.ts';

const questions = 20;

/** The statements of tools that fill their tree of tables. */
const tables = 'SELECT table_schema, table_name, table_type FROM information_schema.tables';

export const catalogs: BenchCase = {
  name: 'catalogs',
  title: 'information_schema.tables of 5,000 frames over GET /exec, p50 of one connection, once a process shows them',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'ceiling', of: 'framehold', atMost: 100 }],

  async prepare(lab, cleanup) {
    const frames = lab.quick ? 50 : 5000;
    const dataDir = join(lab.folder, 'catalogs');
    const names = await makeSmallFrames(dataDir, frames);
    const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
    for (const name of names) await untilReadable(server, name);
    await untilQuiet(server.pid);
    const ask = async (sql: string): Promise<{ readonly ms: number; readonly rows: readonly unknown[][] }> => {
      const begunMs = performance.now();
      const query = new URLSearchParams({ query: sql, engine: 'local', limit: '0,10000', fmt: 'json' });
      const body = await httpGetBody(urlOf(server, `/exec?${query}`));
      const ms = performance.now() - begunMs;
      return { ms, rows: (JSON.parse(body.toString()) as { readonly dataset: unknown[][] }).dataset };
    };
    const first = await ask(tables);
    return {
      contenders: [
        {
          name: 'framehold',
          async measure() {
            const { result, usage } = await watch(server.pid, async () => {
              const times: number[] = [];
              for (let at = 0; at < questions; at++) times.push((await ask(tables)).ms);
              return median(times);
            });
            return { value: result, usage, details: { firstMs: first.ms } };
          },
        },
      ],
      async verify() {
        lab.note(`the first question took ${first.ms.toFixed(0)} ms`);
        const [[count] = []] = (await ask(`SELECT count(*) FROM duckdb_columns() WHERE NOT internal`)).rows;
        if (first.rows.length !== frames) throw new Error(`${first.rows.length} of ${frames} frames are listed`);
        return `${frames} frames with ${count} columns are listed`;
      },
    };
  },
};
