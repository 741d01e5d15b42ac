import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { assertSameTable, type Checksums, tableSize } from '../harness/checksums.ts';
import { httpGet, urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { median } from '../harness/rounds.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startBareNode } from '../rivals/bare-node.ts';
import { startQuestDb } from '../rivals/questdb.ts';
import { startRoapi } from '../rivals/roapi.ts';

const arrowType = 'application/vnd.apache.arrow.stream';

/** A rival, and its request. */
interface Rival {
  readonly name: string;
  readonly path: string;
  start(lab: Lab, ours: HttpServer): Promise<HttpServer>;
}

interface ExportOptions {
  readonly form: 'csv' | 'arrow' | 'parquet';
  readonly what: string;
  readonly rival: Rival;
  /** The share of the rival's speed that is the bar. */
  readonly atLeast: number;
}

export const exportCases: readonly BenchCase[] = [
  exportCase({
    form: 'csv',
    what: 'as CSV; the server has read them before, as QuestDB has',
    rival: {
      name: 'questdb',
      path: '/exp?query=trades',
      start: async (lab) => startQuestDb(lab.folder, await lab.trades()),
    },
    atLeast: 1,
  }),
  exportCase({
    form: 'arrow',
    what: 'as an Arrow stream; ROAPI holds them in memory',
    rival: {
      name: 'roapi',
      path: '/api/tables/trades?limit=1000000',
      start: async (lab) => startRoapi(lab.folder, { trades: await lab.tradesPath() }),
    },
    atLeast: 1,
  }),
  exportCase({
    form: 'parquet',
    what: "as the frame's own Parquet file; a bare Node server that pipes the same file from disk",
    rival: {
      name: 'bare node',
      path: '/',
      start: async (lab, ours) =>
        startBareNode(await httpGet(urlOf(ours, ourPath('parquet'))), lab.folder, { place: 'disk' }),
    },
    atLeast: 0.8,
  }),
];

function ourPath(form: ExportOptions['form']): string {
  return `/exp?handle=trades&fmt=${form}`;
}

function exportCase({ form, what, rival, atLeast }: ExportOptions): BenchCase {
  return {
    name: `exp-${form}`,
    title: `one million rows of trades by /exp ${what}`,
    unit: 's',
    better: 'lower',
    rounds: 5,
    bars: [{ kind: 'ratio', against: rival.name, atLeast }],

    async prepare(lab, cleanup) {
      const ours = cleanup.use(await lab.startDemo());
      const theirs = await lab.rival(() => rival.start(lab, ours));
      if (theirs !== undefined) cleanup.use(theirs);
      const client = cleanup.use(await PythonClient.start('http_get', lab.folder));
      const accept = form === 'arrow' ? arrowType : '*/*';
      const target = ({ host, port }: HttpServer, path: string) => ({ host, port, path, accept });

      const contender = (name: string, server: HttpServer, path: string): Contender => ({
        name,
        async measure() {
          const { result, usage } = await watch(server.pid, async () => {
            const seconds: number[] = [];
            for (let time = 0; time < (lab.quick ? 1 : 5); time++) {
              seconds.push((await client.ask<{ seconds: number }>('get', target(server, path))).seconds);
            }
            return median(seconds);
          });
          return { value: result, usage, details: {} };
        },
      });
      return {
        contenders: [
          contender('framehold', ours, ourPath(form)),
          ...(theirs === undefined ? [] : [contender(rival.name, theirs, rival.path)]),
        ],
        async verify() {
          const mine = await client.ask<Checksums>('check', { ...target(ours, ourPath(form)), form });
          if (theirs !== undefined) {
            const other = await client.ask<Checksums>('check', { ...target(theirs, rival.path), form });
            assertSameTable(mine, other, rival.name);
          }
          return tableSize(mine);
        },
      };
    },
  };
}
