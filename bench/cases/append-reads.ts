import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { appendTicks, assertRows, rowsPerAppend } from '../data/ticks.ts';
import type { BenchCase } from '../harness/bench-case.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import { watch } from '../harness/process-tree.ts';
import { median } from '../harness/rounds.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startFramehold } from '../rivals/framehold.ts';

const appends = 20_000;
const settledMs = 60_000;
const readsPerRound = 20;

const sql = (text: string): string => `/exec?fmt=json&engine=local&query=${encodeURIComponent(text)}`;

/** The reads of a frame. */
const reads: Readonly<Record<string, (handle: string) => string>> = {
  page: (handle) => `/exec?handle=${handle}&fmt=json&limit=199001,200000`,
  count: (handle) => sql(`select count(*) as n from ${handle}`),
  aggregate: (handle) =>
    sql(
      `select symbol, count(*) as n, sum(price * size) as turnover, avg(price) as mean from ${handle} group by symbol order by symbol`,
    ),
  whole: (handle) => `/exp?handle=${handle}&fmt=arrow`,
};

/** The same rows, appended ten at a time and put at once. */
export const appendReadCases: readonly BenchCase[] = Object.entries(reads).flatMap(([name, pathOf]) => [
  readCase(name, pathOf, 'at once', 2),
  readCase(name, pathOf, 'settled', 1.2),
]);

function readCase(
  name: string,
  pathOf: (handle: string) => string,
  when: 'at once' | 'settled',
  most: number,
): BenchCase {
  return {
    name: `append-${name}${when === 'settled' ? '-settled' : ''}`,
    title: `${name} of ${appends.toLocaleString('en-US')} appends of ten rows, ${when === 'settled' ? 'a minute later' : 'at once'}, against the same rows put at once`,
    unit: 'ms',
    better: 'lower',
    rounds: 3,
    bars: [{ kind: 'ratio', against: 'put at once', atLeast: 1 / most }],
    async prepare(lab, cleanup) {
      const dataDir = await mkdtemp(join(lab.folder, 'append-reads-'));
      const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
      const count = lab.quick ? 500 : appends;
      await appendTicks(server, 'grown', { appends: count, connections: 1 });
      await putAtOnce(server);
      if (when === 'settled') await delay(lab.quick ? 1000 : settledMs);
      const contender = (who: string, handle: string) => ({
        name: who,
        // Rows that come between two rounds leave nothing hot of the one before.
        beforeRound: async () => {
          if (when === 'at once') await appendTicks(server, 'grown', { appends: 1, connections: 1 });
          if (when === 'at once') await putAtOnce(server);
        },
        measure: async () => {
          const times: number[] = [];
          const { usage } = await watch(server.pid, async () => {
            for (let n = 0; n < readsPerRound; n++) {
              const begunAt = performance.now();
              await httpGetBody(urlOf(server, pathOf(handle)));
              times.push(performance.now() - begunAt);
            }
          });
          return { value: median(times), usage, details: {} };
        },
      });
      return {
        contenders: [contender('framehold', 'grown'), contender('put at once', 'whole')],
        async verify() {
          await assertRows(server, 'grown', count * rowsPerAppend);
          for (const kind of ['aggregate', 'page'] as const) {
            const [grown, whole] = await Promise.all(['grown', 'whole'].map((handle) => answer(server, kind, handle)));
            if (grown !== whole)
              throw new Error(`${kind} differs: ${grown?.slice(0, 200)} and ${whole?.slice(0, 200)}`);
          }
          return `${count * rowsPerAppend} rows, page and aggregate are the same`;
        },
      };
    },
  };
}

async function answer(server: HttpServer, kind: 'aggregate' | 'page', handle: string): Promise<string> {
  const body = await httpGetBody(urlOf(server, (reads[kind] as (handle: string) => string)(handle)));
  return JSON.stringify((JSON.parse(body.toString()) as { dataset: unknown }).dataset);
}

/** The rows that `grown` has now, as one frame. */
async function putAtOnce({ host, port }: HttpServer): Promise<void> {
  const response = await fetch(`http://${host}:${port}/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      sql: 'select * from grown',
      engine: 'local',
      keep: { handle: 'whole', mode: 'overwrite' },
    }),
  });
  if (!response.ok) throw new Error(`whole could not be put: ${await response.text()}`);
}
