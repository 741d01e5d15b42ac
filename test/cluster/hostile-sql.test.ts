import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { type ClusterSecrets, hostileSparkSql } from '../support/hostile-spark-sql.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { needed } from '../support/missing.ts';
import { sparkEngine, unstopped } from '../support/spark-engine.ts';
import { sized } from '../support/suite-size.ts';
import { growingSql, largestRead } from '../support/tall-spark-sql.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { clusterVenv, needJava } from './support/cluster-venv.ts';
import { type EngineDoor, openEngineDoor } from './support/engine-door.ts';
import { type LocalSpark, startLocalSpark } from './support/local-spark.ts';
import { type Sail, startSail } from './support/sail.ts';

const venv = await needed('Spark', async () => {
  await needJava();
  return clusterVenv();
});

const token = 'k7token0of0the0cluster';
const inTable = 'k7cell0of0a0table';
const inEnvironment = 'k7value0of0a0variable';
const inFile = 'k7line0of0a0file';
const secret = /k7(?:token|cell|value|line)0/;

/** A schema as JSON, with SQL that Spark would run. */
function defaultOf(sql: string): string {
  const field = { name: 'a', type: 'string', nullable: true, metadata: { EXISTS_DEFAULT: sql } };
  return JSON.stringify({ type: 'struct', fields: [field] });
}

const grownOnSpark = [
  'a window',
  'names of WITH used twice',
  'subqueries joined by AND',
  'CUBE',
  'a column used three times',
  'array_insert',
];

/** Several at once, as from several clients. */
async function inTurns<T>(items: readonly T[], act: (item: T, index: number) => Promise<void>): Promise<void> {
  const waiting = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) await act(item, index);
  };
  await Promise.all([work(), work(), work()]);
}

/** By one door after the other. */
function send(door: EngineDoor, sql: string, index: number): Promise<Answer> {
  if (index % 3 === 0 && sql.length < 4000 && !sql.includes('\0')) {
    const query = new URLSearchParams({ query: sql, engine: 'cluster', fmt: 'json' });
    return ask(`${door.server.url}/exec?${query}`);
  }
  const params = sql.includes(':p') ? { p: secretsOf('').table } : undefined;
  return door.post({ sql, engine: 'cluster', timeout_ms: 30_000, ...(params && { params }) });
}

const secretsOf = (file: string): ClusterSecrets => ({ table: 'secrets', variable: 'K7_SECRET', file });

async function openWithFrame(engineUrl: string): Promise<EngineDoor> {
  const door = await openEngineDoor({ engineUrl });
  await door.rows({ sql: 'CREATE TABLE ids AS SELECT range AS id FROM range(10)', engine: 'local' });
  return door;
}

