import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function run(command: object, { url }: Pick<Framehold, 'url'> = server): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return await ask(`${url}/sql`, { method: 'POST', headers, body: JSON.stringify(command) });
}

async function change(sql: string, on?: Framehold): Promise<void> {
  const answer = await run({ sql }, on);
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
}

async function rows(sql: string, on?: Framehold): Promise<unknown[][]> {
  return (await run({ sql }, on)).json().dataset as unknown[][];
}

let tables = 0;

describe('an INSERT into a column that is stored as another type is checked and cast as of the declared one', () => {
  test.each([
    ["ENUM('a', 'it''s')", "'zzz'", "'it''s'", "it's"],
    ["ENUM('a', 'b')[]", "['a', 'zzz']", "['a', NULL]", ['a', null]],
    ['INT[3]', '[1, 2]', '[1, 2, 3]', [1, 2, 3]],
    ['UHUGEINT', '-5', '5', '5'],
    ['HUGEINT[]', "['x']", '[-5]', ['-5']],
    ['BIT', "'hello'", "'0101'", '0101'],
    ['BIT[]', "['hello']", "['0101']", ['0101']],
    ['TIMESTAMP_S', "'x'", "'2026-01-01 00:00:00.123456'", '2026-01-01T00:00:00.000000Z'],
    ['TIMESTAMP_MS', "'x'", "'2026-01-01 00:00:00.123456'", '2026-01-01T00:00:00.123000Z'],
    ['TIMETZ', "'x'", "timetz '04:30:00-12'", '16:30:00.000000'],
    ['TIMETZ[]', "['x']", "[timetz '04:30:00-12', NULL]", ['16:30:00.000000', null]],
    ['TIMETZ[2]', "['04:30:00']", "[timetz '04:30:00-12', NULL]", ['16:30:00.000000', null]],
    ['MAP(BIT, TIMETZ)', "MAP {'x': NULL}", "MAP {'1': timetz '04:30:00-12'}", { 1: '16:30:00.000000' }],
    ['UNION(i INT, s VARCHAR)', '[1]', "'two'", 'two'],
    ['UNION(i INT, s VARCHAR)', "{'x': 1}", '1', 1],
    ['UNION(i INT, s VARCHAR)[]', undefined, "['two']", ['two']],
    ['MAP(VARCHAR, UNION(i INT, s VARCHAR))', undefined, "MAP {'k': 1}", { k: 1 }],
    [
      "STRUCT(e ENUM('a'), t TIMETZ, u UNION(i INT, s VARCHAR))",
      "{'e': 'b', 't': NULL, 'u': NULL}",
      "{'e': 'a', 't': timetz '04:30:00-12', 'u': 1}",
      { e: 'a', t: '16:30:00.000000', u: 1 },
    ],
  ])('%s refuses %s and takes %s', async (type, refused, taken, value) => {
    const table = `t${++tables}`;
    const created = await run({ sql: `CREATE TABLE ${table} (v ${type}, n INT)` });
    expect(created.text).toBe('{"ddl":"OK"}');
    if (refused !== undefined) {
      expect((await run({ sql: `INSERT INTO ${table} VALUES (${refused}, 1)` })).json()).toMatchObject({
        code: 'sql_error',
      });
    }
    await change(`INSERT INTO ${table} VALUES (${taken}, 1), (NULL, 2)`);
    await change(`INSERT INTO ${table} (n) VALUES (3)`);
    // The stored values are of the declared type, too.
    await change(`INSERT INTO ${table} SELECT * FROM ${table} WHERE n = 1`);
    expect(await rows(`FROM ${table}`)).toEqual([
      [value, 1],
      [null, 2],
      [null, 3],
      [value, 1],
    ]);
  });

  test('also where a query declared the types, by CREATE TABLE … AS, keep, or with parameters', async () => {
    const sql = "SELECT timetz '04:30:00-12' AS t, 'a'::ENUM('a') AS e, [1, 2]::INT[2] AS l";
    await change(`CREATE TABLE by_as AS ${sql}`);
    await run({ sql, keep: { handle: 'by_keep' } });
    await run({ sql: 'CREATE TABLE by_parameters AS SELECT [$1::INT, 2]::INT[2] AS l', params: [1] });
    for (const table of ['by_as', 'by_keep']) {
      await change(`INSERT INTO ${table} VALUES (timetz '04:30:00-12', 'a', [3, 4])`);
      expect(await rows(`SELECT DISTINCT t FROM ${table}`)).toEqual([['16:30:00.000000']]);
      expect((await run({ sql: `INSERT INTO ${table} (e) VALUES ('b')` })).status).toBe(400);
    }
    expect((await run({ sql: 'INSERT INTO by_parameters VALUES ([1])' })).status).toBe(400);
  });

  test('values of parameters as well', async () => {
    await change("CREATE TABLE bound (e ENUM('a'), u UNION(i INT, s VARCHAR))");
    expect((await run({ sql: 'INSERT INTO bound VALUES (?, ?)', params: ['b', 'x'] })).status).toBe(400);
    expect((await run({ sql: 'INSERT INTO bound VALUES (?, ?)', params: ['a', 'x'] })).json()).toMatchObject({
      updated: 1,
    });
    expect(await rows('FROM bound')).toEqual([['a', 'x']]);
  });

  test('on another server of the directory and behind other appends, until the frame is replaced', async () => {
    await change("CREATE TABLE everywhere (e ENUM('a'))");
    await change("INSERT INTO everywhere VALUES ('a')");
    const json = { 'content-type': 'application/json' };
    const appended = await run({ sql: "SELECT 'other' AS e", keep: { handle: 'everywhere', mode: 'append' } });
    expect(appended.status).toBe(200);
    await ask(`${server.url}/handles/everywhere/flush`, { method: 'POST', headers: json });
    await using other = await startFramehold({ dataDir: server.dataDir });
    expect((await run({ sql: "INSERT INTO everywhere VALUES ('b')" }, other)).json()).toMatchObject({
      code: 'sql_error',
    });
    await change("INSERT INTO everywhere VALUES ('a')", other);
    await change("CREATE OR REPLACE TABLE everywhere AS SELECT 'a' AS e", other);
    await change("INSERT INTO everywhere VALUES ('b')", other);
    expect(await rows('FROM everywhere', other)).toEqual([['a'], ['b']]);
  });
});

