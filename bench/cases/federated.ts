import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { placeOutside } from '../data/outside-file.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { loadContender, warmUp } from '../harness/contenders.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import { tradeRows } from '../harness/lab.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { startFramehold, untilReadable } from '../rivals/framehold.ts';
import { queryPath, startQuestDb } from '../rivals/questdb.ts';

/** The same for our only SQL process and for DuckDB in the client's process. */
const threads = 2;
const memoryGb = 4;
const sqlSettings = { SQL_WORKERS: '1', SQL_THREADS: String(threads), SQL_MEMORY: String(memoryGb) };

const asofJoin = (positions: string, trades: string): string =>
  `SELECT count(*) AS n, sum(t.price * p.quantity) AS value FROM ${positions} p ASOF JOIN ${trades} t ON p.symbol = t.symbol AND p.seen >= t.timestamp`;
const exported = 'SELECT timestamp, symbol, price FROM trades';

interface ExportAndJoin {
  readonly exportSeconds: number;
  readonly joinSeconds: number;
  readonly answer: readonly (readonly [number, number])[];
}

/** A million live rows joined with a frame of a hundred thousand. */
const federatedJoin: BenchCase = {
  name: 'federated-join',
  title: `an ASOF join of a frame of 100,000 rows with 1,000,000 live rows of QuestDB; and QuestDB's own export of these rows and then DuckDB's join of the two files in process; ${threads} threads each`,
  unit: 's',
  better: 'lower',
  rounds: 5,
  // 1.3 times the time.
  bars: [{ kind: 'ratio', against: 'export, then duckdb', atLeast: 1 / 1.3 }],

  async prepare(lab, cleanup) {
    const client = cleanup.use(await PythonClient.start('federated', lab.folder));
    const questdb = cleanup.use(await startQuestDb(lab.folder, await lab.trades()));
    const dataDir = await mkdtemp(join(lab.folder, 'federated-'));
    const positions = join(dataDir, 'source.parquet');
    await client.ask('make_positions', { trades: await lab.tradesPath(), path: positions });
    await client.ask('open_duckdb', { threads, memory_gb: memoryGb });
    await placeOutside(lab, positions, dataDir, 'positions');
    const settings = { ...sqlSettings, TSDB_HTTP_URL: urlOf(questdb, '') };
    const framehold = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog, settings }));
    await untilReadable(framehold, 'positions');
    await untilQuiet(framehold.pid);

    const path = `${queryPath(asofJoin('positions', 'tsdb.trades'))}&fmt=json&engine=local`;
    const file = join(dataDir, 'export.parquet');
    const { host, port } = questdb;
    const parts = (): Promise<ExportAndJoin> =>
      client.ask<ExportAndJoin>('export_and_join', {
        ...{ host, port, query: exported, path: file },
        sql: asofJoin(`'${positions}'`, `'${file}'`),
      });
    const inParts: Contender = {
      name: 'export, then duckdb',
      beforeRound: async () => void (await parts()),
      async measure() {
        const times: ExportAndJoin[] = [];
        const { usage } = await watch(client.pid, async () => {
          for (let run = 0; run < (lab.quick ? 1 : 5); run++) times.push(await parts());
        });
        const median = (of: (each: ExportAndJoin) => number): number =>
          times.map(of).sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
        const details = {
          exportSeconds: median(({ exportSeconds }) => exportSeconds),
          joinSeconds: median(({ joinSeconds }) => joinSeconds),
        };
        return { value: details.exportSeconds + details.joinSeconds, usage, details };
      },
    };
    const ours = loadContender({
      name: 'framehold',
      server: () => framehold,
      connections: 1,
      paths: () => [path],
      until: { requests: lab.quick ? 1 : 5 },
      value: ({ p50Ms }) => p50Ms / 1000,
      beforeRound: () => warmUp(framehold, [path], 1, 1),
    });
    return {
      contenders: [ours, inParts],
      async verify() {
        const { dataset } = JSON.parse(String(await httpGetBody(urlOf(framehold, path)))) as {
          readonly dataset: readonly (readonly [number, number])[];
        };
        const [[n, value] = [0, 0]] = dataset;
        const [[rows, expected] = [0, 1]] = (await parts()).answer;
        const isAlike = n === rows && n > 0 && Math.abs(value - expected) <= 1e-9 * Math.abs(expected);
        if (!isAlike) throw new Error(`framehold answered ${n}, ${value}; duckdb ${rows}, ${expected}`);
        return `${n} of ${tradeRows / 10} rows joined, with the same sum`;
      },
    };
  },
};

