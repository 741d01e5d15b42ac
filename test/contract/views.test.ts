import { beforeAll, describe, expect, test } from 'vitest';
import { useFlightServer } from '../support/flight-server.ts';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { type Answer, ask } from '../support/http-client.ts';

const { server, client } = await useFlightServer(FlightSqlClient);

const run = (sql: string): Promise<Answer> =>
  ask(`${server.url}/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
  });

async function ok(sql: string): Promise<unknown[][]> {
  const answer = await run(sql);
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
  return answer.json().dataset as unknown[][];
}

async function refusal(sql: string): Promise<{ status: number; code?: unknown; error?: unknown; hint?: unknown }> {
  const { status, ...answer } = await run(sql);
  const { code, error, hint } = answer.json() as Record<string, unknown>;
  return { status, code, error, hint };
}

const get = (path: string, headers = {}): Promise<Answer> => ask(`${server.url}${path}`, { headers });

beforeAll(async () => {
  await ok(
    "CREATE TABLE trades AS SELECT range AS id, 'S' || range % 3 AS symbol, range * 1.5 AS price FROM range(1000)",
  );
  await ok('CREATE VIEW cheap AS SELECT id, symbol, price FROM trades WHERE price < 150 -- a comment');
});

describe('a view', () => {
  test('is read by SQL under its name, in joins and in other views', async () => {
    expect(await ok('SELECT count(*) FROM cheap')).toEqual([[100]]);
    expect(await ok('SELECT count(*) FROM "CHEAP" a JOIN frames.cheap b USING (id) JOIN trades t USING (id)')).toEqual([
      [100],
    ]);
    await ok(
      'CREATE OR REPLACE VIEW by_symbol AS SELECT symbol, count(*) AS n FROM framehold.frames.cheap GROUP BY ALL',
    );
    expect(await ok('FROM by_symbol ORDER BY symbol')).toEqual([
      ['S0', 34],
      ['S1', 33],
      ['S2', 33],
    ]);
    expect(await ok('WITH trades AS (SELECT 1 AS id) SELECT count(*) FROM trades, by_symbol')).toEqual([[3]]);
  });

  test('follows the rows of the frames that it reads', async () => {
    await ok('CREATE TABLE growing AS SELECT 1 AS a');
    await ok('CREATE VIEW grown AS SELECT max(a) + min(a) - 1 AS total FROM growing');
    expect(await ok('FROM grown')).toEqual([[1]]);
    await ok('INSERT INTO growing VALUES (41)');
    expect(await ok('FROM grown')).toEqual([[41]]);
    expect((await get('/exec?handle=grown&fmt=json')).json().dataset).toEqual([[41]]);
  });

  test('is described with its kind, its query, its columns and what it reads', async () => {
    const described = (await get('/handles/cheap')).json();
    expect(described).toMatchObject({
      handle: 'cheap',
      kind: 'view',
      state: 'held',
      version: 1,
      rows: null,
      sql: 'SELECT id, symbol, price FROM trades WHERE price < 150',
      reads: ['trades'],
      ttl: null,
    });
    expect((described.columns as { name: string }[]).map(({ name }) => name)).toEqual(['id', 'symbol', 'price']);
    expect((await get('/handles/trades')).json()).toMatchObject({ kind: 'frame' });
    const listed = (await get('/handles')).json().handles as { handle: string; kind: string }[];
    expect(listed.find(({ handle }) => handle === 'cheap')).toMatchObject({ kind: 'view' });
    expect(await ok('SHOW TABLES')).toContainEqual(['cheap']);
    expect(await ok('SELECT column_name FROM (DESCRIBE cheap)')).toEqual([['id'], ['symbol'], ['price']]);
  });

  test('is read page by page with /exec, without a tag that would outlive its rows', async () => {
    const page = await get('/exec?handle=cheap&fmt=json&limit=11,12');
    expect(page.status).toBe(200);
    expect(page.headers.etag).toBeUndefined();
    expect(page.headers['cache-control']).toContain('no-store');
    expect(page.json()).toMatchObject({
      query: 'handle:cheap',
      dataset: [
        [10, 'S1', '15.0'],
        [11, 'S2', '16.5'],
      ],
      count: 2,
    });
    expect((await get('/exec?handle=cheap&fmt=json')).json()).toMatchObject({ count: 100 });
  });

  test.each(['csv', 'tsv', 'json', 'ndjson', 'arrow', 'parquet'])('is exported as %s', async (fmt) => {
    await ok('CREATE OR REPLACE VIEW by_price AS SELECT * FROM cheap ORDER BY price DESC');
    const sql = encodeURIComponent('SELECT price, id FROM by_price LIMIT 5');
    const [view, query] = await Promise.all([
      get(`/exp?handle=by_price&fmt=${fmt}&cols=price,id&limit=5`),
      get(`/exp?query=${sql}&engine=local&fmt=${fmt}`),
    ]);
    expect([view.status, query.status]).toEqual([200, 200]);
    expect(view.headers.etag).toBeUndefined();
    if (fmt !== 'json') expect(view.body.equals(query.body)).toBe(true);
    else expect(view.json().dataset).toEqual(query.json().dataset);
    expect((await ask(`${server.url}/exp?handle=by_price&fmt=${fmt}`, { method: 'HEAD' })).status).toBe(200);
  });

  test('is read over Flight by its path and by its ticket', async () => {
    const { flight } = client;
    const info = (await flight.info({ type: 'PATH', path: ['cheap'] })).messages[0];
    expect(info).toMatchObject({ totalRecords: -1, totalBytes: -1 });
    expect((await flight.getTable(info?.endpoint[0]?.ticket.ticket ?? '')).numRows).toBe(100);
    const selected = await flight.getTable(JSON.stringify({ handle: 'cheap', columns: ['symbol'], from: 98 }));
    expect(selected.toArray().map((row) => row.toJSON())).toEqual([{ symbol: 'S2' }, { symbol: 'S0' }]);
  });

  test('is a VIEW among the tables of Flight SQL', async () => {
    const info = await client.info('CommandGetTables', [3, 'cheap'], [4, 'VIEW']);
    const table = await client.fetch(info);
    expect(table.toArray().map((row) => row.toJSON())).toEqual([
      { catalog_name: 'framehold', db_schema_name: 'frames', table_name: 'cheap', table_type: 'VIEW' },
    ]);
  });

  test('is dropped by DROP VIEW and by DELETE', async () => {
    await ok('CREATE VIEW short AS SELECT 1 AS a');
    expect(await refusal('DROP TABLE short')).toMatchObject({ code: 'sql_error', hint: 'DROP VIEW drops it' });
    expect(await refusal('DROP VIEW trades')).toMatchObject({ code: 'sql_error', hint: 'DROP TABLE drops it' });
    for (const sql of ['DROP TABLE trades CASCADE', 'DROP VIEW IF EXISTS short RESTRICT', 'DROP TABLE trades restrict'])
      expect(await refusal(sql)).toMatchObject({
        code: 'sql_forbidden',
        error: expect.stringContaining('a drop neither looks for views nor drops them'),
        hint: expect.stringContaining('"reads" of GET /handles'),
      });
    await ok('DROP VIEW Short');
    expect((await get('/handles/short')).status).toBe(410);
    await ok('DROP VIEW IF EXISTS short');
    expect((await refusal('DROP VIEW short')).code).toBe('handle_gone');
    await ok('CREATE VIEW short AS SELECT 2 AS a');
    expect((await ask(`${server.url}/handles/short`, { method: 'DELETE' })).json()).toMatchObject({ dropped: true });
  });
});

describe('a name', () => {
  test('is taken by a frame or a view', async () => {
    const taken = { status: 409, code: 'handle_exists' };
    expect(await refusal('CREATE TABLE cheap AS SELECT 1 AS a')).toMatchObject(taken);
    expect(await refusal('CREATE OR REPLACE TABLE cheap AS SELECT 1 AS a')).toMatchObject(taken);
    expect(await refusal('INSERT INTO cheap VALUES (1, 2, 3)')).toMatchObject(taken);
    expect(await refusal('CREATE VIEW trades AS SELECT 1 AS a')).toMatchObject(taken);
    expect(await refusal('CREATE OR REPLACE VIEW trades AS SELECT 1 AS a')).toMatchObject({
      ...taken,
      error: 'trades is a frame, which a view does not replace',
    });
    expect(await refusal('CREATE VIEW cheap AS SELECT 1 AS a')).toMatchObject({
      ...taken,
      hint: 'CREATE OR REPLACE VIEW replaces it, DROP VIEW drops it',
    });
    for (const more of ['', '&overwrite=true', '&append=true']) {
      const answer = await ask(`${server.url}/imp?name=cheap${more}`, { method: 'POST', body: 'id\n1\n' });
      expect([answer.status, answer.json().code]).toEqual([409, 'handle_exists']);
    }
    await ok('CREATE TABLE IF NOT EXISTS cheap AS SELECT 1 AS a');
    await ok('CREATE VIEW IF NOT EXISTS trades AS SELECT 1 AS a');
    await ok('CREATE VIEW IF NOT EXISTS cheap AS SELECT 1 AS a');
    expect(await ok('SELECT count(*) FROM cheap')).toEqual([[100]]);
  });

  test('of a column may be given in the order of the query', async () => {
    await ok('CREATE VIEW renamed (n, "the symbol") AS SELECT * FROM trades');
    expect(await ok('SELECT n, "the symbol", price FROM renamed WHERE n = 2')).toEqual([[2, 'S2', '3.0']]);
    expect((await refusal('CREATE VIEW more (a, b) AS SELECT 1')).code).toBe('sql_error');
  });
});

test('what a view says of a table in its place, and of a column of another type, has the words of SQL', async () => {
  await ok('CREATE TABLE typed AS SELECT 1::BIGINT AS id');
  await ok('CREATE VIEW typing AS SELECT id FROM typed');
  for (const sql of ['CREATE OR REPLACE TABLE typing AS SELECT 1', 'CREATE TABLE typing (a INT)'])
    expect(await refusal(sql)).toMatchObject({
      code: 'handle_exists',
      error: 'typing is a view, which takes no rows',
      hint: 'write to a frame that it reads, or drop the view before',
    });
  await ok('CREATE OR REPLACE TABLE typed AS SELECT 1::INTEGER AS id');
  expect((await refusal('FROM typing')).error).toBe(
    'view typing reads tables whose columns have changed: column "id" was BIGINT and is INTEGER now',
  );
});

test('names with quotes, dots and other letters are names in a view, too', async () => {
  await ok('CREATE TABLE "odd.name-1" AS SELECT 1 AS "a""b", 2 AS "ü;--", 3 AS "select"');
  await ok('CREATE VIEW "odd.view-1" ("x""y", "z) AS t; DROP TABLE trades --") AS SELECT * FROM "odd.name-1" "é"');
  expect(await ok('SELECT "x""y", "z) AS t; DROP TABLE trades --", "select" FROM "odd.view-1"')).toEqual([[1, 2, 3]]);
  const page = (await get('/exec?handle=odd.view-1&fmt=json')).json();
  expect(page).toMatchObject({ dataset: [[1, 2, 3]], columns: [{ name: 'x"y' }, {}, { name: 'select' }] });
  expect((await refusal('CREATE VIEW "no/handle" AS SELECT 1 AS a')).code).toBe('invalid_handle');
  await ok('CREATE VIEW doubled AS SELECT id, id FROM trades LIMIT 1');
  expect((await get('/exec?handle=doubled&fmt=json')).json()).toMatchObject({
    columns: [{ name: 'id' }, { name: 'id_1' }],
  });
});

describe('what a view reads', () => {
  test('is checked when it is made', async () => {
    expect(await refusal('CREATE VIEW bad AS SELECT * FROM nowhere')).toMatchObject({ code: 'sql_error' });
    expect(await refusal('CREATE VIEW bad AS SELECT prise FROM trades')).toMatchObject({
      error: 'column "prise" not found in trades; did you mean "price"?',
    });
    expect(await refusal('CREATE VIEW bad AS SELECT $1 AS a')).toMatchObject({ error: 'a view takes no parameters' });
    expect((await get('/handles/bad')).status).toBe(404);
  });

  test('may go, and may come again', async () => {
    await ok('CREATE TABLE base AS SELECT 1 AS a, 2 AS b');
    await ok('CREATE VIEW over AS SELECT a FROM base');
    await ok('CREATE VIEW further AS SELECT * FROM over');
    await ok('DROP TABLE base');
    const gone = { code: 'sql_error', error: 'view over reads table base, which is gone' };
    expect(await refusal('FROM over')).toMatchObject(gone);
    expect(await refusal('FROM further')).toMatchObject(gone);
    expect((await get('/exec?handle=over&fmt=json')).json()).toMatchObject(gone);
    await ok('CREATE TABLE base AS SELECT 7 AS a');
    expect(await ok('FROM further')).toEqual([[7]]);
    await ok("CREATE OR REPLACE TABLE base AS SELECT 'x' AS a");
    expect((await refusal('FROM further')).error).toMatch(/^view over reads tables whose columns have changed: /);
    await ok('CREATE OR REPLACE TABLE base AS SELECT 0 AS b');
    expect((await refusal('FROM over')).error).toMatch(/^view over reads tables whose columns have changed: /);
  });

  test('may get more columns, which are not those of the view', async () => {
    await ok('CREATE TABLE wide AS SELECT 1 AS a');
    await ok('CREATE VIEW narrow AS FROM wide');
    await ok('CREATE OR REPLACE TABLE wide AS SELECT 2 AS z, 3 AS a');
    expect(await ok('FROM narrow')).toEqual([[3]]);
  });

  test('is never the view itself', async () => {
    await ok('CREATE VIEW one AS SELECT 1 AS a');
    await ok('CREATE VIEW two AS SELECT * FROM one');
    expect(await refusal('CREATE OR REPLACE VIEW one AS SELECT * FROM two')).toMatchObject({
      error: 'view one would read itself',
    });
    expect(await refusal('CREATE OR REPLACE VIEW one AS SELECT * FROM One')).toMatchObject({ code: 'sql_error' });
  });

  test('has bounds', async () => {
    await ok('CREATE VIEW level0 AS SELECT 1 AS a');
    for (let n = 1; n < 16; n++) await ok(`CREATE VIEW level${n} AS SELECT * FROM level${n - 1}`);
    expect(await ok('FROM level15')).toEqual([[1]]);
    expect((await refusal('CREATE VIEW level16 AS SELECT * FROM level15')).error).toContain('nested too deeply');
    await ok('CREATE VIEW twice0 AS SELECT * FROM level0, level0 AS b');
    let error: unknown;
    for (let n = 1; n < 16 && error === undefined; n++) {
      error = (await refusal(`CREATE VIEW twice${n} AS SELECT a.a FROM twice${n - 1} AS a, twice${n - 1} AS b`)).error;
    }
    expect(error).toContain('too large');
  });
});

test('what a view has not is refused with a reason', async () => {
  const isView = 'cheap is a view: it has no rows of its own';
  expect((await ask(`${server.url}/handles/cheap/flush`, { method: 'POST' })).json().error).toBe(isView);
  expect((await ask(`${server.url}/handles/cheap/renew`, { method: 'POST' })).json().error).toBe(isView);
  expect((await get('/handles/cheap/rows?live=sse')).json().error).toBe(isView);
});

test('settings of one statement are not those of another that reads the same view', async () => {
  await ok('CREATE VIEW halves AS SELECT id / 2 AS half FROM trades WHERE id = 3');
  const set = (settings: object) =>
    ask(`${server.url}/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql: 'FROM halves', settings }),
    });
  expect((await set({ integer_division: true })).json().dataset).toEqual([[1.5]]);
  expect(await ok('FROM halves')).toEqual([[1.5]]);
  expect((await set({ TimeZone: 'Europe/Berlin' })).json().dataset).toEqual([[1.5]]);
});

