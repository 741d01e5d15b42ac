import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Session } from '@framehold/duckdb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anonymous } from '../../src/auth/identify.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'sql.timeout': '20s' } });
  await putSql(server.frames, 'ids', 'SELECT range AS id FROM range(5000)');
  await putSql(
    server.frames,
    'trades',
    "SELECT range AS id, 'S' || range % 3 AS symbol, range / 4.0 AS price FROM range(100_000)",
  );
  await putSql(server.frames, 'quoted.v1-x', 'SELECT 7 AS n');
  await putSql(server.frames, 'Mixed', 'SELECT 1 AS n');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function query(sql: string, parameters: Record<string, string> = {}, at = server): Promise<Answer> {
  const search = new URLSearchParams({ query: sql, fmt: 'json', engine: 'local', ...parameters });
  return ask(`${at.url}/exec?${search}`);
}

const dataset = async (sql: string, parameters = {}): Promise<unknown> => (await query(sql, parameters)).json().dataset;

describe('GET /exec?query=…&engine=local', () => {
  test("answers in QuestDB's shape", async () => {
    const answer = await query('SELECT id, id * 2 AS twice FROM ids LIMIT 2');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.text).toBe(
      '{"query":"SELECT id, id * 2 AS twice FROM ids LIMIT 2","columns":[{"name":"id","type":"LONG"},{"name":"twice","type":"LONG"}],"timestamp":-1,"dataset":[[0,0],[1,2]],"count":2,"engine":"local","engine_reason":"named by the caller"}',
    );
  });

  test('a number beyond all doubles is infinite, as in DuckDB', async () => {
    expect(await dataset("SELECT 1e400 > 1e308, 'Infinity NaN'")).toEqual([[true, 'Infinity NaN']]);
  });

  test('gives all rows unless a limit is given, in the order of the frame', async () => {
    const answer = (await query('SELECT id FROM ids')).json();
    expect(answer).toMatchObject({ count: 5000 });
    expect(answer.dataset).toEqual(Array.from({ length: 5000 }, (_, id) => [id]));
  });

  test.each([
    ['3', [[0], [1], [2]]],
    ['2,4', [[1], [2], [3]]],
    ['4999,', [[4998], [4999]]],
    ['0', []],
  ])('limit=%s gives these rows', async (limit, rows) => {
    const answer = (await query('SELECT id FROM ids', { limit })).json();
    expect(answer).toMatchObject({ dataset: rows, count: rows.length });
  });

  test('count=true counts the whole result', async () => {
    expect((await query('SELECT id FROM ids', { limit: '2', count: 'true' })).json()).toMatchObject({
      dataset: [[0], [1]],
      count: 5000,
    });
  });

  test('nm=true leaves the metadata out', async () => {
    expect((await query('SELECT 1 AS a', { nm: 'true' })).text).toBe('{"dataset":[[1]],"count":1}');
  });

  test('timings=true and explain=true add their objects', async () => {
    const answer = (await query('SELECT 1 AS a', { timings: 'true', explain: 'true' })).json();
    const own = ['query', 'columns', 'timestamp', 'dataset', 'count', 'timings', 'explain'];
    expect(Object.keys(answer)).toEqual([...own, 'engine', 'engine_reason']);
    expect(answer.timings).toMatchObject({ compiler: expect.any(Number), execute: expect.any(Number) });
    expect(answer.explain).toEqual({ jitCompiled: false, engine: 'local', engine_reason: 'named by the caller' });
  });

  test('quoteLargeNum=true writes LONG as text', async () => {
    expect(await dataset('SELECT 9007199254740993::BIGINT AS a, 1::INT AS b', { quoteLargeNum: 'true' })).toEqual([
      ['9007199254740993', 1],
    ]);
  });

  test('cols chooses and orders columns', async () => {
    const answer = (await query('SELECT 1 AS a, 2 AS "b,c", 3 AS d', { cols: 'd,"b,c"' })).json();
    expect(answer).toMatchObject({ columns: [{ name: 'd' }, { name: 'b,c' }], dataset: [[3, 2]] });
  });

  test('cols with a name that is not there says so', async () => {
    const answer = await query('SELECT 1 AS a', { cols: 'b' });
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_parameter', error: 'the result has no column "b"' });
  });

  test('an empty result has its columns', async () => {
    expect((await query('SELECT id FROM ids WHERE id < 0')).json()).toMatchObject({
      columns: [{ name: 'id', type: 'LONG' }],
      dataset: [],
      count: 0,
    });
  });

  test('names frames with or without schema and catalog, quoted where they must be, in any case', async () => {
    for (const name of [
      '"quoted.v1-x"',
      'frames."quoted.v1-x"',
      'framehold.frames."quoted.v1-x"',
      'FRAMES."Quoted.V1-X"',
    ]) {
      expect(await dataset(`SELECT n FROM ${name}`)).toEqual([[7]]);
    }
    expect(await dataset('SELECT n FROM mixed')).toEqual([[1]]);
  });

  test('joins, windows, lists, ASOF joins and PIVOT work', async () => {
    expect(
      await dataset(
        'SELECT symbol, count(*) AS n, sum(t.id) FROM trades t JOIN ids i ON t.id = i.id GROUP BY symbol ORDER BY symbol',
      ),
    ).toEqual([
      ['S0', 1667, '4165833'],
      ['S1', 1667, '4167500'],
      ['S2', 1666, '4164167'],
    ]);
    expect(await dataset('SELECT id, lag(id) OVER (ORDER BY id) FROM ids ORDER BY id LIMIT 2')).toEqual([
      [0, null],
      [1, 0],
    ]);
    expect(await dataset("SELECT list_transform([1, 2], x -> x + 1) AS l, {'a': 1} AS s")).toEqual([
      [[2, 3], { a: 1 }],
    ]);
    expect(await dataset('SELECT t.id, i.id FROM trades t ASOF JOIN ids i ON t.id >= i.id WHERE t.id = 99999')).toEqual(
      [[99999, 4999]],
    );
    expect(await dataset('PIVOT (SELECT symbol, id FROM trades WHERE id < 3) ON symbol USING sum(id)')).toEqual([
      ['0', '1', '2'],
    ]);
  });

  test.each([
    ['FROM (PIVOT few ON symbol USING sum(id))', [['0', '1', '2']]],
    ['WITH p AS (PIVOT few ON symbol USING sum(id)) SELECT COLUMNS(*) + 1 FROM p', [['1', '2', '3']]],
    ['SELECT count(*) FROM (PIVOT (PIVOT few ON symbol USING sum(id)) ON s1 USING count(*))', [[1]]],
    [
      'SELECT column_type FROM (DESCRIBE PIVOT few ON symbol USING max(bitstring(id::VARCHAR, 2)))',
      [['BIT'], ['BIT'], ['BIT']],
    ],
    ['SELECT * FROM (PIVOT few ON symbol USING max((id % 2)::VARCHAR::BIT))', [['0', '1', '0']]],
  ])('a PIVOT finds its values anywhere in a statement: %s', async (sql, expected) => {
    const few = "(SELECT 's' || id AS symbol, id FROM trades WHERE id < 3)";
    expect(await dataset(sql.replace('few', few))).toEqual(expected);
  });

  test.each([
    ['SELECT sum(count) FROM histogram_values(ids, id, bin_count := 4)', [['5000']]],
    [
      'FROM histogram_values(frames.ids, id % 2)',
      [
        [0, '2500'],
        [1, '2500'],
      ],
    ],
    ['WITH few AS (FROM ids LIMIT 3) SELECT sum(count) FROM histogram(few, id)', [['3']]],
    ['SELECT summary FROM summary((SELECT id FROM ids LIMIT 1))', [['[0]']]],
  ])('a function of a table reads the frame of that name: %s', async (sql, expected) => {
    expect(await dataset(sql)).toEqual(expected);
  });

  test('a function of a table reads no frame that is not there', async () => {
    expect((await query('FROM histogram(idz, id)')).json()).toMatchObject({ code: 'sql_error', position: 15 });
  });

  test('json_structure takes JSON of moderate depth, and more of it harms nobody', async () => {
    const values = `FROM (VALUES ('{"a[":[1]}'::JSON), (NULL), ('{"b":"[["}')) v(j)`;
    expect(await dataset(`SELECT json_structure(j) ${values}`)).toEqual([
      [{ 'a[': ['UBIGINT'] }],
      [null],
      [{ b: 'VARCHAR' }],
    ]);
    expect(await dataset(`SELECT json_group_structure(j) ${values}`)).toEqual([[{ 'a[': ['UBIGINT'], b: 'VARCHAR' }]]);
    const levels = (count: number): string => `repeat('[', ${count}) || repeat(']', ${count})`;
    expect(await dataset(`SELECT json_structure(${levels(64)}) IS NULL`)).toEqual([[false]]);
    for (const sql of [
      `SELECT json_structure(${levels(65)})`,
      `SELECT json_structure(j) FROM (SELECT ${levels(100_000)} AS j)`,
      `SELECT json_group_structure((${levels(100_000)})::JSON)`,
    ]) {
      const answer = await query(sql);
      expect(answer.json()).toMatchObject({ code: 'sql_error', error: expect.stringContaining('64 levels') });
    }
    expect((await query("SELECT json_structure('{')")).json()).toMatchObject({ code: 'sql_error' });
  });

  test('SHOW TABLES, DESCRIBE and SUMMARIZE are answered', async () => {
    expect(await dataset('SHOW TABLES')).toEqual([['Mixed'], ['ids'], ['quoted.v1-x'], ['trades']]);
    expect(await dataset('DESCRIBE ids')).toEqual([['id', 'BIGINT', 'YES', null, null, null]]);
    const [summary] = (await dataset('SUMMARIZE ids')) as unknown[][];
    expect(summary?.slice(0, 4)).toEqual(['id', 'BIGINT', '0', '4999']);
  });
});

