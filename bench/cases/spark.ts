import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../../src/core/async/cleanup.ts';
import type { BenchCase, Contender, Reading } from '../harness/bench-case.ts';
import { loadContender, warmUp } from '../harness/contenders.ts';
import { getExecTable } from '../harness/exec-table.ts';
import { urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { postSql } from '../harness/post-sql.ts';
import { watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { type FrameholdServer, startFramehold } from '../rivals/framehold.ts';
import { pysparkInterpreter, startSpark } from '../rivals/spark.ts';

const smallSql = 'SELECT count(*) AS n, sum(id) AS total FROM few';
const rowsSql = 'SELECT id, half, text FROM many';

/** Nothing listens there: below its threshold `engine=auto` must not need the cluster. */
const nowhere = 'sc://127.0.0.1:1';

const sparkRoundTrip: BenchCase = {
  name: 'spark-round-trip',
  title: 'a small query on Spark, two workers, through Flight, HTTP and PySpark, p50 of one connection',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'margin', of: 'framehold', over: 'pyspark', atMost: 10 }],

  prepare: (lab, cleanup) =>
    bout(lab, cleanup, {
      question: { operation: 'small', parameters: { sql: smallSql, count: lab.quick ? 5 : 100 } },
      reading: ({ p50Ms = 0 }) => p50Ms,
    }),
};

const sparkRows: BenchCase = {
  name: 'spark-rows',
  title: 'two million rows of Spark as Arrow, through Flight, HTTP and PySpark, to the last row',
  unit: 'rows/s',
  better: 'higher',
  // A round of the same contender takes up to twice as long as another: Java collects its garbage in some.
  rounds: 15,
  bars: [{ kind: 'ratio', against: 'pyspark', atLeast: 0.9 }],

  prepare: (lab, cleanup) =>
    bout(lab, cleanup, {
      question: { operation: 'rows', parameters: { sql: rowsSql } },
      reading: ({ rows = 0, seconds = 1 }) => rows / seconds,
    }),
};

const engineAuto: BenchCase = {
  name: 'engine-auto',
  title: 'a small query over a frame with engine=auto and with engine=local, p50 of one connection',
  unit: 'ms',
  better: 'lower',
  rounds: 5,
  bars: [{ kind: 'margin', of: 'auto', over: 'local', atMost: 1 }],

  async prepare(lab, cleanup) {
    const { server } = await startBeforeSpark(lab, cleanup, nowhere);
    const pathOf = (engine: string): string => `/exec?query=${encodeURIComponent(smallSql)}&engine=${engine}&fmt=json`;
    const contender = (engine: string): Contender =>
      loadContender({
        name: engine,
        server: () => server,
        connections: 1,
        paths: () => [pathOf(engine)],
        until: { ms: lab.loadMs },
        value: ({ p50Ms }) => p50Ms,
        beforeRound: () => warmUp(server, [pathOf(engine)], 1, lab.warmUpMs),
      });
    return {
      contenders: [contender('auto'), contender('local')],
      async verify() {
        const [auto, local] = [
          await getExecTable(urlOf(server, pathOf('auto'))),
          await getExecTable(urlOf(server, pathOf('local'))),
        ];
        if (JSON.stringify(auto.dataset) !== JSON.stringify(local.dataset)) throw new Error('the answers differ');
        return JSON.stringify(auto.dataset);
      },
    };
  },
};

export const sparkCases: readonly BenchCase[] = [sparkRoundTrip, sparkRows, engineAuto];

interface Figures {
  readonly [name: string]: number;
}

interface Asked {
  /** Of clients/spark.py, the same for both. */
  readonly question: { readonly operation: string; readonly parameters: Readonly<Record<string, unknown>> };
  readonly reading: (figures: Figures) => number;
}

/** Our door and PySpark's own client, before one Spark and the same files. */
async function bout(lab: Lab, cleanup: Cleanup, { question, reading }: Asked) {
  const spark = cleanup.use(await startSpark());
  const { server, cold } = await startBeforeSpark(lab, cleanup, spark.url);
  const interpreter = await pysparkInterpreter();
  const start = async (): Promise<PythonClient> =>
    cleanup.use(await PythonClient.start('spark', lab.folder, interpreter));

  const ours = await start();
  await ours.ask('open_flight', { uri: server.grpcUri, engine: 'spark' });
  const oursByHttp = await start();
  await oursByHttp.ask('open_http', { url: urlOf(server, '/sql'), engine: 'spark' });
  const theirs = await start();
  await theirs.ask('open_pyspark', { url: spark.url, folder: cold, tables: ['few', 'many'] });

  const ask = (client: PythonClient): Promise<Figures> => client.ask<Figures>(question.operation, question.parameters);
  const contender = (name: string, client: PythonClient, pid: number): Contender => ({
    name,
    beforeRound: async (round) => void (round === 0 && (await ask(client))),
    async measure(): Promise<Reading> {
      const { result, usage } = await watch(pid, () => ask(client));
      return { value: reading(result), usage, details: result };
    },
  });
  return {
    contenders: [
      contender('framehold', ours, server.pid),
      contender('framehold, HTTP', oursByHttp, server.pid),
      contender('pyspark', theirs, theirs.pid),
    ],
    async verify(): Promise<string> {
      const { sql } = question.parameters;
      const expected = JSON.stringify(await theirs.ask<unknown>('checked', { sql }));
      for (const client of [ours, oursByHttp]) {
        const found = JSON.stringify(await client.ask<unknown>('checked', { sql }));
        if (found !== expected) throw new Error(`ours gives ${found}, PySpark ${expected}`);
      }
      return expected;
    },
  };
}

/** Framehold with an engine `spark`, a frame `few` and a frame `many`. */
async function startBeforeSpark(
  lab: Lab,
  cleanup: Cleanup,
  url: string,
): Promise<{ readonly server: FrameholdServer; readonly cold: string }> {
  const dataDir = join(lab.folder, `spark-${Date.now()}`);
  await mkdir(join(dataDir, '.framehold'), { recursive: true });
  await writeFile(
    join(dataDir, '.framehold', 'config.toml'),
    // PySpark reads the files by their names: none may be compressed again under it.
    `[engines.spark]\nkind = "spark-connect"\nurl = "${url}"\n[sql]\nauto_engine = "spark"\n[compression]\nlevel = 1\n`,
  );
  const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
  const many = lab.quick ? 200_000 : 2_000_000;
  for (const [handle, rows] of [
    ['few', 1000],
    ['many', many],
  ] as const) {
    const sql = `CREATE TABLE ${handle} AS SELECT range AS id, range * 0.5::DOUBLE AS half, 'a text of some length, number ' || range AS text FROM range(${rows})`;
    await postSql(server, sql);
  }
  return { server, cold: join(dataDir, 'cold') };
}
