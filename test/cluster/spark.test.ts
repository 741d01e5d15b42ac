import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { jdbcDriver } from '../clients/support/jdbc-driver.ts';
import { python } from '../clients/support/python.ts';
import { packageTools } from '../clients/support/python-package.ts';
import { ask } from '../support/http-client.ts';
import { needed } from '../support/missing.ts';
import { runCommand } from '../support/spawned-command.ts';
import { engineBehaviour } from './engine-behaviour.ts';
import { sqlFiles } from './sql-files.ts';
import { adbcAnswers } from './support/adbc-answers.ts';
import { answerDifference } from './support/answer-difference.ts';
import { arrowRows } from './support/arrow-rows.ts';
import { clusterVenv, needJava } from './support/cluster-venv.ts';
import { type EngineDoor, openEngineDoor, type SqlAnswer } from './support/engine-door.ts';
import { checkPythonVerbs } from './support/python-verbs.ts';
import { type SparkCluster, startSparkCluster } from './support/spark-cluster.ts';
import { tpchFolder, tpchQueries } from './support/tpch.ts';

const venv = await needed('Spark', async () => {
  await needJava();
  await python();
  return { ...(await clusterVenv()), jdbcDriver: await jdbcDriver(), packageTools: await packageTools() };
});
const overJdbc = fileURLToPath(new URL('support/spark_jdbc.py', import.meta.url));

/** Takes both cores for many seconds. */
const longSql = `SELECT a.l_linenumber, count(*) AS pairs, sum(a.l_partkey - b.l_partkey) AS difference, min(b.l_orderkey) AS lowest
FROM lineitem a JOIN lineitem b ON a.l_suppkey = b.l_suppkey AND a.l_linenumber = b.l_linenumber AND a.l_shipmode = b.l_shipmode
WHERE b.l_quantity <= 20
GROUP BY a.l_linenumber ORDER BY a.l_linenumber`;
/** In one task, so that it takes one core only. */
const endlessSql = `SELECT sum(length(concat(n_comment, cast(id AS string)))) AS letters
FROM nation CROSS JOIN range(0, 1000000000000, 1, 1)`;

interface Query {
  readonly id: string;
  readonly progress: { readonly tasks: number } | null;
}

/** Decimals and averages, dates and texts. */
const queriesOfSeveralTypes = tpchQueries().filter(({ name }) => ['q01', 'q03'].includes(name));

const manyRows = 2_000_000;
const keptRows = 200_000;
const manyRowsSql = `SELECT id, id * 0.5 AS half, concat('a text of some length, number ', id) AS text FROM many`;
const sumOfIdsBelow = (rows: number): bigint => (BigInt(rows) * BigInt(rows - 1)) / 2n;

