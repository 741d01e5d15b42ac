import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { placeOutside } from '../data/outside-file.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { loadContender } from '../harness/contenders.ts';
import { assertSameRows, getExecTable, sizeOf } from '../harness/exec-table.ts';
import { urlOf } from '../harness/http-get.ts';
import { type Lab, tradeRows } from '../harness/lab.ts';
import { untilQuiet } from '../harness/process-tree.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { handlePath, startFramehold, untilReadable } from '../rivals/framehold.ts';
import { queryPath, startQuestDb } from '../rivals/questdb.ts';
import { getRoapiTable, startRoapi, tablePath } from '../rivals/roapi.ts';

const fromOutside = 'framehold, file from outside';
const ourPath = handlePath('trades', String(tradeRows));
const questdbPath = queryPath('trades');
const roapiPath = tablePath(tradeRows);

/** Whole answers, from Parquet to the last byte at the client: the server runs without a cache. */
export const millionRows: BenchCase = {
  name: 'million-rows',
  title: 'one million rows as JSON, uncached, one connection',
  unit: 's',
  better: 'lower',
  rounds: 5,
  bars: [
    { kind: 'ratio', against: 'questdb', atLeast: 1.2 },
    { kind: 'ratio', of: fromOutside, against: 'questdb', atLeast: 1.2 },
  ],

  async prepare(lab, cleanup) {
    const framehold = cleanup.use(await lab.startDemo({ CACHE_SIZE: '0' }));
    const outside = await lab.rival(() => startOutside(lab));
    if (outside !== undefined) cleanup.use(outside);
    const trades = await lab.trades();
    const questdb = await lab.rival(() => startQuestDb(lab.folder, trades));
    if (questdb !== undefined) cleanup.use(questdb);
    const tradesPath = await lab.tradesPath();
    const roapi = await lab.rival(() => startRoapi(lab.folder, { trades: tradesPath }));
    if (roapi !== undefined) cleanup.use(roapi);

    const contender = (name: string, server: HttpServer, path: string): Contender =>
      loadContender({
        name,
        server: () => server,
        connections: 1,
        paths: () => [path],
        until: { requests: lab.quick ? 1 : 5 },
        value: ({ p50Ms }) => p50Ms / 1000,
      });
    return {
      contenders: [
        contender('framehold', framehold, ourPath),
        ...(outside === undefined ? [] : [contender(fromOutside, outside, ourPath)]),
        ...(questdb === undefined ? [] : [contender('questdb', questdb, questdbPath)]),
        ...(roapi === undefined ? [] : [contender('roapi', roapi, roapiPath)]),
      ],
      async verify() {
        const ours = await getExecTable(urlOf(framehold, ourPath));
        assertSameRows(trades, ours, 'framehold without cache');
        if (outside !== undefined) assertSameRows(ours, await getExecTable(urlOf(outside, ourPath)), fromOutside);
        if (questdb !== undefined) assertSameRows(ours, await getExecTable(urlOf(questdb, questdbPath)), 'questdb');
        if (roapi !== undefined) assertSameRows(ours, await getRoapiTable(urlOf(roapi, roapiPath)), 'roapi');
        return sizeOf(ours);
      },
    };
  },
};

/** The same rows in one row group of a million. */
async function startOutside(lab: Lab): Promise<HttpServer> {
  const dataDir = await mkdtemp(join(lab.folder, 'million-'));
  await placeOutside(lab, await lab.tradesPath(), dataDir, 'trades');
  const server = await startFramehold({ dataDir, logPath: lab.frameholdLog, settings: { CACHE_SIZE: '0' } });
  try {
    await untilReadable(server, 'trades');
    await untilQuiet(server.pid);
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
