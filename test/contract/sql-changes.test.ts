import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'sql.timeout': '20s' } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const run = (sql: string, params?: unknown): Promise<Answer> =>
  ask(`${server.url}/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql, params }),
  });

async function answer(sql: string, params?: unknown): Promise<unknown> {
  return (await run(sql, params)).json();
}

async function rows(sql: string): Promise<unknown> {
  const got = (await run(sql)).json();
  return got.dataset ?? got;
}

let made = 0;
/** Ten rows of a frame in three parts and its log. */
async function tenRows(): Promise<string> {
  const name = `t${++made}`;
  await putSql(server.frames, name, "SELECT range AS id, range % 3 AS g, 'v' || range AS v FROM range(4)");
  for (const range of ['4, 7', '7, 9']) {
    const sql = `SELECT range AS id, range % 3 AS g, 'v' || range AS v FROM range(${range})`;
    await putSql(server.frames, name, sql, { mode: 'append' });
  }
  await run(`INSERT INTO ${name} VALUES (9, 0, 'v9')`);
  return name;
}

describe('names', () => {
  test('are told apart as DuckDB does it: case counts for all letters but A to Z', async () => {
    const statements = [
      'CREATE OR REPLACE TABLE umlauts ("Ä" INT, "ä" INT, k INT, "\u212a" INT, PRIMARY KEY ("ä"))',
      'INSERT INTO umlauts ("ä", "Ä", k, "\u212a") VALUES (2, 1, 3, 4)',
      'UPDATE umlauts SET "ä" = 20, "Ä" = 10, k = 30, "\u212a" = 40',
      'MERGE INTO umlauts USING (SELECT 30 AS j) ON k = j WHEN MATCHED THEN UPDATE SET "Ä" = "Ä" + 1, "ä" = "ä" + 2',
      'ALTER TABLE umlauts ADD COLUMN "Ö" INT DEFAULT 5',
      'ALTER TABLE umlauts ADD COLUMN "ö" INT DEFAULT 6',
    ];
    for (const sql of statements) expect((await run(sql)).status, sql).toBe(200);
    expect(await rows('SELECT "ä", "Ä", "\u212a", k, "ö", "Ö" FROM umlauts')).toEqual([[22, 11, 40, 30, 6, 5]]);
    const body = '{"Ä":1,"ä":2}\n{"ä":4,"Ä":3}\n';
    expect(
      (await ask(`${server.url}/imp?name=umlaut_lines&format=ndjson&fmt=json`, { method: 'POST', body })).status,
    ).toBe(200);
    expect(await rows('SELECT "ä", "Ä" FROM umlaut_lines')).toEqual([
      [2, 1],
      [4, 3],
    ]);
    for (const sql of [
      'CREATE TABLE x (a INT, "A" INT)',
      'UPDATE umlauts SET "Ä" = 1, "Ä" = 2',
      'UPDATE umlauts SET k = 1, "K" = 2',
    ])
      expect(await answer(sql), sql).toMatchObject({ code: 'sql_error' });
  });

  test('of our own are in no message and decide nothing where they stand in a text of the caller', async () => {
    const t = await tenRows();
    expect(await answer(`INSERT INTO ${t} (id) SELECT CAST('insert_target' AS INT)`)).toMatchObject({
      error: expect.stringContaining("'insert_target'"),
    });
    const merge = `MERGE INTO ${t} t USING (SELECT 1 AS k) ON t.id = k WHEN MATCHED THEN UPDATE SET g = 5 RETURNING`;
    expect((await run(`${merge} *, 'merge_action' AS word`)).json()).toMatchObject({
      columns: [{ name: 'id' }, { name: 'g' }, { name: 'v' }, { name: 'word' }],
      dataset: [[1, 5, 'v1', 'merge_action']],
    });
    expect((await run(`${merge} *, "Merge_Action" AS did`)).json().dataset).toEqual([[1, 5, 'v1', 'UPDATE']]);
    await run('CREATE OR REPLACE TABLE strict (a INT NOT NULL CHECK (a > 0))');
    for (const [sql, message] of [
      ['INSERT INTO strict VALUES (NULL)', 'column "a" of strict takes no NULL'],
      ['INSERT INTO strict VALUES (-1)', 'on table strict'],
      ['INSERT INTO strict VALUES (1, 2)', 'strict'],
      ['CREATE TABLE loose (a INT, CHECK (b > 0))', 'b'],
    ] as const)
      expect(await answer(sql), sql).toMatchObject({ error: expect.stringContaining(message) });
  });
});

describe('UPDATE', () => {
  test('changes the rows that match and keeps all others, in their order', async () => {
    const t = await tenRows();
    expect(await answer(`UPDATE ${t} SET v = v || '!', g = g + 10 WHERE id IN (1, 5, 9)`)).toEqual({
      dml: 'OK',
      updated: 3,
    });
    expect(await rows(`SELECT id, g, v FROM ${t}`)).toEqual(
      Array.from({ length: 10 }, (_, id) =>
        [1, 5, 9].includes(id) ? [id, (id % 3) + 10, `v${id}!`] : [id, id % 3, `v${id}`],
      ),
    );
  });

  test('takes parameters, an alias, other tables and names of WITH', async () => {
    const t = await tenRows();
    const sql = `WITH u AS (SELECT 3 AS k, ? AS x UNION ALL SELECT 4, 'y') UPDATE ${t} AS a SET v = u.x || ?, (g) = (?) FROM u WHERE a.id = u.k AND id < ?`;
    expect(await answer(sql, ['x', '-', 7, 4])).toEqual({ dml: 'OK', updated: 1 });
    expect(await rows(`SELECT * FROM ${t} WHERE g = 7`)).toEqual([[3, 7, 'x-']]);
  });

  test('gives rows with RETURNING, as they are written', async () => {
    const t = await tenRows();
    expect(
      await answer(`UPDATE ${t} SET g = 1.6, v = DEFAULT WHERE id > 6 RETURNING *, id + ? AS more`, [100]),
    ).toMatchObject({
      columns: [{ name: 'id' }, { name: 'g' }, { name: 'v' }, { name: 'more' }],
      dataset: [
        [7, 2, null, 107],
        [8, 2, null, 108],
        [9, 2, null, 109],
      ],
      count: 3,
      dml: 'OK',
      updated: 3,
    });
    expect(await rows(`SELECT * FROM ${t} WHERE g = 2 AND v IS NULL`)).toHaveLength(3);
  });
});

describe('DELETE and TRUNCATE', () => {
  test('remove rows', async () => {
    const t = await tenRows();
    expect(await answer(`DELETE FROM ${t} WHERE id BETWEEN 2 AND 8 RETURNING id`)).toMatchObject({
      count: 7,
      updated: 7,
    });
    expect(await rows(`SELECT id FROM ${t}`)).toEqual([[0], [1], [9]]);
    expect(await answer(`DELETE FROM ${t} a USING range(1) b(k) WHERE a.id = b.k`)).toEqual({ dml: 'OK', updated: 1 });
    expect(await answer(`TRUNCATE ${t}`)).toEqual({ dml: 'OK', updated: 2 });
    expect(await rows(`SELECT * FROM ${t}`)).toEqual([]);
    expect(await answer(`INSERT INTO ${t} VALUES (1, 2, 'x') RETURNING id + g AS s`)).toMatchObject({
      dataset: [[3]],
      updated: 1,
    });
    expect(await rows(`SELECT * FROM ${t}`)).toEqual([[1, 2, 'x']]);
  });
});

describe('rowid', () => {
  test('gives values of a UNION with RETURNING as a query gives them', async () => {
    await run('CREATE TABLE unions (id INT, u UNION(s VARCHAR, n INT), h HUGEINT)');
    const returned = (value: unknown) => ({ dataset: [[value, '5']] });
    const columns = 'RETURNING u, h';
    expect(await answer(`INSERT INTO unions VALUES (1, 'q', 5) ${columns}`)).toMatchObject(returned('q'));
    expect(await rows('SELECT u, h FROM unions')).toEqual([['q', '5']]);
    expect(await answer(`UPDATE unions SET u = 7 WHERE id = 1 ${columns}`)).toMatchObject(returned(7));
    expect(await answer(`UPDATE unions SET id = 2 ${columns}, union_tag(u)::VARCHAR`)).toMatchObject({
      dataset: [[7, '5', 'n']],
    });
    expect(
      await answer(
        `MERGE INTO unions t USING (SELECT 2 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET u = 'm' RETURNING merge_action, u`,
      ),
    ).toMatchObject({ dataset: [['UPDATE', 'm']] });
    expect(await answer(`DELETE FROM unions ${columns}`)).toMatchObject(returned('m'));
    await run("INSERT INTO unions VALUES (3, 'd', 5)");
    expect(await answer(`DELETE FROM unions WHERE id = 3 ${columns}`)).toMatchObject(returned('d'));
  });

  test('names the rows of all parts of a frame, with parameters and RETURNING', async () => {
    const t = await tenRows();
    await run(`INSERT INTO ${t} VALUES (10, 0, 'more'), (11, 1, 'more')`);
    expect(await answer(`DELETE FROM ${t} WHERE rowid = ? OR rowid = 11 RETURNING id`, [3])).toMatchObject({
      dataset: [[3], [11]],
    });
    expect(await answer(`DELETE FROM ${t} WHERE rowid = 9`)).toEqual({ dml: 'OK', updated: 1 });
    expect(await rows(`SELECT list(id ORDER BY id) FROM ${t}`)).toEqual([[[0, 1, 2, 4, 5, 6, 7, 8, 9]]]);
    expect(await answer(`UPDATE ${t} SET v = rowid::VARCHAR WHERE rowid IN (SELECT max(rowid) FROM ${t})`)).toEqual({
      dml: 'OK',
      updated: 1,
    });
    expect(await rows(`SELECT v FROM ${t} WHERE id = 9`)).toEqual([['8']]);
  });
});

describe('MERGE', () => {
  const source = `(SELECT * FROM (VALUES (1, 'a'), (5, 'b'), (9, 'c'), (20, 'd'), (21, 'e')) AS v(id, x))`;

  test('updates, deletes and adds rows in one version', async () => {
    const t = await tenRows();
    const sql = `MERGE INTO ${t} USING ${source} AS s ON ${t}.id = s.id
      WHEN MATCHED AND s.x = 'b' THEN DELETE
      WHEN MATCHED AND s.x = 'c' THEN DO NOTHING
      WHEN MATCHED THEN UPDATE SET v = s.x || ?, g = 1.6
      WHEN NOT MATCHED AND s.id > 20 THEN INSERT (v, id) VALUES (s.x, s.id + 0.4)
      WHEN NOT MATCHED BY SOURCE AND g = 2 THEN UPDATE SET v = NULL`;
    expect(await answer(sql, ['!'])).toEqual({ dml: 'OK', updated: 5 });
    expect(await rows(`SELECT * FROM ${t}`)).toEqual([
      [0, 0, 'v0'],
      [1, 2, 'a!'],
      [2, 2, null],
      [3, 0, 'v3'],
      [4, 1, 'v4'],
      [6, 0, 'v6'],
      [7, 1, 'v7'],
      [8, 2, null],
      [9, 0, 'v9'],
      [21, null, 'e'],
    ]);
  });

  test('adds rows to a frame that has none', async () => {
    await run('CREATE TABLE without_rows (id BIGINT, x VARCHAR)');
    const sql = `MERGE INTO without_rows t USING ${source} s USING (id) WHEN NOT MATCHED THEN INSERT *`;
    expect(await answer(sql)).toEqual({ dml: 'OK', updated: 5 });
    expect(await rows('SELECT count(*), max(x) FROM without_rows')).toEqual([[5, 'e']]);
    await run('TRUNCATE without_rows');
    expect(await answer(sql)).toEqual({ dml: 'OK', updated: 5 });
    expect(await rows('SELECT count(*), max(x) FROM without_rows')).toEqual([[5, 'e']]);
  });

  test('gives rows with RETURNING, and what happened to each', async () => {
    const t = await tenRows();
    const sql = `MERGE INTO ${t} AS t USING ${source} s USING (id) WHEN MATCHED AND t.g = 0 THEN DELETE
      WHEN MATCHED THEN UPDATE SET v = x WHEN NOT MATCHED BY TARGET THEN INSERT (id, g) VALUES (s.id, 7) RETURNING merge_action, *`;
    const got = (await run(sql)).json();
    expect(got.columns).toMatchObject([{ name: 'merge_action' }, { name: 'id' }, { name: 'g' }, { name: 'v' }]);
    expect((got.dataset as unknown[][]).toSorted((a, b) => Number(a[1]) - Number(b[1]))).toEqual([
      ['UPDATE', 1, 1, 'a'],
      ['UPDATE', 5, 2, 'b'],
      ['DELETE', 9, 0, 'v9'],
      ['INSERT', 20, 7, null],
      ['INSERT', 21, 7, null],
    ]);
    expect(got).toMatchObject({ updated: 5, count: 5 });
  });

  test('takes all columns of the source where it names none, with parameters and RETURNING', async () => {
    const t = await tenRows();
    const sql = `WITH w AS (SELECT ? AS x) MERGE INTO ${t} AS t USING (SELECT 9 AS id, ? AS g, x AS v FROM w) s USING (id)
      WHEN MATCHED AND t.g < ? THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT RETURNING merge_action, *`;
    expect(await answer(sql, ['new', 5, 3])).toMatchObject({ dataset: [['UPDATE', 9, 5, 'new']], updated: 1 });
    expect(await rows(`SELECT * FROM ${t} WHERE id = 9`)).toEqual([[9, 5, 'new']]);
  });

  test('tells where an error is in the text of the caller, behind columns that it names itself', async () => {
    const t = await tenRows();
    for (const [wrong, condition] of [
      ['t.gg', 't.gg > 1'],
      ['getenv', "getenv('x') = 'y'"],
    ] as const) {
      const sql = `MERGE INTO ${t} AS t USING (SELECT 1 AS id, 2 AS g, 'x' AS v) s USING (id)
        WHEN MATCHED AND t.g = 1 THEN UPDATE SET * WHEN MATCHED AND ${condition} THEN DELETE`;
      expect((await run(sql)).json()).toMatchObject({ position: sql.indexOf(wrong) });
    }
  });

  test('keeps large numbers that another branch sets to one with a fraction', async () => {
    await putSql(server.frames, 'large', 'SELECT 9007199254740993 AS n, 1 AS k UNION ALL SELECT 2, 2');
    const sql = `MERGE INTO large USING (SELECT unnest([1, 2]) AS k) s ON large.k = s.k
      WHEN MATCHED AND s.k = 2 THEN UPDATE SET n = 1.5 WHEN MATCHED THEN UPDATE SET k = 10`;
    expect(await answer(sql)).toEqual({ dml: 'OK', updated: 2 });
    expect(await rows('SELECT n::VARCHAR, k FROM large')).toEqual([
      ['9007199254740993', 10],
      ['2', 2],
    ]);
  });

  test.each([
    ['USING (SELECT 1 AS id FROM range(2)) s ON t.id = s.id WHEN MATCHED THEN DELETE', /more than once/],
    ["USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN ERROR 'not ' || s.id", /not 1/],
    ['USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET vv = 1', /"vv" not found.*did you mean "v"/],
    ['USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE', /must name its columns/],
    ['USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE', /gives 1 columns of the source to 3 columns/],
    [
      'USING (SELECT 1 AS id, 2 AS vv) s USING (id) WHEN MATCHED THEN UPDATE BY NAME',
      /"vv" that the frame has not.*"v"/,
    ],
    ['USING (SELECT 1 AS id, 2, 3) ON true WHEN MATCHED THEN UPDATE', /source of MERGE needs a name/],
    ['USING (SELECT 1 AS id) s USING (id) WHEN NOT MATCHED THEN INSERT BY NAME (id) VALUES (1)', /expected WHEN/],
    [
      'USING (SELECT 1 AS id) s USING (id) WHEN NOT MATCHED THEN INSERT VALUES (DEFAULT, 1)',
      /gives 2 values to 3 columns/,
    ],
  ])('%s is refused, and changes nothing', async (sql, message) => {
    const t = await tenRows();
    const got = (await run(`MERGE INTO ${t} AS t ${sql}`)).json();
    expect(got).toMatchObject({ code: 'sql_error', error: expect.stringMatching(message) });
    expect(await rows(`SELECT count(*), sum(g) FROM ${t}`)).toEqual([[10, '9']]);
  });
});

test('constraints and defaults hold for changes of rows, and stay', async () => {
  await run("CREATE TABLE held (id BIGINT NOT NULL, n INT DEFAULT 7, m ENUM('a', 'b'), CHECK (n < 100))");
  await run("INSERT INTO held VALUES (1, 1, 'a'), (2, 2, 'b')");
  for (const set of ['id = NULL', 'n = 100', "m = 'c'"]) {
    expect(await answer(`UPDATE held SET ${set} WHERE id = 2`)).toMatchObject({ code: 'sql_error' });
  }
  expect(await answer('UPDATE held SET n = DEFAULT WHERE id = 2')).toEqual({ dml: 'OK', updated: 1 });
  expect(await rows('SELECT * FROM held')).toEqual([
    [1, 1, 'a'],
    [2, 7, 'b'],
  ]);
  expect(await answer('DELETE FROM held WHERE id = 1')).toEqual({ dml: 'OK', updated: 1 });
  expect(await answer('INSERT INTO held VALUES (NULL, 1, NULL)')).toMatchObject({ code: 'sql_error' });
  expect(await answer("INSERT INTO held (id, m) VALUES (3, 'z')")).toMatchObject({ code: 'sql_error' });
  expect(await answer('INSERT INTO held (id) VALUES (3) RETURNING n')).toMatchObject({ dataset: [[7]] });
});

test('an INSERT of DEFAULT VALUES gives the row that it adds with RETURNING', async () => {
  await answer("CREATE TABLE given (i INTEGER DEFAULT 7, s VARCHAR DEFAULT 'new')");
  expect(await answer('INSERT INTO given DEFAULT VALUES RETURNING i, upper(s) AS s')).toMatchObject({
    dml: 'OK',
    updated: 1,
    dataset: [[7, 'NEW']],
  });
});

test('RETURNING computes nothing of several rows', async () => {
  await answer('CREATE TABLE apart AS SELECT range AS i FROM range(3)');
  for (const [returning, what] of [
    ['sum(i)', 'aggregate'],
    ['i, json_group_array(i)', 'aggregate'],
    ['row_number() OVER ()', 'window'],
    ['(SELECT 1)', 'subquery'],
    ['EXISTS (FROM apart)', 'subquery'],
  ] as const) {
    for (const sql of ['DELETE FROM apart', 'UPDATE apart SET i = 5', 'INSERT INTO apart VALUES (9)']) {
      expect(await answer(`${sql} RETURNING ${returning}`)).toMatchObject({
        code: 'sql_error',
        error: `RETURNING takes no ${what}`,
      });
    }
  }
  expect(await rows('FROM apart')).toEqual([[0], [1], [2]]);
  expect(await answer('DELETE FROM apart RETURNING list_sum([i, 1])')).toMatchObject({
    dataset: [['1'], ['2'], ['3']],
  });
});