describe.skipIf(venv === undefined)('hostile SQL on a cluster', { timeout: 240_000 }, () => {
  const cleanup = new Cleanup();
  let file = '';
  beforeAll(async () => {
    file = join(cleanup.use(await temporaryDirectory()).path, 'secret.txt');
    await writeFile(file, `${inFile}\n`);
  });
  afterAll(async () => {
    await cleanup[Symbol.asyncDispose]();
  });

  describe('Spark', () => {
    let spark: LocalSpark;
    let door: EngineDoor;
    beforeAll(async () => {
      spark = cleanup.use(await startLocalSpark({ token, env: { K7_SECRET: inEnvironment } }));
      await spark.raw(`CREATE TABLE secrets USING parquet AS SELECT '${inTable}' AS secret`);
      door = cleanup.use(await openWithFrame(spark.url));
    }, 240_000);

    test('tells its secrets to whoever sends it text unchecked', async () => {
      const variable = (name: string): string => `SELECT '$\x7benv:${name}}' AS a`;
      expect((await spark.raw(variable('SPARK_CONNECT_AUTHENTICATE_TOKEN'))).toString('latin1')).toContain(token);
      expect((await spark.raw(variable('K7_SECRET'))).toString('latin1')).toContain(inEnvironment);
      expect((await spark.raw('SELECT * FROM secrets')).toString('latin1')).toContain(inTable);
      expect((await spark.raw(`SELECT * FROM text.\`${file}\``)).toString('latin1')).toContain(inFile);
    });

    test('tells none of them to callers, and lives', async () => {
      const statements = hostileSparkSql(secretsOf(file), { every: sized(8, 1) });
      let accepted = 0;
      await inTurns(statements, async (sql, index) => {
        const { status, text } = await send(door, sql, index);
        expect(text, sql).not.toMatch(secret);
        expect(status, `${sql}\n${text}`).toBeLessThan(500);
        if (status === 200) accepted += 1;
      });
      expect(accepted).toBeGreaterThan(25);
      for (const handle of ['taken', 'stolen']) {
        expect((await ask(`${door.server.url}/exec?handle=${handle}&fmt=json`)).text).not.toMatch(secret);
      }
      expect((await door.rows({ sql: 'SELECT count(*) AS n FROM ids', engine: 'cluster' })).dataset).toEqual([[10]]);
      expect((await spark.raw('SELECT * FROM secrets')).toString('latin1')).toContain(inTable);
    });

    test.each(['secrets', 'default.secrets'])(
      'finds no table of its own even where a statement is not checked: %s',
      async (table) => {
        await using engine = sparkEngine({ url: spark.url });
        const query = { sql: `SELECT * FROM ${table}`, tables: [], parameterCount: 0 };
        const running = engine.sql.run({ query, tables: [], form: 'arrow' }, unstopped);
        await expect(running).rejects.toMatchObject({ message: expect.stringContaining('CATALOG_NOT_FOUND') });
      },
    );

    test.each([
      ['SELECT 1 AS `5is`, *, ?is distinct from secrets', [5]],
      ['SELECT 1 AS `trueis`, *, ?is distinct from secrets', [true]],
      ['SELECT 1 AS a, ?from secrets', [1]],
      ['SELECT secret, ?from secrets', [1]],
      [`SELECT from_json('{"b":1}', ?) AS a`, [defaultOf('current_user()')]],
      [`SELECT from_json('{"b":1}', '${defaultOf('current_user()')}') AS a`, []],
      [`SELECT from_csv('1', ?) AS a`, [defaultOf('current_user()')]],
      [
        `SELECT from_json('{"b":1}', concat(?, ?)) AS a`,
        [defaultOf('user()').slice(0, 30), defaultOf('user()').slice(30)],
      ],
      [
        'SELECT max(id) OVER w FROM range(1) WINDOW w AS (PARTITION BY raise_error((SELECT max(secret) FROM secrets)))',
        [],
      ],
      [
        "WITH secrets AS (SELECT 'mine' AS secret) SELECT max(id) OVER w FROM range(1) WINDOW w AS (PARTITION BY raise_error((SELECT max(secret) FROM secrets)))",
        [],
      ],
      [
        "WITH secrets AS (SELECT 'mine' AS secret) SELECT max(id) OVER w FROM range(1) ORDER BY 1 WINDOW w AS (ORDER BY ascii((SELECT max(secret) FROM secrets)))",
        [],
      ],
    ])('tells nothing to %s', async (sql, params) => {
      const answer = await door.post({ sql, params, engine: 'cluster' });
      expect(answer.text).not.toMatch(secret);
      expect([400, 403]).toContain(answer.status);
    });

    test.each([
      ['SELECT id FROM range(10) WHERE id >= 3-? AND id < 6 ORDER BY id', [-2], [[5]]],
      ['SELECT id FROM range(10) WHERE id >= 3-:d AND id < 6 ORDER BY id', { d: -2 }, [[5]]],
      ['SELECT 1-? AS a, 10-? AS b', [-5, -1.5], [[6, 11.5]]],
      ['SELECT count(*) AS n FROM (SELECT id FROM range(10) limit?) x', [2], [[2]]],
      ['SELECT count(*) AS n FROM (SELECT id FROM range(10) offset?) x', [8], [[2]]],
      ['SELECT 7 div?as a', [2], [[3]]],
      ['SELECT id between?and? AS b FROM range(3) ORDER BY id', [1, 5], [[false], [true], [true]]],
      ['SELECT ?::string AS a, -?::int AS b', [-5, -5], [['-5', 5]]],
    ])('keeps a parameter apart from the words beside it: %s', async (sql, params, dataset) => {
      expect((await door.rows({ sql, params, engine: 'cluster' })).dataset).toEqual(dataset);
    });

    test.each([
      ["SELECT 'costs $\x7bprice}' AS v", 'costs $\x7bprice}'],
      ["SELECT '\\$\x7bx} \\\\ it''s \"x\" -- /* `' AS v", '$\x7bx} \\ it\'s "x" -- /* `'],
      ["SELECT r'\\d$\x7bx}' AS v", '\\d$\x7bx}'],
    ])('gives back a text as it is: %s', async (sql, text) => {
      expect((await door.rows({ sql, engine: 'cluster' })).dataset).toEqual([[text]]);
    });

    test('gives back a parameter as it is', async () => {
      const piece = fc.constantFrom(
        "'",
        '"',
        '`',
        '\\',
        '$',
        '{',
        '}',
        '--',
        '/*',
        '*/',
        'u0027',
        '\n',
        '0',
        '%',
        'é',
        '😀',
        ' ',
      );
      const value = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
      const values = fc.array(value, { minLength: 20, maxLength: 40 });
      const sql = (count: number): string => `SELECT ${new Array(count).fill('?').join(', ')}`;
      await fc.assert(
        fc.asyncProperty(values, async (params) => {
          const answer = await door.rows({ sql: sql(params.length), params, engine: 'cluster' });
          expect(answer.dataset).toEqual([params]);
        }),
        { numRuns: 5, examples: [[["$\x7benv:K7_SECRET}' AS a, \\' (SELECT secret FROM secrets) --"]]] },
      );
    });

    test('goes on where many statements wait for their subqueries at once', async () => {
      const nested = (levels: number): string => {
        let sql = 'SELECT max(id) AS a FROM range(3)';
        for (let level = 0; level < levels; level++) sql = `SELECT max(id) + (${sql}) AS a FROM range(3)`;
        return sql;
      };
      const answers = await Promise.all(
        [15, 6, 6, 6, 6, 5, 4, 2].map((levels) => door.post({ sql: nested(levels), engine: 'cluster' })),
      );
      expect(answers.map(({ status }) => status)).toEqual(new Array(8).fill(200));
    });

    // One of each way to grow: at 20 levels Spark takes a core for up to half a minute to plan one. Sail plans half of them.
    test.concurrent.each(Object.entries(growingSql).filter(([name]) => grownOnSpark.includes(name)))(
      'plans a large statement that is accepted: %s',
      async (_, of) => {
        const answer = await door.post({
          sql: of(largestRead(of, 'spark', sized(15, 20))),
          engine: 'cluster',
          timeout_ms: 110_000,
        });
        expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(500);
      },
    );
  });

  describe('Sail', () => {
    let sail: Sail;
    let door: EngineDoor;
    beforeAll(async () => {
      sail = cleanup.use(await startSail());
      door = cleanup.use(await openWithFrame(sail.url));
    });

    test('tells nothing of its machine, and lives', async () => {
      const { pid } = sail;
      await inTurns(hostileSparkSql(secretsOf(file), { every: sized(8, 1) }), async (sql, index) => {
        const { status, text } = await send(door, sql, index);
        expect(text, sql).not.toMatch(secret);
        expect(status, `${sql}\n${text}`).toBeLessThan(500);
      });
      expect((await door.rows({ sql: 'SELECT count(*) AS n FROM ids', engine: 'cluster' })).dataset).toEqual([[10]]);
      expect(sail.pid).toBe(pid);
    });

    const every = sized(2, 1);
    const shapes = Object.entries(growingSql).filter(([name], at) => at % every === 0 || grownOnSpark.includes(name));
    test.each(shapes)('lives through the largest statement that is accepted: %s', async (_, of) => {
      const answer = await door.post({ sql: of(largestRead(of, 'sail')), engine: 'cluster', timeout_ms: 110_000 });
      expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(500);
      expect((await door.rows({ sql: 'SELECT 1 AS a', engine: 'cluster' })).dataset).toEqual([[1]]);
    });
  });
});