describe.skipIf(venv === undefined)('Spark', { timeout: 240_000 }, () => {
  const cleanup = new Cleanup();
  let cluster: SparkCluster;
  let door: EngineDoor;
  beforeAll(async () => {
    cluster = cleanup.use(await startSparkCluster({ jars: venv?.jdbcDriver }));
    door = cleanup.use(await openEngineDoor({ engineUrl: cluster.url, tables: await tpchFolder(0.02) }));
    await door.rows({ sql: `CREATE TABLE many AS SELECT range AS id FROM range(${manyRows})`, engine: 'local' });
  }, 300_000);
  afterAll(async () => {
    await cleanup[Symbol.asyncDispose]();
  });

  const runningJobs = async (): Promise<number> =>
    (await cluster.jobs()).filter(({ status }) => status === 'RUNNING').length;
  const tasksRun = async (): Promise<readonly number[]> =>
    (await cluster.executors()).filter(({ isActive }) => isActive).map(({ completedTasks }) => completedTasks);
  const patience = { timeout: 60_000, interval: 100 };
  const noJobRuns = (): Promise<void> => expect.poll(runningJobs, patience).toBe(0);
  const aJobRuns = (): Promise<void> => expect.poll(runningJobs, patience).toBeGreaterThan(0);

  describe('answers as the local engine does', () => {
    // Sail answers all of them, from the same texts.
    test.each(tpchQueries().filter((_, at) => at % 11 === 4))('to $name of TPC-H', async ({ sql }) => {
      const expected = await door.rows({ sql, engine: 'local' });
      expect(answerDifference(expected, await door.rows({ sql, engine: 'cluster' }))).toBeUndefined();
    });

    test('to TPC-H through ADBC', async () => {
      expect(queriesOfSeveralTypes).toHaveLength(2);
      const statements = queriesOfSeveralTypes.map(({ sql }) => sql);
      const expected = await adbcAnswers(door, 'local', statements);
      const found = await adbcAnswers(door, 'cluster', statements);
      const differences = queriesOfSeveralTypes.flatMap(({ name }, at) => {
        const [theirs, ours] = [expected[at], found[at]];
        if (theirs === undefined || ours === undefined) return [`${name} has no answer`];
        return answerDifference(theirs, ours) ?? [];
      });
      expect(differences).toEqual([]);
    });

    test.each(queriesOfSeveralTypes.slice(-1))('to $name of TPC-H through `framehold sql`', async ({ sql }) => {
      const options = { cwd: tmpdir(), env: { FRAMEHOLD_SERVER: door.server.url } };
      const expected = await door.rows({ sql, engine: 'local' });
      const { stdout, stderr } = await runCommand(['sql', sql, '--engine', 'cluster', '--format', 'json'], options);
      expect(stderr).toBe('');
      expect(answerDifference(expected, JSON.parse(stdout) as SqlAnswer)).toBeUndefined();
    });

    test('to the verbs of the Python package', async () => {
      // Sail runs more of them.
      await checkPythonVerbs(venv?.packageTools ?? '', { url: door.server.url, engine: 'cluster', every: 25 });
    });

    test('with work that both workers did', async () => {
      const tasks = await tasksRun();
      expect(tasks).toHaveLength(2);
      for (const count of tasks) expect(count).toBeGreaterThan(10);
    });
  });

  engineBehaviour({ label: 'spark', engine: 'cluster', door: () => door });

  sqlFiles({ label: 'spark', door: () => door });

  test('two million rows pass through without piling up here', async () => {
    const answer = await arrowRows(door, { sql: manyRowsSql, engine: 'cluster' });
    expect([answer.rows, answer.sumOfIds]).toEqual([manyRows, sumOfIdsBelow(manyRows)]);
    expect(answer.bytes).toBeGreaterThan(110e6);
    expect(answer.grownBytes).toBeLessThan(answer.bytes / 2);
  });

  test('rows are kept, and read back as they are', async () => {
    const some = `${manyRowsSql} WHERE id < ${keptRows}`;
    const kept = await door.rows({ sql: some, engine: 'cluster', keep: { handle: 'kept' } });
    expect(kept).toMatchObject({ handle: 'kept', rows: keptRows });
    const sql =
      "SELECT count(*), count(DISTINCT id), sum(id)::VARCHAR, sum(half), count(*) FILTER (text = 'a text of some length, number ' || id) FROM kept";
    const { dataset } = await door.rows({ sql, engine: 'local' });
    const sum = Number(sumOfIdsBelow(keptRows));
    expect(dataset[0]?.map(Number)).toEqual([keptRows, keptRows, sum, sum / 2, keptRows]);
  });

  test("frames are read and written by Spark's own JDBC source", async () => {
    const columns = 'name VARCHAR, price DECIMAL(10,2), ratio DOUBLE, day DATE, placed TIMESTAMP, good BOOLEAN';
    await door.rows({ sql: `CREATE TABLE from_spark (id BIGINT NOT NULL, ${columns})`, engine: 'local' });
    await door.rows({ sql: 'CREATE TABLE again (other INTEGER)', engine: 'local' });
    const args = ['-B', overJdbc, cluster.url, `127.0.0.1:${door.server.grpcPort}`];
    const { stdout } = await promisify(execFile)(venv?.python ?? '', args);
    expect(JSON.parse(stdout)).toEqual({
      types: {
        ...{ id: 'bigint', name: 'string', price: 'decimal(10,2)', ratio: 'double' },
        ...{ day: 'date', placed: 'timestamp', good: 'boolean' },
      },
      rows: [3, 5].map((n) => [
        ...[`${n}`, `x${n}`, `${n / 4}`, `${n / 2}`],
        ...['2026-01-31', '2026-01-31 12:00:00', 'True'],
      ]),
      sum: '3.75',
      again: 3,
    });
    const { dataset } = await door.rows({ sql: 'SELECT count(*), count(name) FROM from_spark', engine: 'local' });
    expect(dataset).toEqual([[6, 3]]);
  });

  test('a caller who leaves stops the job', async () => {
    await noJobRuns();
    const caller = new AbortController();
    const left = door.post({ sql: endlessSql, engine: 'cluster' }, { signal: caller.signal }).catch(() => 'left');
    await aJobRuns();
    caller.abort();
    expect(await left).toBe('left');
    await noJobRuns();
  });

  test('whoever looks sees how far a statement is, and stops its job by its id', async () => {
    await noJobRuns();
    const answered = door.post({ sql: endlessSql, engine: 'cluster' });
    const underWay = async () => (await ask(`${door.server.url}/queries`)).json() as unknown as { queries: Query[] };
    await expect.poll(async () => (await underWay()).queries[0]?.progress?.tasks, patience).toBeGreaterThan(0);
    const [query] = (await underWay()).queries;
    expect(query).toMatchObject({ engine: 'cluster', sql: endlessSql });
    expect((await ask(`${door.server.url}/queries/${query?.id}`, { method: 'DELETE' })).status).toBe(200);
    const answer = await answered;
    expect([answer.status, answer.json().code]).toEqual([409, 'sql_cancelled']);
    await noJobRuns();
  });

  test('a deadline stops the job, and is said so', async () => {
    // On a machine that has much other work, the job has not begun by then, and there is nothing to stop.
    const answer = await door.post({ sql: endlessSql, engine: 'cluster', timeout_ms: 5_000 });
    expect([answer.status, answer.json().code]).toEqual([504, 'engine_timeout']);
    await noJobRuns();
  });

  test.each([
    ['SELECT l_prise FROM lineitem', 'UNRESOLVED_COLUMN', '42703', 7],
    ['SELECT n_name, count(*) AS c FROM nation', 'MISSING_GROUP_BY', '42803', undefined],
    ['SELECT upper(n_name, 1) AS u FROM nation', 'WRONG_NUM_ARGS', '42605', 7],
    ['SELECT n_nationkey / (n_nationkey - n_nationkey) AS q FROM nation', 'DIVIDE_BY_ZERO', '22012', 7],
    ['SELECT CAST(n_name AS INT) AS n FROM nation', 'CAST_INVALID_INPUT', '22018', 7],
    ['\n  SELECT CAST(n_name AS INT) AS n FROM nation', 'CAST_INVALID_INPUT', '22018', 10],
  ])("%s answers with Spark's own error class", async (sql, errorClass, sqlState, position) => {
    const answer = await door.post({ sql, engine: 'cluster' });
    const { code, error, position: found } = answer.json() as { code: string; error: string; position?: number };
    expect([answer.status, code]).toEqual([400, 'sql_error']);
    expect(error).toContain(errorClass);
    expect(error).toContain(sqlState);
    if (position !== undefined) expect(found).toBe(position);
    expect(answer.text).not.toMatch(/org\.apache|\.scala|\.java:|\\n\s*at |JVM stacktrace/);
  });

  test('a worker killed in mid-query changes no answer', async () => {
    const expected = await door.rows({ sql: longSql, engine: 'local' });
    await noJobRuns();
    const answered = door.rows({ sql: longSql, engine: 'cluster' });
    await aJobRuns();
    await cluster.workers[0].kill();
    expect(answerDifference(expected, await answered)).toBeUndefined();
    expect((await cluster.executors()).some(({ isActive }) => !isActive)).toBe(true);
  });

  test('a Connect server killed in mid-query is said so, and new queries run on the next', {
    timeout: 300_000,
  }, async () => {
    await noJobRuns();
    const underWay = door.post({ sql: endlessSql, engine: 'cluster' });
    await aJobRuns();
    await cluster.killConnectServer();
    const failed = await underWay;
    expect([failed.status, failed.json().code]).toEqual([502, 'engine_unreachable']);
    const refused = await door.post({ sql: 'SELECT count(*) AS n FROM nation', engine: 'cluster' });
    expect([refused.status, refused.json().code]).toEqual([502, 'engine_unreachable']);
    expect(refused.text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
    await cluster.restartConnectServer();
    expect((await door.rows({ sql: 'SELECT count(*) AS n FROM nation', engine: 'cluster' })).dataset).toEqual([[25]]);
  });
});
