import { beforeAll, describe, expect, test } from 'vitest';
import { useFlightServer } from '../support/flight-server.ts';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { runCommand } from '../support/spawned-command.ts';

const { server, client } = await useFlightServer(FlightSqlClient);

const run = (sql: string, more: object = {}): Promise<Answer> =>
  ask(`${server.url}/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql, ...more }),
  });

async function ok(sql: string, more: object = {}): Promise<unknown[][]> {
  const answer = await run(sql, more);
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
  return answer.json().dataset as unknown[][];
}

async function refusal(sql: string): Promise<unknown> {
  const { status, ...answer } = await run(sql);
  const { code, error, hint } = answer.json() as Record<string, unknown>;
  return { status, code, error, hint };
}

const get = (path: string): Promise<Answer> => ask(`${server.url}${path}`);

beforeAll(async () => {
  await ok('CREATE TABLE trades AS SELECT range AS id, range * 1.5 AS price FROM range(10)');
  await ok('CREATE MACRO twice(x) AS x * 2');
  await ok('CREATE FUNCTION plus(a, b := 10) AS a + b');
  await ok('CREATE MACRO below(top) AS TABLE SELECT id, price FROM trades WHERE price < top ORDER BY id -- a comment');
});

describe('a macro', () => {
  test('is a value in queries, with values by their places and by their names', async () => {
    expect(await ok('SELECT twice(3), "TWICE"(id) + 1, twice(twice(x := id)) FROM trades ORDER BY id LIMIT 2')).toEqual(
      [
        [6, 1, 0],
        [6, 3, 4],
      ],
    );
    expect(await ok('SELECT plus(1), plus(1, 2), plus(a := 3), plus(b := 1, a := 1), frames.plus(1)')).toEqual([
      [11, 3, 13, 2, 11],
    ]);
    expect((await run('SELECT twice(3), plus(1, b := 2) AS p')).json().columns).toMatchObject([
      { name: 'twice(3)' },
      { name: 'p' },
    ]);
  });

  test('stands for a table, over the rows that its frames have then', async () => {
    expect(await ok('FROM below(4)')).toEqual([
      [0, '0.0'],
      [1, '1.5'],
      [2, '3.0'],
    ]);
    expect(
      await ok('WITH trades AS (SELECT 1 AS id) SELECT count(*) FROM below(100) b JOIN trades USING (id)'),
    ).toEqual([[1]]);
    await ok('CREATE TABLE growing AS SELECT 1 AS a');
    await ok('CREATE MACRO total() AS (SELECT sum(a)::INT FROM growing)');
    expect(await ok('SELECT total()')).toEqual([[1]]);
    await ok('INSERT INTO growing VALUES (41)');
    expect(await ok('SELECT total()')).toEqual([[42]]);
  });

  test('takes parameters of the statement, also where it uses one twice or in another order', async () => {
    await ok('CREATE OR REPLACE MACRO swapped(a, b) AS b - a + b');
    expect(await ok('SELECT swapped(?, ?), ?', { params: [1, 10, 'x'] })).toEqual([[19, 'x']]);
    expect(await ok('SELECT twice($n), plus($n, b := $n)', { params: { n: 5 } })).toEqual([[10, 10]]);
  });

  test('stands in statements that change frames', async () => {
    await ok('CREATE TABLE changed AS SELECT twice(range::INT) AS a FROM range(3)');
    await ok('INSERT INTO changed VALUES (twice(50)), (plus(1))');
    await ok('UPDATE changed SET a = twice(a) WHERE a = twice(1)');
    await ok('DELETE FROM changed WHERE a = plus(1)');
    expect(await ok('SELECT a FROM changed ORDER BY ALL')).toEqual([[0], [4], [4], [100]]);
    expect(await ok('INSERT INTO changed SELECT id FROM below(1) RETURNING twice(a) + 1')).toEqual([[1]]);
  });

  test('has several forms, told apart by the number of values', async () => {
    await ok("CREATE MACRO shown(a) AS a::TEXT, (a, b) AS a || '-' || b");
    expect(await ok('SELECT shown(1), shown(1, 2)')).toEqual([['1', '1-2']]);
    await ok('CREATE MACRO rows_of(a) AS TABLE (SELECT a AS one), (a, b) AS TABLE (SELECT a AS one, b AS two)');
    expect(await ok('FROM rows_of(1), rows_of(2, 3)')).toEqual([[1, 2, 3]]);
    await ok('CREATE MACRO added(a, b) AS a + b, (a, b, c := 5) AS a + b + c');
    expect(await refusal('SELECT added(1, 2)')).toMatchObject({
      error: 'macro added has several forms that take these values',
      hint: 'it is called as added(a, b) or added(a, b, c := 5): give every value',
    });
  });

  test('that is made anew changes neither views, nor tables, nor macros that were made with it', async () => {
    await ok('CREATE MACRO rate() AS 2');
    await ok('CREATE MACRO taxed(x) AS x * rate()');
    await ok('CREATE VIEW dear AS SELECT taxed(id) AS t FROM trades ORDER BY id LIMIT 2');
    await ok('CREATE TABLE held (a INT CHECK (a < 100 * rate()), b INT DEFAULT (rate()), c INT AS (a * rate()))');
    await ok('CREATE OR REPLACE MACRO rate() AS 3');
    expect(await ok('SELECT rate(), taxed(1)')).toEqual([[3, 2]]);
    await ok('INSERT INTO held (a) VALUES (150)');
    expect(await ok('FROM held')).toEqual([[150, 2, 300]]);
    expect(await refusal('INSERT INTO held (a) VALUES (250)')).toMatchObject({ error: expect.stringMatching(/CHECK/) });
    await ok('DROP MACRO rate');
    await ok('DROP MACRO taxed');
    expect(await ok('FROM dear')).toEqual([[0], [2]]);
    expect((await get('/handles/dear')).json()).toMatchObject({
      sql: 'SELECT taxed(id) AS t FROM trades ORDER BY id LIMIT 2',
    });
    expect(await refusal('SELECT rate()')).toMatchObject({ error: 'function rate does not exist' });
  });

  test('is listed in the catalogs, and is no handle', async () => {
    const listed = `SELECT function_type, parameters, macro_definition FROM duckdb_functions() WHERE function_name = `;
    expect(await ok(`${listed}'plus'`)).toEqual([['macro', ['a', 'b'], '(a + b)']]);
    expect(await ok(`${listed}'below'`)).toEqual([
      ['table_macro', ['top'], 'SELECT id, price FROM trades WHERE (price < top) ORDER BY id'],
    ]);
    await ok('CREATE TABLE fleeting AS SELECT 1 AS a');
    await ok('CREATE MACRO left_over() AS (SELECT a FROM fleeting)');
    await ok('DROP TABLE fleeting');
    expect(await ok(`${listed}'left_over'`)).toEqual([['macro', [], `'(SELECT a FROM fleeting)'`]]);
    expect(await refusal('SELECT left_over()')).toMatchObject({ code: expect.stringMatching(/handle_gone|sql_error/) });
    const handles = (await get('/handles')).json().handles as { handle: string }[];
    expect(handles.map(({ handle }) => handle)).not.toContain('plus');
    expect((await get('/handles/plus')).status).toBe(404);
  });

  test('has a name of its own beside a frame of that name', async () => {
    await ok('CREATE MACRO same(a) AS a + 1');
    await ok('CREATE TABLE same (a INT, b INT)');
    await ok('INSERT INTO same (a, b) VALUES (same(1), 2)');
    expect(await ok('SELECT same(same.a) FROM same')).toEqual([[3]]);
    expect(await ok('WITH same(a) AS (SELECT 7) SELECT a FROM same')).toEqual([[7]]);
  });

  test('counts in the tag of an export', async () => {
    await ok('CREATE MACRO tagged() AS 1');
    const path = `/exp?query=${encodeURIComponent('SELECT tagged() AS t FROM trades')}&engine=local&fmt=parquet`;
    const part = (): Promise<Answer> => ask(`${server.url}${path}`, { headers: { range: 'bytes=0-' } });
    const [first, again] = [await part(), await part()];
    await ok('CREATE OR REPLACE MACRO tagged() AS 2');
    const other = await part();
    expect([first.status, again.headers.etag]).toEqual([206, first.headers.etag]);
    expect(other.headers.etag).not.toBe(first.headers.etag);
    expect(other.body.equals(first.body)).toBe(false);
  });

  test('is made by Flight SQL and by the command, and used by GET /exec too, which only reads', async () => {
    const exec = (sql: string): Promise<Answer> => get(`/exec?fmt=json&engine=local&query=${encodeURIComponent(sql)}`);
    const made = await exec('CREATE OR REPLACE MACRO by_exec(a) AS a + 1');
    expect([made.status, made.json()]).toEqual([
      403,
      expect.objectContaining({ hint: expect.stringContaining('POST /sql') }),
    ]);
    await ok('CREATE OR REPLACE MACRO by_exec(a) AS a + 1');
    expect((await exec('SELECT by_exec(1)')).json().dataset).toEqual([[2]]);
    await client.update('CommandStatementUpdate', [[1, 'CREATE OR REPLACE MACRO by_flight(a) AS a + 2']]);
    expect(await client.ask('CommandStatementQuery', [1, 'SELECT by_flight(1) AS three'])).toEqual([{ three: 3 }]);
    const command = (sql: string) => runCommand(['sql', sql, '--server', server.url, '--format', 'csv'], { cwd: '.' });
    expect(await command('CREATE MACRO by_command(a) AS a + 2')).toMatchObject({ status: 0 });
    expect(await command('SELECT by_command(5) AS seven')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('7'),
    });
  });
});

describe('a macro is refused', () => {
  test.each([
    ['CREATE MACRO twice(x) AS x', 409, 'there is a macro twice already'],
    ['CREATE OR REPLACE MACRO twice(x) AS TABLE SELECT x', 409, 'there is a macro twice already'],
    ['CREATE MACRO sum(x) AS 1', 403, 'sum is a function of SQL'],
    ['CREATE MACRO read_csv(x) AS TABLE SELECT 1', 403, 'read_csv is a function of SQL'],
    ['CREATE MACRO m(x) AS (SELECT content FROM read_text(x))', 403, 'function read_text is not allowed'],
    ['CREATE MACRO m(x) AS (SELECT max(id) FROM nowhere)', 400, 'table "nowhere" not found'],
    ['CREATE MACRO m(x) AS x + nothing', 400, 'column "nothing" was not found'],
    ['CREATE MACRO m(x) AS (SELECT nothing FROM trades)', 400, 'column "nothing" not found'],
    ['CREATE MACRO m(x, y := x) AS y', 400, 'column "x" was not found'],
    ['CREATE MACRO m(x) AS m(x - 1)', 400, 'macro m cannot call itself'],
    ['CREATE TEMP MACRO m(x) AS x', 403, 'CREATE TEMP MACRO needs a session'],
    ['CREATE TEMP TYPE t AS INTEGER', 403, 'CREATE TEMP TYPE needs a session'],
    ['CREATE TEMP VIEW v AS SELECT 1', 403, 'CREATE TEMP VIEW needs a session'],
    ['DROP MACRO nothing', 404, 'there is no macro nothing'],
    ['DROP MACRO twise', 404, 'there is no macro twise; did you mean twice?'],
    ['DROP MACRO below', 400, 'below is a table macro'],
    ['SELECT twice(1, 2)', 400, 'macro twice does not take these values'],
    ['SELECT plus(1, c := 2)', 400, 'macro plus has no parameter c'],
    ['SELECT below(1)', 400, 'below is a table macro'],
    ['FROM twice(1)', 400, 'twice is a macro'],
    ['SELECT twice(id) OVER () FROM trades', 400, 'a macro takes no OVER'],
    ['SELECT 1 IN plus(1)', 400, 'plus cannot stand behind IN'],
    ["SELECT plus(id, 'x') FROM trades", 400, "could not convert string 'x'"],
  ])('%s', async (sql, status, error) => {
    expect(await refusal(sql)).toMatchObject({ status, error: expect.stringContaining(error) });
  });

  test('that grows with each macro that it is made of', async () => {
    await ok("CREATE MACRO grown0(x) AS x || 'abcdefgh' || x");
    let refused: unknown;
    let made = 0;
    for (; made < 40 && refused === undefined; made++) {
      const sql = `CREATE MACRO grown${made + 1}(x) AS grown${made}(grown${made}(x))`;
      const answer = await run(sql);
      if (answer.status !== 200) refused = answer.json();
    }
    expect(refused).toMatchObject({
      code: 'too_large',
      error: expect.stringMatching(/longer than 65536 characters|larger than 1 MiB/),
    });
    expect(made).toBeLessThan(12);
  });
});
