import { type TpchAnswers, tpchDifferences, tpchQueryCount } from '../data/tpch-answers.ts';
import { tpchTables } from '../data/tpch-data.ts';
import type { BenchCase, Contender, Reading } from '../harness/bench-case.ts';
import { type Exchangeable, exchangeable } from '../harness/exchangeable.ts';
import type { Lab } from '../harness/lab.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import type { GrpcServer } from '../harness/server-process.ts';
import { startRoapi } from '../rivals/roapi.ts';

/** The same for our only SQL process and for DuckDB in the client's process. */
const threads = 2;
const memoryGb = 4;
const settings = { SQL_WORKERS: '1', SQL_THREADS: String(threads), SQL_MEMORY: String(memoryGb), CACHE_SIZE: '2.5' };

/** 1.15 times the time. */
const bar = { kind: 'ratio', against: 'duckdb', atLeast: 1 / 1.15 } as const;

const runsToWarm = 4;
const digitsOfDuckDb = 1e-8;
/** ROAPI divides decimals with few digits. */
const digitsOfRoapi = 1e-3;

const tpchCold: BenchCase = {
  name: 'tpch-cold',
  title: `the first run of the 22 queries of TPC-H SF1, from Parquet, through ADBC; DuckDB in process over the same files; ${threads} threads each; geometric mean`,
  unit: 's',
  better: 'lower',
  rounds: 3,
  bars: [bar],

  async prepare(lab, cleanup) {
    const ours = exchangeable(() => startOurs(lab), cleanup);
    const duckdb = exchangeable(() => startDuckDb(lab, 'parquet'), cleanup);
    const contender = (name: string, { renew, current }: Exchangeable<Runner>): Contender => ({
      name,
      beforeRound: renew,
      measure: () => runAll(current()),
    });
    return {
      contenders: [contender('framehold', ours), contender('duckdb', duckdb)],
      async verify() {
        await ours.renew();
        await duckdb.renew();
        return await compared(lab, duckdb.current(), ours.current());
      },
    };
  },
};

const tpchWarm: BenchCase = {
  name: 'tpch-warm',
  title: `the 22 queries of TPC-H SF1 after ${runsToWarm} runs, through ADBC; DuckDB in process over tables of its own; ${threads} threads each; geometric mean`,
  unit: 's',
  better: 'lower',
  rounds: 5,
  bars: [bar],

  async prepare(lab, cleanup) {
    const ours = cleanup.use(await startOurs(lab));
    const duckdb = cleanup.use(await startDuckDb(lab, 'native'));
    const roapi = await lab.rival(() => startRoapiClient(lab));
    if (roapi !== undefined) cleanup.use(roapi);
    const expected = await duckdb.client.ask<TpchAnswers>('answers');
    const isWhole = roapi !== undefined && (await answersAll(lab, expected, roapi));

    const contender = (name: string, runner: Runner): Contender => ({
      name,
      async beforeRound(round) {
        const runs = round > 0 ? 0 : lab.quick ? 1 : runsToWarm;
        for (let run = 0; run < runs; run++) {
          await runAll(runner);
          await untilQuiet(runner.pid);
        }
      },
      measure: () => runAll(runner),
    });
    return {
      contenders: [
        contender('framehold', ours),
        contender('duckdb', duckdb),
        ...(isWhole ? [contender('roapi', roapi)] : []),
      ],
      verify: () => compared(lab, duckdb, ours),
    };
  },
};

export const tpchCases: readonly BenchCase[] = [tpchCold, tpchWarm];

/** A client with its server; for DuckDB in process, the client itself. */
interface Runner extends AsyncDisposable {
  readonly client: PythonClient;
  readonly pid: number;
}

async function startOurs(lab: Lab): Promise<Runner> {
  return connected(lab, await lab.startTpch(settings));
}

async function startRoapiClient(lab: Lab): Promise<Runner> {
  const folder = await lab.tpchFiles();
  const files = Object.fromEntries(tpchTables.map((table) => [table, `${folder}/${table}.parquet`]));
  // With 20 rows of query 10 it sends all text of the table: 48 MB, where ADBC takes no more than 16 MiB by default.
  return connected(lab, await startRoapi(lab.folder, files), { max_message_bytes: 1e9 });
}

async function connected(
  lab: Lab,
  server: GrpcServer,
  options: Readonly<Record<string, number>> = {},
): Promise<Runner> {
  const client = await PythonClient.start('tpch', lab.folder);
  const dispose = async (): Promise<void> => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  try {
    await client.ask('open_flight_sql', { uri: server.grpcUri, ...options });
    return { client, pid: server.pid, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function startDuckDb(lab: Lab, form: 'parquet' | 'native'): Promise<Runner> {
  const client = await PythonClient.start('tpch', lab.folder);
  await client.ask('open_duckdb', { folder: await lab.tpchFiles(), form, threads, memory_gb: memoryGb });
  return { client, pid: client.pid, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

async function runAll({ client, pid }: Runner): Promise<Reading> {
  const { result, usage } = await watch(pid, () =>
    client.ask<{ readonly seconds: Record<string, number>; readonly errors: Record<string, string> }>('run_all'),
  );
  const failed = Object.entries(result.errors)[0];
  if (failed !== undefined) throw new Error(`query ${failed[0]} failed: ${failed[1]}`);
  const seconds = Object.entries(result.seconds);
  const value = Math.exp(seconds.reduce((sum, [, time]) => sum + Math.log(time), 0) / seconds.length);
  const byQuery = Object.fromEntries(seconds.map(([query, time]) => [`q${query}`, time]));
  return { value, usage, details: { sum: seconds.reduce((sum, [, time]) => sum + time, 0), ...byQuery } };
}

async function compared(lab: Lab, duckdb: Runner, ours: Runner): Promise<string> {
  const expected = await duckdb.client.ask<TpchAnswers>('answers');
  const count = Object.keys(expected.answers).length;
  if (count !== tpchQueryCount) throw new Error(`duckdb answered ${count} queries: ${JSON.stringify(expected.errors)}`);
  const found = await ours.client.ask<TpchAnswers>('answers');
  const differences = tpchDifferences(expected, found, digitsOfDuckDb);
  if (differences.length > 0) throw new Error(`framehold answered otherwise than duckdb\n${differences.join('\n')}`);
  const rows = Object.values(expected.answers).reduce((sum, answer) => sum + answer.length, 0);
  return `${count} queries at scale factor ${lab.tpchScale}, ${rows.toLocaleString('en-US')} rows together, with DuckDB's`;
}

/** A mean over some of the queries would compare with nothing. */
async function answersAll(lab: Lab, expected: TpchAnswers, roapi: Runner): Promise<boolean> {
  const differences = tpchDifferences(expected, await roapi.client.ask<TpchAnswers>('answers'), digitsOfRoapi);
  for (const difference of differences) lab.note(`roapi, left out: ${difference.slice(0, 300)}`);
  return differences.length === 0;
}