describe('SQL reads a column as of the type that it was declared with, though it is stored as another', () => {
  test.each([
    ["ENUM('low', 'high')", "('high'), ('low')", 'min(v), max(v)', ['low', 'high']],
    ['BIT', "('1111')", "bit_length(v), v::INTEGER, v & '0110'::BIT", [4, 15, '0110']],
    ['UHUGEINT', '(3), (5)', 'sum(v) / 2', [4]],
    ['HUGEINT[]', '([1, 2])', 'list_sum(v), typeof(v)', ['3', 'HUGEINT[]']],
    ['FLOAT[2]', '([3, 4])', 'array_inner_product(v, v), typeof(v)', [25, 'FLOAT[2]']],
    ['TIMETZ', "(timetz '04:30:00-12')", "v::VARCHAR, v = timetz '16:30:00+00'", ['16:30:00+00', true]],
    [
      'BIGNUM',
      "('9'), ('123456789012345678901234567890123456789012345')",
      'min(v), max(v) + 1',
      ['9', '123456789012345678901234567890123456789012346'],
    ],
    ['BIGNUM[]', '([1, 2])', 'v[1] + v[2], typeof(v)', ['3', 'BIGNUM[]']],
    ['VARIANT', "({'a': ['1', 'x']})", 'v.a[2], v, variant_typeof(v)', ['x', { a: ['1', 'x'] }, 'OBJECT(a)']],
    [
      'GEOMETRY',
      "('POINT(1 2)')",
      "st_astext(v), v, st_intersects_extent(v, 'POINT(1 2)')",
      ['POINT (1 2)', 'POINT (1 2)', true],
    ],
    ["STRUCT(e ENUM('b', 'a'))", "({'e': 'a'}), ({'e': 'b'})", 'min(v.e)', ['b']],
  ])('%s', async (type, values, read, wanted) => {
    const table = `t${++tables}`;
    await change(`CREATE TABLE ${table} (v ${type})`);
    await change(`INSERT INTO ${table} VALUES ${values}`);
    expect(await rows(`SELECT ${read} FROM ${table}`)).toEqual([wanted]);
    // From its own files, and from those that a merge and a restart leave.
    await ask(`${server.url}/handles/${table}/flush`, { method: 'POST' });
    expect(await rows(`SELECT ${read} FROM ${table} WHERE true`)).toEqual([wanted]);
    const [described] = await rows(`DESCRIBE ${table}`);
    expect(described?.[1]).toBe(type.replace('TIMETZ', 'TIME WITH TIME ZONE'));
  });

  test('but as it is stored from when rows came by a way that does not check them', async () => {
    await change("CREATE TABLE unchecked (e ENUM('low', 'high'), h HUGEINT)");
    await change("INSERT INTO unchecked VALUES ('high', 1), ('low', 2)");
    const types = 'SELECT DISTINCT typeof(e), typeof(h) FROM unchecked';
    expect(await rows(types)).toEqual([["ENUM('low', 'high')", 'HUGEINT']]);
    for (const body of ['e,h\nother,3\n', 'e,h\nanother,4\n']) {
      const appended = await ask(`${server.url}/imp?name=unchecked&append=true&fmt=json`, { method: 'POST', body });
      expect(appended.status, appended.text).toBe(200);
    }
    expect(await rows(types)).toEqual([['VARCHAR', 'HUGEINT']]);
    expect(await rows('SELECT e FROM unchecked ORDER BY h')).toEqual([['high'], ['low'], ['other'], ['another']]);
    expect((await run({ sql: "INSERT INTO unchecked VALUES ('other', 5)" })).status).toBe(400);
    await change("INSERT INTO unchecked VALUES ('low', 5)");
    await using other = await startFramehold({ dataDir: server.dataDir });
    expect(await rows(`SELECT count(*), count(DISTINCT typeof(e)) FROM unchecked`, other)).toEqual([[5, 1]]);
  });
});

