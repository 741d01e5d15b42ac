import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { arrowField, arrowTable, endOfStream, schemaMessage } from '@framehold/arrow-ipc';
import { joinBytes } from '@framehold/columns';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rowsOf, SqlLab } from '../../../test/support/sql-lab.ts';
import { Cleanup } from '../../core/async/cleanup.ts';
import type { Query } from '../../core/sql/sql.ts';
import type { DuckDbSqlEngine } from './duckdb-sql-engine.ts';
import { WorkerPool } from './pool/worker-pool.ts';

const never = new AbortController().signal;

let lab: SqlLab;
let engine: DuckDbSqlEngine;
beforeAll(async () => {
  lab = await SqlLab.open();
  engine = lab.newEngine();
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await lab[Symbol.asyncDispose]();
});

async function analyzed(sql: string, on = engine): Promise<{ readonly query: Query }> {
  const statement = await on.analyze(sql, { signal: never });
  if (statement.kind !== 'query') throw new Error('not a query');
  return statement;
}

const endless = 'SELECT sum(a.range * b.range) FROM range(10_000_000) a, range(10_000_000) b';

describe('running', () => {
  test('a query reads the files of its tables', async () => {
    const t = await lab.frame('t', 'SELECT range AS n FROM range(10)');
    expect(await rowsOf(engine, 'SELECT sum(n) FROM t', { tables: [t] })).toEqual([['45']]);
  });

  test('a name means what the query says it means, each time', async () => {
    for (const n of [1, 2, 3]) {
      const t = await lab.frame('same', `SELECT ${n} AS n`);
      expect(await rowsOf(engine, 'SELECT n FROM same', { tables: [t] })).toEqual([[n]]);
    }
  });

  test('a worker that is expected to be needed is there before the first statement, and takes it', async () => {
    await using one = lab.newEngine({ workers: 2 });
    expect(one.pids).toEqual([]);
    one.expect();
    one.expect();
    const expected = one.pids;
    expect(expected).toHaveLength(1);
    expect(await rowsOf(one, 'SELECT 1')).toEqual([[1]]);
    expect(one.pids).toEqual(expected);
  });

  test('a statement that is asked again is computed again', async () => {
    await using one = lab.newEngine({ workers: 1 });
    const sql = 'SELECT now()::VARCHAR, random()::VARCHAR';
    const [first, second] = [await rowsOf(one, sql), await rowsOf(one, sql)].flat() as [string, string][];
    expect(second?.[0]).not.toBe(first?.[0]);
    expect(second?.[1]).not.toBe(first?.[1]);
  });

  test('a description is that of the version at hand, also where the text was described before', async () => {
    const statement = await engine.analyze('SELECT * FROM changing', { signal: never });
    if (statement.kind !== 'query') throw new Error('not a query');
    const { query } = statement;
    const names: string[][] = [];
    for (const sql of ['SELECT 1 AS a', 'SELECT 1 AS a', 'SELECT 1 AS a, 2 AS b']) {
      const tables = [await lab.frame('changing', sql)];
      const { columns } = await engine.describe({ query, tables }, { signal: never });
      names.push(columns.map((column) => column.name));
    }
    expect(names).toEqual([['a'], ['a'], ['a', 'b']]);
  });

  test('a result is an Arrow stream', async () => {
    const statement = await engine.analyze("SELECT range AS n, 'x' || range AS t FROM range(100_000)", {
      signal: never,
    });
    if (statement.kind !== 'query') throw new Error('not a query');
    await using result = await engine.run({ query: statement.query, tables: [], form: 'arrow' }, { signal: never });
    const pieces: Uint8Array[] = [];
    for await (const piece of result.arrowStream()) pieces.push(piece);
    const table = tableFromIPC(Buffer.concat(pieces));
    expect(table.numRows).toBe(100_000);
    expect(table.get(99_999)?.toJSON()).toEqual({ n: 99_999n, t: 'x99999' });
    expect(result.totalRows).toBe(100_000);
  });

  test('a sort larger than memory finishes, and leaves no file', async () => {
    const tempDirectory = join(lab.path, 'sort-spill');
    {
      await using small = lab.newEngine({ workers: 1, memoryBytes: 60_000_000, tempDirectory, timeoutMs: 60_000 });
      const sql =
        'SELECT max(h), count(*) FROM (SELECT hash(range) AS h, range FROM range(4_000_000) ORDER BY h OFFSET 1)';
      expect(await rowsOf(small, sql)).toMatchObject([[expect.any(String), 3_999_999]]);
    }
    expect(await readdir(tempDirectory)).toEqual([]);
  });

  test('a worker cannot spill more than it may', async () => {
    await using small = lab.newEngine({ workers: 1, memoryBytes: 60_000_000, maxTempBytes: 1_000_000 });
    const sql = 'SELECT max(t) FROM (SELECT md5(range::VARCHAR) AS t FROM range(4_000_000) ORDER BY t OFFSET 1)';
    await expect(rowsOf(small, sql)).rejects.toMatchObject({
      code: expect.stringMatching(/^(storage_full|sql_out_of_memory)$/),
    });
    expect(await rowsOf(small, 'SELECT 1')).toEqual([[1]]);
  });

  test('queries run side by side up to the number of workers', async () => {
    const slow = new AbortController();
    const hung = rowsOf(engine, endless, {}, slow.signal);
    hung.catch(() => {});
    expect(await rowsOf(engine, 'SELECT 2')).toEqual([[2]]);
    slow.abort();
    await expect(hung).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('values that a form cannot hold', () => {
  test.each([
    '340282366920938463463374607431768211455::UHUGEINT',
    '170141183460469231731687303715884105727::HUGEINT',
    '[340282366920938463463374607431768211455::UHUGEINT]',
    '(-100000000000000000000000000000000000000)::HUGEINT',
  ])('%s is no other number in Arrow, but an error', async (value) => {
    await expect(rowsOf(engine, `SELECT ${value} AS h`, { form: 'arrow' })).rejects.toMatchObject({
      code: 'unsupported_type',
    });
  });

  test('integers of 38 digits go through', async () => {
    const statement = await engine.analyze(`SELECT (10::HUGEINT ** 37)::HUGEINT * 9 AS h`, { signal: never });
    if (statement.kind !== 'query') throw new Error('not a query');
    await using result = await engine.run({ query: statement.query, tables: [], form: 'arrow' }, { signal: never });
    const pieces: Uint8Array[] = [];
    for await (const piece of result.arrowStream()) pieces.push(piece);
    expect(tableFromIPC(Buffer.concat(pieces)).numRows).toBe(1);
  });

  test('a time with a zone is given in UTC', async () => {
    expect(await rowsOf(engine, "SELECT '01:02:03+05'::TIMETZ AS t")).toEqual([['20:02:03.000000']]);
  });
});

describe('parameters', () => {
  test('the types of parameters are told where the statement tells them', async () => {
    const t = await lab.frame('typed', "SELECT 1::BIGINT AS n, DATE '2026-01-01' AS d, 'x' AS s");
    const statement = await engine.analyze('SELECT n FROM typed WHERE d > ? AND s = ?', { signal: never });
    if (statement.kind !== 'query') throw new Error('not a query');
    expect(await engine.describe({ query: statement.query, tables: [t] }, { signal: never })).toEqual({
      columns: [{ name: 'n', type: { kind: 'int', bits: 64, signed: true } }],
      parameters: [{ kind: 'date' }, { kind: 'utf8' }],
    });
  });

  test.each([
    ['SELECT ?, CAST(? AS BOOLEAN), ?, CAST(? AS DATE)', ['null', 'boolean', 'null', 'date']],
    ['SELECT count(*) FROM typed WHERE (? IS NULL OR s = ?) AND n > ?', ['null', 'utf8', 'int']],
    ['SELECT count(*) FROM typed WHERE ($2 IS NULL OR s = $1) AND n > $3 -- ?', ['utf8', 'null', 'int']],
    ['SELECT $Now, CAST($day AS DATE), CAST($now AS VARCHAR)', ['null', 'date']],
    ['SELECT ? + ?, CAST(? AS DOUBLE)', ['null', 'null', 'float']],
    ['SELECT 1 WHERE ?IS NULL AND 1.5::DOUBLE=?AND 2::BIGINT=?', ['null', 'float', 'int']],
    ['SELECT ? UNION ALL SELECT ?', ['null', 'null']],
    ['SELECT ?, CAST($2 AS DATE), CAST($3 AS DATE)', ['null', 'null', 'null']],
    ['WITH a AS (SELECT ? AS x) SELECT x FROM a UNION ALL SELECT ?', ['null', 'null']],
    ['SELECT 1.5::DECIMAL(3,1) > CAST(? AS NUMERIC(1)) AND TRY_CAST(? AS DECIMAL(4,2)) > 9.5', ['decimal', 'decimal']],
    ['SELECT 1.5::DECIMAL(3,1) > CAST($a AS DECIMAL(1,0)), CAST($a AS VARCHAR)', ['null']],
  ])('also beside one that it does not tell, and inside a CAST: %s', async (sql, kinds) => {
    const t = await lab.frame('typed', "SELECT 1::BIGINT AS n, DATE '2026-01-01' AS d, 'x' AS s");
    const { query } = await analyzed(sql);
    const { parameters } = await engine.describe({ query, tables: [t] }, { signal: never });
    expect(parameters.map(({ kind }) => kind)).toEqual(kinds);
  });

  test('a column whose type hangs on a parameter is described all the same', async () => {
    const statement = await engine.analyze('SELECT ? AS a, 1 AS b', { signal: never });
    if (statement.kind !== 'query') throw new Error('not a query');
    const { columns } = await engine.describe({ query: statement.query, tables: [] }, { signal: never });
    expect(columns.map((column) => column.name)).toEqual(['a', 'b']);
  });

  describe('of no rows', () => {
    const fields = [arrowField('1', { kind: 'int', bits: 32, signed: true })];

    test.each([
      ['a batch without rows', [schemaMessage(fields), arrowTable(fields, []), endOfStream]],
      ['no batch', [schemaMessage(fields), endOfStream]],
    ])('give the columns that were described, and no rows: %s', async (_, pieces) => {
      const parameters = joinBytes(pieces);
      const { query } = await analyzed('SELECT ?::INT AS v, 1.5::DOUBLE AS w');
      const job = { query, tables: [], parameters };
      const { columns } = await engine.describe(job, { signal: never });
      await using result = await engine.run({ ...job, form: 'ndjson' }, { signal: never });
      for await (const { rows } of result.rows()) expect(rows).toBe(0);
      expect(result.columns).toEqual(columns);
      expect(columns.map((column) => column.name)).toEqual(['v', 'w']);
      expect(result.totalRows).toBe(0);
    });
  });

  describe('with names', () => {
    const sql = 'SELECT $b AS b, $a AS a, $B AS again';

    /** A row of whole numbers under these names. */
    async function bind(values: readonly (readonly [string, number])[]): Promise<unknown> {
      const fields = values.map(([name]) => arrowField(name, { kind: 'int', bits: 32, signed: true }));
      const row = values.map(([, value]) => value);
      const parameters = joinBytes([schemaMessage(fields), arrowTable(fields, [row]), endOfStream]);
      const statement = await engine.analyze(sql, { signal: never });
      if (statement.kind !== 'query') throw new Error('not a query');
      const run = { query: statement.query, tables: [], form: 'ndjson', parameters } as const;
      await using result = await engine.run(run, { signal: never });
      let text = '';
      for await (const { bytes } of result.rows()) text += Buffer.from(bytes).toString();
      return JSON.parse(text);
    }

    test('are found by them, in any order and case', async () => {
      const rows = [
        ['A', 1],
        ['b', 2],
      ] as const;
      expect(await bind(rows)).toEqual({ b: 2, a: 1, again: 2 });
    });

    test.each([
      ['0', '1'],
      ['1', '2'],
      ['', ''],
    ])('are found by their order of use where the columns are called %j and %j', async (first, second) => {
      const rows = [
        [first, 1],
        [second, 2],
      ] as const;
      expect(await bind(rows)).toEqual({ b: 1, a: 2, again: 1 });
    });

    test('a name too few or too many is told', async () => {
      await expect(bind([['b', 1]])).rejects.toMatchObject({
        code: 'missing_parameter',
        message: 'parameter $a has no value',
      });
      const strange = [
        ['a', 1],
        ['bb', 2],
      ] as const;
      await expect(bind(strange)).rejects.toMatchObject({
        code: 'invalid_parameter',
        message: 'the statement has no parameter $bb; did you mean b?',
      });
    });

    test('are described', async () => {
      const statement = await engine.analyze("SELECT DATE '2026-01-01' > $d AS d, $x AS x", { signal: never });
      if (statement.kind !== 'query') throw new Error('not a query');
      const { columns, parameters } = await engine.describe({ query: statement.query, tables: [] }, { signal: never });
      expect(columns.map((column) => column.name)).toEqual(['d', 'x']);
      expect(parameters).toEqual([{ kind: 'date' }, { kind: 'null' }]);
    });
  });
});

describe('an INSERT of a PIVOT that does not list its values', () => {
  const hugeint = { kind: 'int', bits: 128, signed: true } as const;
  const into = (...names: string[]) => ({
    name: 't',
    columns: names.map((name) => ({ name, type: hugeint })),
    named: undefined,
  });

  async function pivot(on: DuckDbSqlEngine, using: string) {
    const trades = await lab.frame(
      'trades',
      "SELECT range AS id, ['buy', 'sell'][range % 2 + 1] AS side FROM range(5)",
    );
    const statement = await on.analyze(`INSERT INTO pv PIVOT trades ON side USING ${using}`, { signal: never });
    if (statement.kind !== 'insert') throw new Error('not an insert');
    return { query: statement.query, tables: [trades] };
  }

  test('is described as often as it is asked, and runs then, in the same worker', async () => {
    await using one = lab.newEngine({ workers: 1 });
    const job = { ...(await pivot(one, 'sum(id)')), into: into('buy', 'sell') };
    for (let n = 0; n < 3; n++) {
      expect(await one.describe(job, { signal: never })).toEqual({ columns: job.into.columns, parameters: [] });
      await using result = await one.run({ ...job, form: 'ndjson' }, { signal: never });
      let text = '';
      for await (const { bytes } of result.rows()) text += Buffer.from(bytes).toString();
      expect(JSON.parse(text)).toEqual({ buy: '6', sell: '4' });
    }
  });

  test.each([
    ['when it is planned', 'sum(id)', into('buy')],
    ['when it runs', "max('x' || id)", into('buy', 'sell')],
  ])('leaves nothing open where it fails %s', async (_, using, misfit) => {
    await using one = lab.newEngine({ workers: 1 });
    const job = { ...(await pivot(one, using)), into: misfit };
    for (let n = 0; n < 2; n++) {
      await expect(one.run({ ...job, form: 'ndjson' }, { signal: never })).rejects.toMatchObject({ code: 'sql_error' });
      expect(await rowsOf(one, 'SELECT 1')).toEqual([[1]]);
    }
  });
});

describe('a statement in trouble', () => {
  test('one past its time is stopped, and the next one runs', async () => {
    await using one = lab.newEngine({ workers: 1, timeoutMs: 500 });
    await rowsOf(one, 'SELECT 1');
    await expect(rowsOf(one, endless)).rejects.toMatchObject({ code: 'sql_timeout' });
    expect(await rowsOf(one, 'SELECT 1')).toEqual([[1]]);
  });

  test('the time that a reader takes is not counted', async () => {
    await using one = lab.newEngine({ workers: 1, timeoutMs: 3000 });
    const statement = await one.analyze('SELECT range FROM range(3_000_000)', { signal: never });
    if (statement.kind !== 'query') throw new Error('not a query');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      await using result = await one.run({ query: statement.query, tables: [], form: 'arrow' }, { signal: never });
      let read = 0;
      for await (const piece of result.rows()) {
        if (read === 0) vi.advanceTimersByTime(3500);
        read += piece.rows;
      }
      expect(read).toBe(3_000_000);
    } finally {
      vi.useRealTimers();
    }
  });

  test('those whose readers take nothing keep no other from running', async () => {
    await using one = lab.newEngine({ workers: 1, timeoutMs: 3000 });
    const statement = await one.analyze('SELECT range FROM range(30_000_000)', { signal: never });
    if (statement.kind !== 'query') throw new Error('not a query');
    const run = { query: statement.query, tables: [], form: 'arrow' } as const;
    await using results = new Cleanup();
    const paused: AsyncIterator<unknown>[] = [];
    for (let n = 0; n < 2; n++) {
      const result = results.use(await one.run(run, { signal: never }));
      const pieces = result.rows()[Symbol.asyncIterator]();
      await pieces.next();
      paused.push(pieces);
    }
    expect(await rowsOf(one, 'SELECT 1')).toEqual([[1]]);
    for (const pieces of paused) expect((await pieces.next()).done).toBe(false);
  });

  test.each([
    ['a memory bomb', 'SELECT len(list_transform(range(200_000_000), x -> x + 1))'],
    ['a join without condition', 'SELECT list(a.range) FROM range(100_000) a, range(100_000) b'],
  ])('%s is an error, and the next statement runs', async (_name, sql) => {
    await using one = lab.newEngine({ workers: 1, timeoutMs: 2000, maxTempBytes: 100_000_000 });
    await expect(rowsOf(one, sql)).rejects.toMatchObject({
      code: expect.stringMatching(/^(sql_out_of_memory|sql_timeout|engine_crashed|storage_full)$/),
    });
    expect(await rowsOf(one, 'SELECT 1')).toEqual([[1]]);
  });

  test('texts of more memory than a worker has are told as such', async () => {
    // With a worker's memory beyond it, less than the 2 GiB that a column's texts may take.
    await using one = lab.newEngine({ workers: 1, memoryBytes: 50_000_000 });
    await expect(rowsOf(one, "SELECT repeat('x', 1_100_000) FROM range(2048)")).rejects.toMatchObject({
      code: 'sql_out_of_memory',
    });
    expect(await rowsOf(one, 'SELECT 1')).toEqual([[1]]);
  });

  test('a worker that dies costs its statement an error and nothing else', async () => {
    await using one = lab.newEngine({ workers: 1 });
    await rowsOf(one, 'SELECT 1');
    const doomed = rowsOf(one, endless);
    const [pid] = one.pids;
    process.kill(pid as number, 'SIGKILL');
    await expect(doomed).rejects.toMatchObject({ code: 'engine_crashed' });
    expect(await rowsOf(one, 'SELECT 1')).toEqual([[1]]);
  });

  test('a result that is left with all of it on the way does not cost the worker its life', async () => {
    await using one = lab.newEngine({ workers: 1 });
    const { query } = await analyzed('SELECT 1', one);
    const { query: long } = await analyzed('SELECT count(*) FROM range(20_000_000) t(a) WHERE a % 7 = 3', one);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const result = await one.run({ query, tables: [], form: 'arrow' }, { signal: never });
      await result[Symbol.asyncDispose]();
      const [pid] = one.pids;
      const rows = rowsOf(one, long.sql);
      // More than a job that was cancelled may take to stop.
      await vi.advanceTimersByTimeAsync(2000);
      expect((await rows).length).toBe(1);
      expect(one.pids).toEqual([pid]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('a reader that leaves early frees the worker', async () => {
    await using one = lab.newEngine({ workers: 1 });
    const statement = await one.analyze('SELECT range FROM range(1_000_000_000)', { signal: never });
    if (statement.kind !== 'query') throw new Error('not a query');
    {
      await using result = await one.run({ query: statement.query, tables: [], form: 'arrow' }, { signal: never });
      for await (const _ of result.rows()) break;
    }
    expect(await rowsOf(one, 'SELECT 1')).toEqual([[1]]);
  });
});

describe('what a worker cannot do, even if its text were not checked', () => {
  test.runIf(process.platform === 'linux')('write anywhere but in its spill directory', async () => {
    const t = await lab.frame('kept', 'SELECT 1 AS n');
    await rowsOf(engine, 'SELECT n FROM kept', { tables: [t] });
    const [pid] = engine.pids;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/NoNewPrivs:\s+1/);
  });
});

describe('the gate', () => {
  const run = { tables: [], form: 'exec-json' } as const;
  const plain = (sql: string): Query => ({ sql, tables: [], parameterCount: 0 });

  test('is passed once by a statement, whichever workers describe and run it', async () => {
    const pool = vi.spyOn(WorkerPool.prototype, 'run');
    try {
      await using two = lab.newEngine({ workers: 2 });
      const sql = 'INSERT INTO t SELECT 7 AS n';
      const statement = await two.analyze(sql, { signal: never });
      if (statement.kind !== 'insert') throw new Error('not an insert');
      const { query } = statement;
      await two.describe({ query, tables: [] }, { signal: never });
      await using first = await two.run({ ...run, query }, { signal: never });
      await using second = await two.run({ ...run, query }, { signal: never });
      expect([first.columns, second.columns]).toMatchObject([[{ name: 'n' }], [{ name: 'n' }]]);
      expect(await two.analyze(sql, { signal: never })).toBe(statement);
      expect(pool.mock.calls.map(([{ kind }]) => kind)).toEqual(['analyze', 'describe', 'query', 'query']);
    } finally {
      pool.mockRestore();
    }
  });

  test.each([
    ['a query that was never analysed', async () => plain("SELECT * FROM read_csv('/etc/passwd')")],
    [
      'one whose text is another than the analysed',
      async () => ({ ...(await analyzed('SELECT 1')).query, sql: 'CALL x()' }),
    ],
  ])('refuses %s', async (_, forged) => {
    const query = await forged();
    await expect(engine.run({ ...run, query }, { signal: never })).rejects.toMatchObject({ code: 'sql_forbidden' });
    const described = engine.describe({ query, tables: [] }, { signal: never });
    await expect(described).rejects.toMatchObject({ code: 'sql_forbidden' });
  });

  test.each(['SHOW TABLES', 'DROP TABLE t', 'SELECT 1;', ' SELECT 1', 'CREATE TABLE t AS SELECT 1'])(
    'runs no query of ours that is more than a query: %j',
    async (sql) => {
      const ran = engine.run({ ...run, query: plain(sql) }, { signal: never });
      await expect(ran).rejects.toThrow('only a query can be run');
    },
  );
});

test('a statement that was let in to be analysed is not refused when it is to run', async () => {
  await using busy = lab.newEngine({ workers: 1, maxQueue: 1 });
  const endless =
    'SELECT count(*) AS n FROM range(1_000_000_000) a, range(1_000_000) b WHERE (a.range * b.range) % 7 = 3';
  const first = await busy.analyze(endless, { signal: never });
  const second = await busy.analyze('SELECT 42 AS n', { signal: never });
  if (first.kind !== 'query' || second.kind !== 'query') throw new Error('both are queries');
  const run = { tables: [], form: 'exec-json' } as const;
  const stop = new AbortController();
  const running = busy.run({ ...run, query: first.query }, { signal: stop.signal });
  const waiting = busy.analyze('SELECT 43 AS n', { signal: never });
  const letIn = busy.run({ ...run, query: second.query }, { signal: never });
  const another = busy.run({ ...run, query: second.query }, { signal: never });
  await expect(another).rejects.toMatchObject({ code: 'overloaded' });
  stop.abort();
  await expect(running).rejects.toThrow();
  await waiting;
  await using result = await letIn;
  expect(result.columns).toMatchObject([{ name: 'n' }]);
});