test("the operator's database is read as analytics, joined with frames, and free for its owner between queries", async () => {
  await using directory = await temporaryDirectory();
  const own = new Session({ threads: 1, memoryBytes: 1e8, tempDirectory: directory.path, maxTempBytes: 0 }).connect();
  const file = join(directory.path, 'analytics.duckdb');
  await own.run(`ATTACH '${file}' AS mine`);
  await own.run("CREATE TABLE mine.main.instruments AS SELECT 'S' || range AS symbol, range AS tick FROM range(3)");
  await own.run('DETACH mine');
  await using framehold = await startFramehold({ dataDir: directory.path });
  await putSql(framehold.frames, 'trades', "SELECT 'S' || range % 3 AS symbol FROM range(9)");
  const sql =
    'SELECT symbol, tick, count(*) FROM trades JOIN analytics.main.instruments USING (symbol) GROUP BY ALL ORDER BY 1';
  const rows = [
    ['S0', 0, 3],
    ['S1', 1, 3],
    ['S2', 2, 3],
  ];
  expect((await query(sql, {}, framehold)).json().dataset).toEqual(rows);
  const view = await ask(`${framehold.url}/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql: `CREATE VIEW ticks AS ${sql}` }),
  });
  expect(view.status, view.text).toBe(200);
  expect((await query('FROM ticks', {}, framehold)).json().dataset).toEqual(rows);
  await own.run(`ATTACH '${file}' AS mine`);
  await own.run('UPDATE mine.main.instruments SET tick = 10 WHERE tick = 0');
  expect((await query(sql, {}, framehold)).json()).toMatchObject({
    code: 'sql_error',
    error: 'the database analytics cannot be opened now',
  });
  await own.run('DETACH mine');
  expect((await query('SELECT max(tick) FROM analytics.instruments', {}, framehold)).json().dataset).toEqual([[10]]);
  expect((await query('SELECT max(tick) FROM ticks', {}, framehold)).json().dataset).toEqual([[10]]);
});

test('a table that the operator’s database does not have is not taken for a file', async () => {
  for (const table of [
    'analytics.csv',
    'analytics.main.json',
    'analytics."x/../a.parquet"',
    'analytics.main."*.csv"',
  ]) {
    const answer = await query(`SELECT * FROM ${table}`);
    expect(answer.json()).toMatchObject({ code: 'sql_error', error: `table ${table} not found` });
  }
});

describe('what is wrong is said', () => {
  test.each([
    ['SELECT prise FROM trades', /"prise" not found/, /"price"/],
    ['SELECT t.prise FROM trades t', /"prise" not found/, /price/],
    ['SELECT * FROM tradez', /"tradez" not found; did you mean "trades"\?/, /SHOW TABLES/],
    ['SELEC 1', /syntax error/, undefined],
    ['', /empty/, undefined],
    ["SELECT 'x'::INT", /could not convert string 'x' to INT32/i, undefined],
    ['SELECT 1; SELECT 2', /one statement/, undefined],
  ])('%s', async (sql, message, more) => {
    const answer = await query(sql);
    expect(answer.status).toBe(400);
    const { code, error, hint } = answer.json();
    expect(code).toBe('sql_error');
    expect(error).toMatch(message);
    if (more !== undefined) expect(`${error} ${hint}`).toMatch(more);
    expect(answer.text).not.toContain(server.dataDir);
  });

  test.each([
    ['SELECT id,\n       prise FROM trades', 'prise'],
    ['\n  /* é𝄞 */ SELECT prise FROM trades', 'prise'],
    ['\n EXPLAIN SELECT prise FROM trades', 'prise'],
    ["\n SELECT 'é𝄞', \u00a0 prise FROM trades", 'prise'],
    ['SELECT * FROM trades JOIN tradez USING (id)', 'tradez'],
    ["\n SELECT 'é𝄞' FROM trades, frames.tradez, tradez AS again", 'frames.tradez'],
    ['  EXPLAIN SELECT * FROM "tradez"', '"tradez"'],
    ['  PIVOT tradez ON side USING sum(price)', 'tradez'],
    ['PIVOT trades ON side, id USING sum(price) ORDER BY (SELECT 1 FROM tradez)', 'tradez'],
    ['PIVOT trades ON side USING sum(price) ORDER BY (SELECT 1 FROM tradez)', 'tradez'],
    ['  SELECT * FROM analytics.tradez', 'analytics.tradez'],
    ['SELECT 1 WHERE EXISTS (WITH trades AS (FROM tradez) FROM trades)', 'tradez'],
  ])('an error of %j has the position of %s', async (sql, place) => {
    expect((await query(sql)).json()).toMatchObject({ code: 'sql_error', position: sql.indexOf(place) });
  });

  test('a text that was sent before with more around it has its own positions', async () => {
    for (const bare of ['SELECT prise, 1 AS again FROM trades', 'SELECT 1 AS again FROM tradez']) {
      const place = Math.max(bare.indexOf('prise'), bare.indexOf('tradez'));
      expect((await query(`   ${bare} -- x`)).json()).toMatchObject({ position: place + 3 });
      expect((await query(bare)).json()).toMatchObject({ position: place });
    }
  });

  test.each([
    "SELECT * FROM read_text('/etc/passwd')",
    "COPY ids TO '/tmp/x.csv'",
    "ATTACH '/tmp/x.duckdb'",
    'SET threads = 8',
    "SELECT getenv('HOME')",
    'SELECT * FROM duckdb_settings()',
    "SELECT * FROM '/etc/passwd'",
  ])('%s is refused', async (sql) => {
    const answer = await query(sql);
    expect([400, 403]).toContain(answer.status);
    expect(answer.json().code).toMatch(/^sql_(forbidden|error)$/);
    expect(answer.text).not.toContain('root:');
  });

  test('UPDATE says that frames are only read here, and where it can be sent', async () => {
    const answer = await query('UPDATE trades SET price = 1');
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({
      code: 'sql_forbidden',
      error: 'UPDATE changes frames, and here they are only read',
      hint: expect.stringContaining('POST /sql'),
    });
    expect((await query('DELETE FROM trades')).json()).toMatchObject({
      error: 'a statement that removes all rows changes frames, and here they are only read',
    });
  });

  test('a GET never writes', async () => {
    const answer = await query('CREATE TABLE made AS SELECT 1 AS a');
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({ code: 'sql_forbidden' });
    expect((await ask(`${server.url}/exec?handle=made&fmt=json`)).status).toBe(404);
  });

  test('an unknown engine is named', async () => {
    expect((await query('SELECT 1', { engine: 'spark' })).json()).toMatchObject({
      code: 'invalid_parameter',
      error: 'engine "spark" is not known',
    });
  });

  test('without engine a query still goes to the external database, and 412 stays its answer', async () => {
    expect((await ask(`${server.url}/exec?query=select+1&fmt=json`)).status).toBe(412);
  });
});

test('sql.default_engine=local sends a bare query to the frames, and engine=tsdb still reaches the other', async () => {
  await using local = await startFramehold({ settings: { 'sql.default_engine': 'local' } });
  expect((await ask(`${local.url}/exec?query=select+41%2B1&fmt=json`)).json()).toMatchObject({ dataset: [[42]] });
  expect((await ask(`${local.url}/exec?query=select+1&fmt=json&engine=tsdb`)).status).toBe(412);
});

test('http.max_limit bounds the rows of a statement', async () => {
  await using small = await startFramehold({ settings: { 'http.max_limit': '10' } });
  const sql = 'SELECT * FROM range(15)';
  expect((await query(sql, {}, small)).json()).toMatchObject({ count: 10 });
  expect((await query(sql, { limit: '3,' }, small)).json()).toMatchObject({
    count: 10,
    dataset: [[2], ...Array(9).fill([expect.any(Number)])],
  });
  expect((await query(sql, { limit: '10' }, small)).json()).toMatchObject({ count: 10 });
  expect((await query(sql, { limit: '11' }, small)).json()).toMatchObject({ code: 'invalid_limit' });
});

test('a query keeps the version that it began with, also when the frame is replaced under it', async () => {
  const signal = new AbortController().signal;
  await putSql(server.frames, 'moving', 'SELECT range AS n FROM range(3_000_000)');
  const whole = query('SELECT count(*), sum(n) FROM (SELECT n FROM moving ORDER BY hash(n))');
  await putSql(server.frames, 'moving', 'SELECT 1 AS n', { mode: 'overwrite' });
  const [[count] = []] = (await whole).json().dataset as number[][];
  expect([3_000_000, 1]).toContain(count);
  await server.frames.drop(anonymous, parseHandle('moving'));
  await expect(server.frames.open(anonymous, parseHandle('moving'), { signal })).rejects.toMatchObject({
    code: 'handle_gone',
  });
});

test('distances of lists are NULL where a list is NULL, also in a frame that is read for the first time', async () => {
  const lists = 'CASE WHEN range % 2 = 0 THEN [1.0::DOUBLE, 2.0] END AS a, [1.0::DOUBLE, 3.0] AS "b c", range AS n';
  await putSql(server.frames, 'lists', `SELECT ${lists} FROM range(3)`);
  expect(
    await dataset('SELECT list_distance(a, "b c"), "b c" <-> a, list_inner_product(a, a), a FROM lists ORDER BY n'),
  ).toEqual([
    [1, 1, 5, [1, 2]],
    [null, null, null, null],
    [1, 1, 5, [1, 2]],
  ]);
  expect(await dataset('SELECT a FROM lists WHERE a IS NULL')).toEqual([[null]]);
});

test('a frame that was queried twice is read from a warm copy, with the same answers', async () => {
  const sql = 'SELECT symbol, max(price), count(*) FROM trades GROUP BY symbol ORDER BY symbol';
  const first = await dataset(sql);
  expect(await dataset(sql)).toEqual(first);
  const { versionId } = (await ask(`${server.url}/handles/trades`)).json() as { versionId: string };
  const copies = async (): Promise<string[]> => {
    const [folder = ''] = await readdir(join(server.dataDir, 'warm'));
    return await readdir(join(server.dataDir, 'warm', folder, 'default')).catch(() => []);
  };
  await expect.poll(copies, { timeout: 20_000 }).toContain(`${versionId}.duckdb`);
  expect(await dataset(sql)).toEqual(first);
  await putSql(server.frames, 'trades', "SELECT 0 AS id, 'Z' AS symbol, 0.5 AS price", { mode: 'overwrite' });
  await expect.poll(copies).not.toContain(`${versionId}.duckdb`);
  expect(await dataset('SELECT symbol FROM trades')).toEqual([['Z']]);
});

test.each([
  ['select corrupt from words', 'sql_error'],
  ["select error('Mismatch in parquet read for column 1') from words", 'sql_error'],
  ["select cast('GZIP stream' as int) from words", 'sql_error'],
  ["select error('failed to read file') from words", 'sql_error'],
])('%s is an error of the statement, not of the frame', async (sql, code) => {
  await putSql(server.frames, 'words', "SELECT 'a' AS word", { mode: 'overwrite' });
  const answer = await ask(`${server.url}/exec?fmt=json&engine=local&query=${encodeURIComponent(sql)}`);
  expect(answer.json()).toMatchObject({ code });
});