describe('infinity and -infinity are kept in a column of', () => {
  test.each(['TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP', 'TIMESTAMP_NS', 'TIMESTAMPTZ', 'DATE'])('%s', async (type) => {
    const table = `t${++tables}`;
    const both = ['infinity', '-infinity'];
    await change(`CREATE TABLE ${table} AS SELECT 'infinity'::${type} AS v UNION ALL SELECT '-infinity'::${type}`);
    await change(`INSERT INTO ${table} VALUES ('infinity'), ('-infinity')`);
    expect(await rows(`SELECT v::VARCHAR FROM ${table} WHERE isinf(v)`)).toEqual([...both, ...both].map((v) => [v]));
  });
});

describe('types inside of others are given like those outside', () => {
  test.each([
    ["[[timetz '04:30:00-12'], NULL]", [['16:30:00.000000'], null]],
    ["[timetz '04:30:00-12']::TIMETZ[1]", ['16:30:00.000000']],
    ["{'a': '101'::BIT, 'b c': NULL::BIT}", { a: '101', 'b c': null }],
    ['NULL::STRUCT(a BIT)', null],
    ["MAP {timetz '04:30:00-12': '1'::BIT}", { '16:30:00.000000': '1' }],
    ["union_value(k := timetz '04:30:00-12')", '16:30:00.000000'],
    ["[union_value(\"k'\" := '1'::BIT), NULL]", ['1', null]],
  ])('%s', async (sql, value) => {
    const [row] = await rows(`SELECT ${sql} AS v`);
    if (sql.startsWith('MAP')) expect(row).toEqual([[{ key: '16:30:00.000000', value: '1' }]]);
    else expect(row).toEqual([value]);
  });
});

test('types inside of structs without names are given like those outside', async () => {
  expect(await rows("SELECT list_zip([NULL::TIMETZ]), row(1, '12:00:00+01'::TIMETZ), [row('01'::BIT), NULL]")).toEqual([
    [[[null]], [1, '11:00:00.000000'], [['01'], null]],
  ]);
});

test('a number of millions of digits is refused at once', async () => {
  const sql = 'SELECT bignum FROM test_all_types(use_large_bignum = true) LIMIT 1';
  for (const statement of [sql, `CREATE TABLE digits AS ${sql}`]) {
    const { code, error } = (await run({ sql: statement })).json();
    expect({ code, error }, statement).toEqual({
      code: 'sql_error',
      error: 'a BIGNUM of more than 24,000 digits would take too long to write',
    });
  }
  const digits = '9'.repeat(20_000);
  expect(await rows(`SELECT '${digits}'::BIGNUM, [-'${digits}'::BIGNUM]`)).toEqual([[digits, [`-${digits}`]]]);
});

test('NaN inside of JSON is not kept, and the error names its row', async () => {
  const values = "CASE range WHEN 2500 THEN 'nan'::DOUBLE ELSE 1 END";
  for (const type of ['JSON', 'VARIANT']) {
    const answer = await run({ sql: `CREATE TABLE none AS SELECT ${values}::${type} AS j FROM range(3000)` });
    expect(answer.json(), type).toMatchObject({
      code: 'invalid_input',
      error: 'column "j" is not JSON at row 2500',
      hint: 'JSON has neither NaN nor infinities: they can stand there as text or null',
    });
  }
});