test('a view is not altered, but gets another name', async () => {
  for (const change of [
    'ADD COLUMN z INT',
    'DROP COLUMN id',
    'RENAME TO other',
    'RENAME id TO n',
    'ALTER id SET NOT NULL',
  ])
    expect(await refusal(`ALTER TABLE cheap ${change}`)).toMatchObject({
      hint: expect.stringContaining('CREATE OR REPLACE VIEW makes it anew'),
    });
  expect(await refusal('ALTER VIEW cheap RENAME TO trades')).toMatchObject({ code: 'handle_exists' });
  expect(await refusal('ALTER VIEW trades RENAME TO other')).toMatchObject({ error: 'trades is a table' });
  expect((await get('/handles/cheap')).json()).toMatchObject({ version: 1 });
  await ok('CREATE VIEW old_name AS SELECT count(*) AS n FROM trades');
  await ok('ALTER VIEW old_name RENAME TO new_name');
  expect(await ok('FROM new_name')).toEqual([[1000]]);
  expect(await refusal('FROM old_name')).toMatchObject({ code: 'handle_gone' });
  await ok('DROP VIEW new_name');
});

test('catalogs tell of views as views, which no view reads', async () => {
  const sql = "SELECT table_type FROM information_schema.tables WHERE table_name = 'cheap'";
  expect(await ok(sql)).toEqual([['VIEW']]);
  expect(await ok("SELECT column_name FROM duckdb_columns() WHERE table_name = 'cheap' ORDER BY column_index")).toEqual(
    [['id'], ['symbol'], ['price']],
  );
  expect(await refusal(`CREATE VIEW listed AS ${sql}`)).toMatchObject({ status: 403, code: 'sql_forbidden' });
  expect(await ok('SELECT count(*) FROM main.cheap')).toEqual([[100]]);
  await ok('CREATE VIEW main.of_main AS SELECT count(*) AS n FROM main.cheap, framehold.main.trades');
  expect(await ok('FROM of_main')).toEqual([[100_000]]);
});