/** It takes one or two minutes. */
const makeTicksMs = 290_000;
const startOfTicks = '2026-01-01T12:00:00.000000Z';
const endOfTicks = '2026-01-01T12:01:00.000000Z';
const ticksOf = (table: string): string =>
  `SELECT * FROM ${table} WHERE symbol = 'S42' AND ts >= '${startOfTicks}' AND ts < '${endOfTicks}'`;

/** One symbol and one minute of a hundred million live rows. */
const federatedLookup: BenchCase = {
  name: 'federated-lookup',
  title:
    'the rows of one symbol and one minute in 100,000,000 live rows of QuestDB, through SQL over frames and directly, p50 of one connection',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'margin', of: 'framehold', over: 'questdb', atMost: 30 }],

  async prepare(lab, cleanup) {
    const folder = await mkdtemp(join(lab.folder, 'ticks-'));
    // Gigabytes, which no later case needs.
    cleanup.defer(() => rm(folder, { recursive: true, force: true }));
    const questdb = cleanup.use(await startQuestDb(folder));
    const rows = lab.quick ? 1_000_000 : 100_000_000;
    // A row each millisecond in the middle of which the minute lies.
    await makeTicks(questdb, rows);
    const dataDir = await mkdtemp(join(lab.folder, 'federated-'));
    const settings = { ...sqlSettings, TSDB_HTTP_URL: urlOf(questdb, '') };
    const framehold = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog, settings }));
    await untilQuiet(framehold.pid);
    const paths = {
      framehold: `${queryPath(ticksOf('tsdb.ticks'))}&fmt=json&engine=local&nm=true`,
      questdb: `${queryPath(ticksOf('ticks'))}&nm=true`,
    };
    const contender = (name: keyof typeof paths, server: HttpServer): Contender =>
      loadContender({
        name,
        server: () => server,
        connections: 1,
        paths: () => [paths[name]],
        until: { ms: lab.loadMs },
        value: ({ p50Ms }) => p50Ms,
        beforeRound: () => warmUp(server, [paths[name]], 1, lab.warmUpMs),
      });
    return {
      contenders: [contender('framehold', framehold), contender('questdb', questdb)],
      async verify() {
        const rowsOf = async (server: HttpServer, path: string): Promise<readonly unknown[]> =>
          (JSON.parse(String(await httpGetBody(urlOf(server, path)))) as { readonly dataset: readonly unknown[] })
            .dataset;
        const [ours, theirs] = [await rowsOf(framehold, paths.framehold), await rowsOf(questdb, paths.questdb)];
        if (ours.length === 0 || JSON.stringify(ours) !== JSON.stringify(theirs)) throw new Error('the rows differ');
        return `${ours.length} of ${rows} rows`;
      },
    };
  },
};

export const federatedCases: readonly BenchCase[] = [federatedJoin, federatedLookup];

async function makeTicks(questdb: HttpServer, rows: number): Promise<void> {
  const first = new Date(Date.parse(startOfTicks) - rows / 2).toISOString();
  const columns = `timestamp_sequence('${first}', 1000) ts, cast('S' || rnd_int(0, 99, 0) as symbol) symbol, rnd_double() * 100 price, rnd_double() * 10 amount, x id`;
  const sql = `CREATE TABLE ticks AS (SELECT ${columns} FROM long_sequence(${rows})) TIMESTAMP(ts) PARTITION BY HOUR BYPASS WAL`;
  const response = await fetch(urlOf(questdb, queryPath(sql)), { signal: AbortSignal.timeout(makeTicksMs) });
  const answer = await response.text();
  if (!answer.includes('"ddl":"OK"')) throw new Error(`QuestDB did not make ticks: ${answer.slice(0, 300)}`);
}
