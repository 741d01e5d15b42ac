import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, type AskOptions, ask } from '../support/http-client.ts';
import { leftBehind } from '../support/import-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'sql.timeout': '20s', 'http.max_limit': '100000' } });
  await putSql(server.frames, 'ids', 'SELECT range AS id FROM range(5000)');
  await putSql(server.frames, 'explained', 'SELECT range AS id FROM range(5000)');
  await putSql(server.frames, 'days', "SELECT DATE '2026-01-01' + range::INT AS day, range::INT AS n FROM range(31)");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const json = { 'content-type': 'application/json' };
const post = (body: string, options: AskOptions = {}): Promise<Answer> =>
  ask(`${server.url}/sql`, { method: 'POST', headers: json, body, ...options });
const run = (command: object): Promise<Answer> => post(JSON.stringify(command));

/** The one value of the one row. */
async function value(sql: string, params?: unknown): Promise<unknown> {
  const answer = await run({ sql, params });
  if (answer.status !== 200) return answer.json();
  return (answer.json().dataset as unknown[][])[0]?.[0];
}

describe('POST /sql', () => {
  test('takes no parameters in its URL, and says so', async () => {
    const answer = await ask(`${server.url}/sql?fmt=json`, {
      method: 'POST',
      headers: json,
      body: '{"sql":"SELECT 1"}',
    });
    expect(answer.json()).toMatchObject({ code: 'invalid_parameter', hint: 'there are none in its URL' });
  });

  test('answers in the shape of /exec', async () => {
    const answer = await run({ sql: 'SELECT id, id * 2 AS twice FROM ids LIMIT 2' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.text).toBe(
      '{"query":"SELECT id, id * 2 AS twice FROM ids LIMIT 2","columns":[{"name":"id","type":"LONG"},{"name":"twice","type":"LONG"}],"timestamp":-1,"dataset":[[0,0],[1,2]],"count":2}',
    );
  });

  test('takes a statement that is too long for a URL', async () => {
    const list = Array.from({ length: 20_000 }, (_, n) => n).join(',');
    expect(await value(`SELECT count(*) FROM ids WHERE id IN (${list})`)).toBe(5000);
  });

  test.each([
    ['no content type', {}],
    ["curl's own", { 'content-type': 'application/x-www-form-urlencoded' }],
    ['JSON with a charset', { 'content-type': 'Application/JSON; charset=utf-8' }],
  ])('takes a body with %s', async (_, headers) => {
    expect((await post('{"sql":"SELECT 1 AS a"}', { headers })).status).toBe(200);
  });

  test.each([
    ['a page of another site', { ...json, origin: 'https://example.com' }],
    ['another type', { 'content-type': 'text/csv' }],
    ['a coding', { ...json, 'content-encoding': 'gzip' }],
  ])('refuses a body of %s', async (_, headers) => {
    expect((await post('{"sql":"SELECT 1 AS a"}', { headers })).json()).toMatchObject({ code: 'invalid_input' });
  });

  test.each(['GET', 'PUT', 'DELETE'])('%s is not offered', async (method) => {
    const answer = await ask(`${server.url}/sql`, { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });

  test('a statement beyond 1 MiB is too large, and is not sent back', async () => {
    const answer = await run({ sql: `SELECT 1 -- ${'x'.repeat(1_048_576)}` });
    expect(answer.status).toBe(413);
    expect(answer.json()).toEqual({
      error: 'the statement is larger than 1 MiB',
      code: 'too_large',
      hint: 'put the data as a frame instead',
    });
  });

  test('a body beyond 8 MB is too large', async () => {
    const answer = await post(JSON.stringify({ sql: 'SELECT 1', params: ['x'.repeat(8_000_000)] }));
    expect(answer.status).toBe(413);
    expect(answer.json()).toMatchObject({ code: 'too_large' });
  });
});

describe('params', () => {
  test.each([
    [null, 'INTEGER', 'null'],
    [true, 'BOOLEAN', 'true'],
    [42, 'INTEGER', '42'],
    [-2147483649, 'BIGINT', '-2147483649'],
    [1.5, 'DOUBLE', '1.5'],
    [`it's "é"😀`, 'VARCHAR', `it's "é"😀`],
    [[1, null, 3], 'INTEGER[]', '[1, NULL, 3]'],
    [[1, 2.5], 'DOUBLE[]', '[1.0, 2.5]'],
    [['a', 'b'], 'VARCHAR[]', '[a, b]'],
    [[[1], []], 'INTEGER[][]', '[[1], []]'],
    [[true], 'BOOLEAN[]', '[true]'],
    [{ type: 'DATE', value: '2026-01-31' }, 'DATE', '2026-01-31'],
    [{ type: 'timestamp', value: '2026-01-31 12:00:00.123456' }, 'TIMESTAMP', '2026-01-31 12:00:00.123456'],
    [{ type: 'TIMESTAMP_NS', value: '2026-01-31 12:00:00.123456789' }, 'TIMESTAMP_NS', '2026-01-31 12:00:00.123456789'],
    [{ type: 'TIMESTAMPTZ', value: '2026-01-31T12:00:00+02:00' }, 'TIMESTAMP WITH TIME ZONE', '2026-01-31 10:00:00+00'],
    [{ type: 'TIME', value: '12:34:56.5' }, 'TIME', '12:34:56.5'],
    [{ type: 'INTERVAL', value: '3 days 2 hours' }, 'INTERVAL', '3 days 02:00:00'],
    [{ type: 'DECIMAL(20,4)', value: '1234567890123456.7891' }, 'DECIMAL(20,4)', '1234567890123456.7891'],
    [{ type: 'DECIMAL(5,2)', value: 1.25 }, 'DECIMAL(5,2)', '1.25'],
    [{ type: 'UBIGINT', value: '18446744073709551615' }, 'UBIGINT', '18446744073709551615'],
    [{ type: 'UUID', value: '00000000-0000-4000-8000-000000000001' }, 'UUID', '00000000-0000-4000-8000-000000000001'],
    [{ type: 'BLOB', value: 'AGFi/w==' }, 'BLOB', '\\x00ab\\xFF'],
    [{ type: 'JSON', value: '{"a":1}' }, 'JSON', '{"a":1}'],
    [{ type: 'VARCHAR', value: 7 }, 'VARCHAR', '7'],
    [{ type: 'DATE[]', value: ['2026-01-31', null] }, 'DATE[]', '[2026-01-31, NULL]'],
    [{ type: 'DATE', value: null }, 'DATE', 'null'],
    [{ type: 'BOOLEAN', value: true }, 'BOOLEAN', 'true'],
  ])('%j is of type %s', async (param, type, text) => {
    expect(await value('SELECT typeof($1)', [param])).toBe(type === 'INTEGER' && param === null ? '"NULL"' : type);
    expect(String(await value('SELECT $1::VARCHAR', [param]))).toBe(text);
  });

  test('whole numbers are exact, however long', async () => {
    const body =
      '{"sql":"SELECT $1::VARCHAR || typeof($1), $2::VARCHAR || typeof($2)","params":[9007199254740993,-170141183460469231731687303715884105728]}';
    expect((await post(body)).json().dataset).toEqual([
      ['9007199254740993BIGINT', '-170141183460469231731687303715884105728HUGEINT'],
    ]);
  });

  test('text is what the statement needs, as a literal would be', async () => {
    expect(await value('SELECT n FROM days WHERE day = $1', ['2026-01-05'])).toBe(4);
    expect(
      await value('SELECT count(*) FROM days WHERE day BETWEEN $a AND $b', { a: '2026-01-05', b: '2026-01-06' }),
    ).toBe(2);
    expect(await value('SELECT n FROM days WHERE n = $1', ['4'])).toBe(4);
    expect(await value('SELECT typeof(coalesce(day, $1)) FROM days', ['2026-01-05'])).toBe('DATE');
    expect(await value('SELECT len($1)', ["a\0'b"])).toBe(4);
    expect(await value('SELECT len($1)', ["'".repeat(2000)])).toBe(2000);
    expect(await value('SELECT $1', ["'); DROP TABLE days; --"])).toBe("'); DROP TABLE days; --");
    expect(await value("SELECT n FROM days WHERE day = '2026-01-05'::DATE AND $1 = 'x'", ['x'])).toBe(4);
  });

  test('are found by name, in any order and case, as often as they are used', async () => {
    const answer = await run({
      sql: 'SELECT $b AS b, $A AS a, $b || $from AS c',
      params: { from: '!', B: 'x', a: 1 },
    });
    expect(answer.json().dataset).toEqual([['x', 1, 'x!']]);
  });

  test('go into lists, limits, functions and statements that write', async () => {
    expect(await value('SELECT count(*) FROM ids WHERE id IN $1', [[1, 2, 99_999]])).toBe(2);
    expect(await value('SELECT count(*) FROM (FROM ids LIMIT $n)', { n: 7 })).toBe(7);
    expect(await value('SELECT round(1.2345, $1)::VARCHAR', [2])).toBe('1.23');
    await run({
      sql: 'CREATE OR REPLACE TABLE written AS SELECT $1::DATE AS d, $2 AS b',
      params: ['2026-01-01', { type: 'BLOB', value: 'AQ==' }],
    });
    await run({ sql: 'INSERT INTO written VALUES (?, ?)', params: ['2026-01-02', { type: 'BLOB', value: 'Ag==' }] });
    await run({
      sql: 'INSERT INTO written VALUES ($day, $bytes)',
      params: { bytes: { type: 'BLOB', value: 'Aw==' }, day: '2026-01-03' },
    });
    expect((await run({ sql: 'SELECT d::VARCHAR, hex(b) FROM written' })).json().dataset).toEqual([
      ['2026-01-01', '01'],
      ['2026-01-02', '02'],
      ['2026-01-03', '03'],
    ]);
  });

  test.each([
    ['SELECT $1, $2', [1], 'missing_parameter', 'parameter 2 has no value'],
    ['SELECT $1', [1, 2], 'invalid_parameter', 'params has 2 values, and the statement takes 1'],
    ['SELECT 1', [1], 'invalid_parameter', 'params has 1 values, and the statement takes 0'],
    ['SELECT ?, ?', undefined, 'missing_parameter', 'the statement takes 2 parameters, and params is not given'],
    ['SELECT $a', undefined, 'missing_parameter', 'the statement takes 1 parameter (a), and params is not given'],
    ['SELECT $a, $b', { a: 1 }, 'missing_parameter', 'parameter b has no value'],
    ['SELECT $name', { nmae: 1 }, 'invalid_parameter', 'the statement has no parameter "nmae"; did you mean name?'],
    ['SELECT $a', { a: 1, A: 2 }, 'invalid_parameter', 'params has "A" twice: case does not tell parameters apart'],
    ['SELECT $a', [1], 'invalid_parameter', 'the statement names its parameters: a'],
    ['SELECT $1', { a: 1 }, 'invalid_parameter', 'the parameters of the statement have no names'],
    ['SELECT 1', { a: 1 }, 'invalid_parameter', 'the statement has no parameter "a"'],
    [
      'SELECT $1',
      1,
      'invalid_parameter',
      'params is the number 1; it must be an array of values, or an object of them by name',
    ],
    ['SELECT $1', [{ a: 1 }], 'invalid_parameter', 'params[0] has an unknown key "a"'],
    ['SELECT $1', [{ type: 'DATE' }], 'invalid_parameter', 'params[0] is an object without value'],
    ['SELECT $1', [{ value: 1 }], 'invalid_parameter', 'params[0] is an object without type'],
    [
      'SELECT $1',
      [{ type: 'DAET', value: 1 }],
      'invalid_parameter',
      'params[0]: type "DAET" is not known; did you mean DATE?',
    ],
    [
      'SELECT $1',
      [{ type: 'STRUCT(a INT)', value: '{"a":1}' }],
      'unsupported_type',
      'params[0]: a parameter cannot have type "STRUCT(a INT)"',
    ],
    [
      'SELECT $1',
      [{ type: 'DATE[]', value: 'x' }],
      'invalid_parameter',
      'params[0] is the text "x"; it must be an array for DATE[]',
    ],
    ['SELECT $x', { x: [1, 'a'] }, 'invalid_parameter', 'params.x is a list of values of different types'],
    ['SELECT $1', [['\ud800']], 'invalid_parameter', 'params[0] holds text that is not Unicode'],
    [
      'SELECT $1',
      [{ type: 'DATE', value: '2026-13-01' }],
      'invalid_parameter',
      'parameter $1 is not of type DATE: date field value out of range: "2026-13-01"',
    ],
    [
      'SELECT $d',
      { d: { type: 'BLOB', value: '%' } },
      'invalid_parameter',
      'parameter $d is not of type BLOB: Could not decode string "%" as base64: length must be a multiple of 4',
    ],
    [
      'SELECT n FROM days WHERE day = $1',
      ['soon'],
      'invalid_parameter',
      'parameter $1 is not of type DATE: invalid date field format: "soon", expected format is (YYYY-MM-DD)',
    ],
    [
      'SELECT $a::INT',
      { a: 'abc' },
      'invalid_parameter',
      "parameter $a is not of type INTEGER: Could not convert string 'abc' to INT32",
    ],
    ['DROP TABLE ids', [1], 'invalid_parameter', 'params has 1 values, and the statement takes 0'],
  ])('%s with %j is refused', async (sql, params, code, error) => {
    const answer = (await run({ sql, params })).json();
    expect(answer).toMatchObject({ code, query: sql });
    expect(answer.error).toBe(error);
    expect(JSON.stringify(answer)).not.toMatch(/framehold_\d|getvariable|temp\.main|c0/);
  });

  test('are those of a plan, too, also of one that is measured', async () => {
    const plan = async (sql: string, params: unknown): Promise<string> => {
      const answer = (await run({ sql, params })).json();
      expect(answer.columns, JSON.stringify(answer)).toMatchObject([
        { name: 'explain_key' },
        { name: 'explain_value' },
      ]);
      return JSON.stringify(answer.dataset);
    };
    const sql = (by: string) => `SELECT range AS n FROM range(100) WHERE range % ${by} = 0`;
    for (const text of [
      await plan(`EXPLAIN ${sql('$by')}`, { by: 43 }),
      await plan(`EXPLAIN (FORMAT json) ${sql('?')}`, [43]),
      await plan(`EXPLAIN ANALYZE ${sql('$1')}`, [43]),
    ]) {
      expect(text).toContain('% 43');
      expect(text).not.toMatch(/framehold_|getvariable/);
    }
  });

  test('an empty list is a list', async () => {
    expect(await value('SELECT len($1)', [[]])).toBe(0);
    expect(await value('SELECT count(*) FROM ids WHERE id IN $1', [[]])).toBe(0);
  });
});

describe('the answer', () => {
  const sql = "SELECT range AS n, 'a;b' AS s FROM range(3)";

  test.each([
    [{ format: 'csv' }, /^text\/csv/, 'n,s\r\n0,a;b\r\n1,a;b\r\n2,a;b\r\n'],
    [{ format: 'csv', nm: true, delimiter: ';' }, /^text\/csv/, '0;"a;b"\r\n1;"a;b"\r\n2;"a;b"\r\n'],
    [{ format: 'tsv', cols: 's,n', limit: 1 }, /^text\/tab-separated-values/, 's\tn\r\na;b\t0\r\n'],
    [{ format: 'ndjson', cols: ['n'], limit: '2,3' }, /^application\/x-ndjson/, '{"n":1}\n{"n":2}\n'],
    [
      { format: 'json', nm: true, quoteLargeNum: true, cols: 'n' },
      /^application\/json/,
      '{"dataset":[["0"],["1"],["2"]],"count":3}',
    ],
  ])('%j', async (options, type, text) => {
    const answer = await run({ sql, ...options });
    expect(answer.headers['content-type']).toMatch(type);
    expect(answer.text.replaceAll('\r', '')).toBe(text.replaceAll('\r', ''));
  });

  test('in Arrow is a stream of the rows', async () => {
    const answer = await run({ sql, format: 'arrow', limit: 2 });
    expect(
      tableFromIPC(answer.body)
        .toArray()
        .map(({ n }) => n),
    ).toEqual([0n, 1n]);
  });

  test('has intervals as long as those of DuckDB in JSON and CSV, and none that wrapped around in Arrow', async () => {
    const sql = 'SELECT to_hours(-2562048) AS a, to_microseconds(9223372036854775807) AS b, [1] AS l';
    const [a, b] = ['PT-2562048H', 'PT2562047788H54.775807S'];
    expect((await run({ sql })).json().dataset).toEqual([[a, b, [1]]]);
    expect((await run({ sql, format: 'csv' })).text).toContain(`${a},${b},`);
    expect((await run({ sql, format: 'ndjson' })).text).toContain(b);
    expect((await run({ sql, format: 'arrow' })).json()).toMatchObject({
      code: 'unsupported_type',
      error: expect.stringContaining(a),
    });
  });

  test('in Parquet is a file, under its name and with its compression', async () => {
    const answer = await run({ sql, format: 'parquet', filename: 'three', compression_codec: 'gzip' });
    expect(answer.headers['content-disposition']).toBe('attachment; filename="three.parquet"');
    expect([answer.body.subarray(0, 4).toString(), answer.body.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);
  });

  test('has all rows up to the maximum of the operator', async () => {
    expect((await run({ sql: 'SELECT range AS n FROM range(100_001)' })).json().count).toBe(100_000);
    expect((await run({ sql: 'SELECT range AS n FROM range(10)', limit: 0 })).json()).toMatchObject({
      columns: [{ name: 'n' }],
      count: 0,
    });
  });

  test('SHOW TABLES works', async () => {
    expect((await run({ sql: 'SHOW TABLES' })).json().dataset).toContainEqual(['ids']);
  });
});

describe('EXPLAIN', () => {
  const formats = [
    '',
    '(FORMAT text)',
    '(FORMAT json)',
    '(FORMAT html)',
    '(FORMAT graphviz)',
    '(FORMAT yaml)',
    '(FORMAT mermaid)',
  ];
  const profiles = ['ANALYZE', ...formats.slice(1).map((format) => format.replace('(', '(ANALYZE, '))];

  /** Key and text. */
  async function explain(options: string, sql: string): Promise<[string, string]> {
    const answer = await run({ sql: `EXPLAIN ${options} ${sql}` });
    expect(answer.status, answer.text).toBe(200);
    return (answer.json().dataset as [string, string][])[0] ?? ['', ''];
  }

  test.each(formats)(
    '%s shows the plan, before and after a frame has a warm copy, and no name of ours',
    async (format) => {
      for (const frame of ['explained', 'ids']) {
        const [key, plan] = await explain(format, `SELECT sum(id) FROM ${frame} WHERE id > 17`);
        expect(key).toBe('physical_plan');
        expect(plan).toMatch(/AGGREGATE/);
        expect(plan).not.toMatch(/_warm_|\.parquet|[/]tmp[/]|main\.frame/);
      }
    },
  );

  test.each(profiles)('%s runs the query and shows its figures, and no path of a file', async (options) => {
    const [key, profile] = await explain(
      options,
      'SELECT count(*) FROM explained a JOIN ids b USING (id) WHERE a.id > 17',
    );
    expect(key).toBe('analyzed_plan');
    expect(profile).toMatch(/HASH_JOIN/);
    expect(profile).toMatch(/4982/);
    expect(profile).not.toMatch(/_warm_|\.parquet|[/]tmp[/]|[Ff]ilename|cold/);
  });

  test('in JSON a profile has the names of DuckDB, and nothing of the server', async () => {
    const [, json] = await explain('(ANALYZE, FORMAT json)', 'SELECT id FROM explained WHERE id = 17');
    const profile = JSON.parse(json);
    expect(profile).toMatchObject({ latency: expect.any(Number), children: [{ operator_name: 'EXPLAIN_ANALYZE' }] });
    expect(profile.children[0].children[0]).toMatchObject({
      operator_type: 'TABLE_SCAN',
      operator_cardinality: 1,
      extra_info: { Filters: 'id=17' },
    });
    expect(profile).not.toHaveProperty('query_name');
  });

  test('of a statement that writes a frame shows the plan of its query, and writes nothing', async () => {
    expect((await explain('', 'CREATE TABLE unmade AS SELECT DISTINCT id FROM ids'))[1]).toContain('HASH_GROUP_BY');
    expect((await explain('', 'INSERT INTO days (n) SELECT DISTINCT id FROM ids'))[1]).toContain('HASH_GROUP_BY');
    expect(await value('SELECT count(*) FROM days')).toBe(31);
    expect((await run({ sql: 'FROM unmade' })).json()).toMatchObject({ error: 'table "unmade" not found' });
  });

  test.each([
    ['EXPLAIN ANALYZE INSERT INTO days SELECT * FROM days', 'sql_forbidden', 16],
    ['EXPLAIN INSERT INTO nowhere SELECT 1', 'sql_error', undefined],
    ['EXPLAIN ANALYZE SELECT prise FROM days', 'sql_error', 23],
    ['EXPLAIN (ANALYZE, FORMAT json) SELECT 1 + prise FROM days', 'sql_error', 42],
    ['EXPLAIN CREATE TABLE x AS SELECT prise FROM days', 'sql_error', 33],
  ])('%s is refused', async (sql, code, position) => {
    expect((await run({ sql })).json()).toMatchObject({ code, ...(position !== undefined && { position }) });
  });

  test('ANALYZE of what statistics answer shows that no operator ran', async () => {
    const profile = async (options: string) =>
      (await run({ sql: `EXPLAIN ${options} SELECT count(*) FROM ids` })).json().dataset;
    expect(await profile('ANALYZE')).toEqual([['analyzed_plan', 'QUERY\n    Total Time: 0.0000s\n']]);
    const [[, text]] = (await profile('(ANALYZE, FORMAT json)')) as [[string, string]];
    expect(JSON.parse(text)).toEqual({ latency: 0, extra_info: {}, children: [] });
  });

  test('ANALYZE ends with the time of a statement', async () => {
    await using impatient = await startFramehold({ settings: { 'sql.timeout': '300ms' } });
    const sql = 'EXPLAIN ANALYZE SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range = 7';
    const answer = await ask(`${impatient.url}/sql`, { method: 'POST', headers: json, body: JSON.stringify({ sql }) });
    expect(answer.json()).toMatchObject({ code: 'sql_timeout' });
  });
});

describe('statements that change frames', () => {
  test("answer as QuestDB's /exec does", async () => {
    const texts: string[] = [];
    for (const sql of [
      'CREATE TABLE made AS SELECT 1 AS a',
      'INSERT INTO made VALUES (2), (3)',
      'CREATE OR REPLACE TABLE made AS FROM made WHERE a > 1',
      'SELECT a FROM made',
      'DROP TABLE made',
      'DROP TABLE IF EXISTS made',
    ]) {
      texts.push((await run({ sql, format: 'csv', nm: true })).text);
    }
    expect(texts).toEqual([
      '{"ddl":"OK"}',
      '{"dml":"OK","updated":2}',
      '{"ddl":"OK"}',
      '2\r\n3\r\n',
      '{"ddl":"OK"}',
      '{"ddl":"OK"}',
    ]);
  });

  test.each([
    ['CREATE TABLE ids AS SELECT 1 AS a', 409, 'handle_exists'],
    ['INSERT INTO nobody VALUES (1)', 404, 'handle_not_found'],
    ['DROP TABLE nobody', 404, 'handle_not_found'],
    ['UPDATE nobody SET id = 1', 404, 'handle_not_found'],
    ['DELETE FROM nobody WHERE true', 404, 'handle_not_found'],
    ['TRUNCATE nobody', 404, 'handle_not_found'],
    ["COPY ids TO '/tmp/x'", 403, 'sql_forbidden'],
  ])('%s answers %i %s', async (sql, status, code) => {
    const answer = await run({ sql });
    expect([answer.status, answer.json().code, answer.json().query]).toEqual([status, code, sql]);
  });
});

describe('keep', () => {
  test('makes a frame of the rows, that others read by its handle', async () => {
    const answer = await run({
      sql: 'SELECT id, id::VARCHAR AS t FROM ids WHERE id < $1',
      params: [100],
      limit: '11,20',
      keep: { handle: 'kept', ttl: '15m' },
    });
    expect(answer.json()).toEqual({
      handle: 'kept',
      version: 1,
      rows: 10,
      rowsAdded: 10,
      bytes: expect.any(Number),
      columns: [
        { name: 'id', type: 'LONG' },
        { name: 't', type: 'VARCHAR' },
      ],
      expires: expect.stringMatching(/Z$/),
    });
    const read = await ask(`${server.url}/exec?handle=kept&fmt=json&limit=1`);
    expect(read.json().dataset).toEqual([[10, '10']]);
  });

  test('without a handle the server makes one', async () => {
    const answer = (await run({ sql: 'SELECT 1 AS a', keep: {} })).json();
    expect(answer).toMatchObject({ handle: expect.stringMatching(/^f_[0-9A-Z]{26}$/), rows: 1, expires: null });
  });

  test('modes: create refuses what is there, overwrite and append do not', async () => {
    const keep = (mode?: string): Promise<Answer> =>
      run({ sql: 'SELECT 1 AS a', keep: { handle: 'moded', ...(mode !== undefined && { mode }) } });
    expect((await keep()).status).toBe(200);
    expect((await keep('create')).json()).toMatchObject({ code: 'handle_exists' });
    expect((await keep('append')).json()).toMatchObject({ rows: 2, version: 2 });
    expect((await keep('overwrite')).json()).toMatchObject({ rows: 1, version: 3 });
    expect((await run({ sql: "SELECT 'x' AS b", keep: { handle: 'moded', mode: 'append' } })).json()).toMatchObject({
      code: 'schema_mismatch',
    });
  });

  test('rows beyond the maximum of the operator are kept: they are not sent', async () => {
    const kept = await run({ sql: 'SELECT range AS n FROM range(100_001)', keep: { handle: 'many' } });
    expect(kept.json()).toMatchObject({ rows: 100_001 });
  });

  test('types come out of a kept frame as they went in', async () => {
    await run({
      sql: "SELECT 'a'::JSON AS j, uuid() AS u, 1::UHUGEINT AS h, [1] AS l WHERE false UNION ALL SELECT '{}', '00000000-0000-4000-8000-000000000001', 5, [2]",
      keep: { handle: 'typed' },
    });
    const read = await ask(`${server.url}/handles/typed`);
    expect(read.json().columns).toMatchObject([{ type: 'JSON' }, { type: 'UUID' }, { name: 'h' }, { type: 'ARRAY' }]);
  });

  test.each([
    [{ keep: { handle: 'a' }, format: 'csv' }, 'format and keep are given, and a result is sent or kept'],
    [{ keep: { handle: 'a' }, nm: true }, 'nm and keep are given, and a result is sent or kept'],
    [{ keep: true }, 'keep is true; it must be an object such as {"handle":"result","ttl":"15m"}'],
    [{ keep: { handel: 'a' } }, 'keep has an unknown key "handel"; did you mean handle?'],
    [{ keep: { handle: 1 } }, 'keep.handle is the number 1; it must be text'],
    [{ keep: { ttl: 'soon' } }, '"soon" is not a duration'],
    [{ keep: { mode: 'replace' } }, 'keep.mode "replace" is not valid'],
    [{ sql: 'DROP TABLE ids', keep: {} }, 'keep is given, and the statement has no rows to keep'],
  ])('%j is refused', async (options, error) => {
    const answer = await run({ sql: 'SELECT 1 AS a', ...options });
    expect(answer.json()).toMatchObject({ code: 'invalid_parameter', error });
  });

  test('a name means the same frame to every statement, also behind a DROP of another spelling', async () => {
    for (const sql of ['CREATE TABLE spelled (a INT)', 'DROP TABLE spelled', 'CREATE TABLE "Spelled" (a INT)'])
      expect((await run({ sql })).text).toBe('{"ddl":"OK"}');
    expect((await run({ sql: 'INSERT INTO spelled VALUES (1)' })).json()).toMatchObject({ updated: 1 });
    expect(await value('SELECT a FROM spelled')).toBe(1);
    expect((await run({ sql: 'CREATE TABLE spelled (a INT)' })).json()).toMatchObject({ code: 'handle_exists' });
    expect((await run({ sql: 'DROP TABLE SPELLED' })).status).toBe(200);
    for (const name of ['spelled', '"Spelled"']) {
      expect((await run({ sql: `SELECT a FROM ${name}` })).json()).toMatchObject({ code: 'handle_gone' });
    }
  });

  test('a handle that is none is refused as one', async () => {
    expect((await run({ sql: 'SELECT 1', keep: { handle: '../x' } })).json()).toMatchObject({ code: 'invalid_handle' });
  });
});

describe('errors', () => {
  test.each([
    ['', 'missing_parameter', 'the request has no body'],
    ['{}', 'missing_parameter', 'sql is not given'],
    ['{"sql":1}', 'invalid_parameter', 'sql is the number 1; it must be text'],
    ['{"sql":"SELECT 1","limt":1}', 'invalid_parameter', 'the body has an unknown key "limt"; did you mean limit?'],
    [
      '{"sql":"SELECT 1","limit":true}',
      'invalid_parameter',
      'limit is true; it must be a number, or text such as "11,20"',
    ],
    ['{"sql":"SELECT 1","limit":-1}', 'invalid_limit', 'limit "-1" is not valid'],
    ['{"sql":"SELECT 1","limit":100001}', 'invalid_limit', 'limit "100001" is not valid'],
    ['{"sql":"SELECT 1","format":"xml"}', 'unsupported_format', 'format "xml" is not supported'],
    ['{"sql":"SELECT 1","format":1}', 'invalid_parameter', 'format is the number 1; it must be text'],
    ['{"sql":"SELECT 1","nm":"true"}', 'invalid_parameter', 'nm is the text "true"; it must be true or false'],
    ['{"sql":"SELECT 1","delimiter":"ab"}', 'invalid_parameter', 'delimiter "ab" is not valid'],
    ['{"sql":"SELECT 1","timeout_ms":0}', 'invalid_parameter', 'timeout_ms "0" is not valid'],
    [
      '{"sql":"SELECT 1","timeout_ms":1.5}',
      'invalid_parameter',
      'timeout_ms is the number 1.5; it must be a whole number',
    ],
    [
      '{"sql":"SELECT 1","cols":[1]}',
      'invalid_parameter',
      'cols is an array; it must be an array of names, or text with commas between them',
    ],
    ['{"sql":"SELECT 1","cols":"b"}', 'invalid_parameter', 'the result has no column "b"'],
    ['{"sql":"SELECT 1","engine":"tsdb"}', 'invalid_parameter', 'engine "tsdb" is not reached from here'],
    ['{"sql":"SELECT 1","engine":"loacl"}', 'invalid_parameter', 'engine "loacl" is not known; did you mean local?'],
    ['[]', 'invalid_input', 'the body is an array, not a JSON object'],
    ['SELECT 1', 'invalid_input', 'the body is not valid JSON: a value is expected at character 0'],
    [
      '{"sql":"a\nb"}',
      'invalid_input',
      'the body is not valid JSON: a string holds a control character or a wrong escape at character 9',
    ],
  ])('%s is refused', async (body, code, error) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code, error });
  });

  test('null is the same as nothing', async () => {
    const keys = ['params', 'engine', 'format', 'limit', 'cols', 'timeout_ms', 'keep', 'nm', 'delimiter', 'filename'];
    const answer = await run({ sql: 'SELECT 1 AS a', ...Object.fromEntries(keys.map((key) => [key, null])) });
    expect(answer.status).toBe(200);
  });

  test('of the statement carry query and position', async () => {
    const sql = 'SELECT idd FROM ids';
    const answer = await run({ sql });
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({
      query: sql,
      error: 'column "idd" not found in ids; did you mean "id"?',
      code: 'sql_error',
      position: 7,
    });
  });

  test('of the body carry its position', async () => {
    expect((await post('{"sql":}')).json()).toMatchObject({ code: 'invalid_input', position: 7 });
  });

  test('bytes that are no UTF-8 are refused', async () => {
    const answer = await ask(`${server.url}/sql`, {
      method: 'POST',
      headers: json,
      body: Buffer.from([123, 255, 125]),
    });
    expect(answer.json()).toMatchObject({ code: 'invalid_input', error: 'the body is not UTF-8' });
  });

  test('timeout_ms ends a statement, and the server serves on', async () => {
    const slow = 'SELECT count(*) FROM range(100_000_000_000) t(a) WHERE a % 3 = 1';
    for (const more of [{}, { keep: { handle: 'never' } }]) {
      const answer = await run({ sql: slow, timeout_ms: 200, ...more });
      expect(answer.status).toBe(504);
      expect(answer.json()).toMatchObject({ code: 'sql_timeout', error: 'no answer within 0.2 s', query: slow });
    }
    expect(await value('SELECT 1')).toBe(1);
    expect((await ask(`${server.url}/handles/never`)).status).toBe(404);
  });

  test('a client that leaves stops its statement', async () => {
    await using single = await startFramehold({ settings: { 'sql.workers': '1' } });
    const post = (command: object, options: AskOptions = {}): Promise<Answer> =>
      ask(`${single.url}/sql`, { method: 'POST', headers: json, body: JSON.stringify(command), ...options });
    const controller = new AbortController();
    const sql = 'CREATE TABLE left_behind AS SELECT count(*) AS n FROM range(100_000_000_000) t(a) WHERE a % 3 = 1';
    const left = expect(post({ sql }, { signal: controller.signal })).rejects.toThrow();
    // The only worker is taken.
    await expect.poll(async () => (await post({ sql: 'SELECT 1', timeout_ms: 100 })).status).toBe(504);
    controller.abort();
    await left;
    expect((await post({ sql: 'SELECT 2', timeout_ms: 10_000 })).status).toBe(200);
    expect((await ask(`${single.url}/handles/left_behind`)).status).toBe(404);
  });

  test('a key of a megabyte is refused at once', async () => {
    const answer = await post(JSON.stringify({ ['s'.repeat(1_000_000)]: 1 }));
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_parameter']);
  }, 2000);
});

test('a result that is kept has no more time than one that is read, and leaves nothing when it is over', async () => {
  await using own = await startFramehold({ settings: { 'sql.timeout': '1s' } });
  const body = JSON.stringify({ sql: 'SELECT range AS id FROM range(1_000_000_000_000)', keep: { handle: 'endless' } });
  const answer = await ask(`${own.url}/sql`, { method: 'POST', headers: json, body });
  expect([answer.status, answer.json().code]).toEqual([504, 'sql_timeout']);
  expect(await leftBehind(own)).toEqual({ handles: [], files: [] });
});