test('rows of a view are not changed, and rows of a frame are changed by those of a view', async () => {
  for (const sql of [
    'UPDATE cheap SET price = 1',
    'DELETE FROM cheap WHERE id = 1',
    'TRUNCATE cheap',
    'INSERT INTO cheap VALUES (1, $$a$$, 2) RETURNING id',
    'MERGE INTO cheap USING trades ON trades.id = cheap.id WHEN MATCHED THEN DELETE',
  ])
    expect(await refusal(sql), sql).toMatchObject({ status: 409, code: 'handle_exists' });
  expect(await ok('SELECT count(*) FROM cheap')).toEqual([[100]]);
  await ok('CREATE TABLE several AS SELECT range AS id FROM range(10)');
  await ok('CREATE VIEW odd AS SELECT id FROM several WHERE id % 2 = 1');
  await ok('DELETE FROM several USING odd WHERE several.id = odd.id');
  expect(await ok('SELECT count(*), max(id) FROM several')).toEqual([[5, 8]]);
});

test('a view reads numbers of rows of its frames, and has none itself', async () => {
  await ok('CREATE TABLE lettered AS SELECT * FROM (VALUES ($$a$$), ($$b$$), ($$c$$)) v (letter)');
  await ok('INSERT INTO lettered VALUES ($$d$$)');
  await ok('CREATE VIEW numbered AS SELECT rowid AS number, * FROM lettered');
  await ok('CREATE VIEW late AS SELECT * FROM numbered WHERE number > 1');
  const rows = [
    [2, 'c'],
    [3, 'd'],
  ];
  expect(await ok('FROM late ORDER BY number')).toEqual(rows);
  expect(await ok('SELECT late.* FROM late JOIN lettered ON lettered.rowid = late.number ORDER BY ALL')).toEqual(rows);
  expect((await ok('DESCRIBE late')).map(([name, type]) => [name, type])).toEqual([
    ['number', 'BIGINT'],
    ['letter', 'VARCHAR'],
  ]);
  expect((await get('/exec?handle=late&fmt=json&limit=1')).json()).toMatchObject({ dataset: [[2, 'c']] });
  await ok('DELETE FROM lettered USING late WHERE lettered.rowid = late.number AND late.letter = $$c$$');
  expect(await ok('FROM late ORDER BY number')).toEqual([[2, 'd']]);
  expect(await ok('SELECT * FROM lettered')).toEqual([['a'], ['b'], ['d']]);
  expect(await refusal('SELECT rowid FROM numbered')).toMatchObject({ code: 'sql_error' });
  expect(await refusal('SELECT rowid FROM cheap')).toMatchObject({ code: 'sql_error' });
});

test('a view is explained with the plan of its query', async () => {
  expect(JSON.stringify(await ok('EXPLAIN SELECT id FROM cheap WHERE symbol = $$S1$$'))).toContain('price');
  const profile = JSON.stringify(await ok('EXPLAIN ANALYZE SELECT id FROM cheap'));
  expect(profile).not.toContain('.parquet');
});

test('a view is plotted and profiled as a frame is', async () => {
  const plot = await ask(`${server.url}/plot`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ handle: 'cheap', kind: 'histogram', x: 'price' }),
  });
  expect([plot.status, plot.text.includes('100')]).toEqual([200, true]);
  const profile = await get('/handles/cheap/profile?column=price');
  expect([profile.status, profile.headers.etag, profile.json().rows]).toEqual([200, undefined, 100]);
});

test('CREATE VIEW and DROP VIEW are updates of Flight SQL', async () => {
  await client.update('CommandStatementUpdate', [[1, 'CREATE VIEW by_flight AS SELECT 5 AS a']]);
  expect(await ok('FROM by_flight')).toEqual([[5]]);
  await client.update('CommandStatementUpdate', [[1, 'DROP VIEW by_flight']]);
  expect((await get('/handles/by_flight')).status).toBe(410);
});
