import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Int32, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FlightSqlClient, shownSchema } from '../support/flight-sql-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { tenantCaller } from '../support/tenants.ts';

let server: Framehold;
let flight: FlightSqlClient;
beforeAll(async () => {
  server = await startFramehold();
  flight = new FlightSqlClient(server.grpcAddress.port);
});
afterAll(async () => {
  flight[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const run = (sql: string, params?: unknown, headers = {}): Promise<Answer> =>
  ask(`${server.url}/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ sql, params }),
  });

async function answer(sql: string, params?: unknown): Promise<Record<string, unknown>> {
  return (await run(sql, params)).json();
}

async function rows(sql: string): Promise<unknown> {
  const got = await answer(sql);
  return got.dataset ?? got;
}

let made = 0;
/** A frame of three rows with a key. */
async function keyed(keys = 'PRIMARY KEY (k)'): Promise<string> {
  const name = `k${++made}`;
  await answer(`CREATE TABLE ${name} (k INT, n INT DEFAULT 7, s VARCHAR, ${keys})`);
  await answer(`INSERT INTO ${name} VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')`);
  return name;
}

test('rows that are added stand behind all others, in the order of the INSERT', async () => {
  const t = await keyed();
  const sql = `INSERT INTO ${t} SELECT k, k, 'x' FROM range(2000, 0, -1) AS r(k) ON CONFLICT (k) DO UPDATE SET s = '!' RETURNING k`;
  const body = JSON.stringify({ sql, settings: { default_order: 'DESC' } });
  const headers = { 'content-type': 'application/json' };
  expect((await ask(`${server.url}/sql`, { method: 'POST', headers, body })).json()).toMatchObject({
    dml: 'OK',
    updated: 2000,
    count: 2000,
  });
  expect(await rows(`SELECT k, s FROM ${t} LIMIT 5`)).toEqual([
    [1, '!'],
    [2, '!'],
    [3, '!'],
    [2000, 'x'],
    [1999, 'x'],
  ]);
  const wrong = `SELECT count(*) FROM (SELECT k, lag(k) OVER () AS before FROM (FROM ${t} OFFSET 3)) WHERE k + 1 <> before`;
  expect(await rows(wrong)).toEqual([[0]]);
});

test('the answer counts the rows that were added and changed, and no version is made of none', async () => {
  const t = await keyed();
  const versionOf = async (): Promise<unknown> => (await ask(`${server.url}/handles/${t}`)).json().version;
  const before = await versionOf();
  expect(await answer(`INSERT OR IGNORE INTO ${t} VALUES (1, 1, 'x'), (2, 2, 'y')`)).toEqual({ dml: 'OK', updated: 0 });
  const none = `INSERT INTO ${t} VALUES (1, 1, 'x') ON CONFLICT (k) DO UPDATE SET n = 1 WHERE false RETURNING *`;
  expect(await answer(none)).toMatchObject({ updated: 0, dataset: [] });
  expect(await versionOf()).toBe(before);
  expect(await answer(`INSERT OR REPLACE INTO ${t} VALUES (1, 1, 'x'), (4, 4, 'y')`)).toEqual({
    dml: 'OK',
    updated: 2,
  });
});

test('only the parts that hold a row that changes are written anew', async () => {
  await answer('CREATE TABLE parts (k INT PRIMARY KEY, n INT)');
  for (const from of [0, 100_000, 200_000])
    await answer(`INSERT INTO parts SELECT range, 0 FROM range(${from}, ${from + 100_000})`);
  await ask(`${server.url}/handles/parts/flush`, { method: 'POST' });
  const folder = join(server.dataDir, 'cold');
  const inodes = async (): Promise<ReadonlySet<number>> => {
    const files = (await readdir(folder, { recursive: true })).filter((path) => /^parts[./].*parquet$/.test(path));
    return new Set(await Promise.all(files.map(async (path) => (await stat(join(folder, path))).ino)));
  };
  const before = await inodes();
  // That of CREATE TABLE has no rows.
  expect(before.size).toBe(4);
  await answer('INSERT INTO parts VALUES (150000, 1), (300000, 1) ON CONFLICT (k) DO UPDATE SET n = excluded.n');
  const after = await inodes();
  expect([...after].filter((inode) => before.has(inode))).toHaveLength(2);
  expect(await rows('SELECT count(*), sum(n) FROM parts')).toEqual([[300_001, '2']]);
});

test('two that add the same key at the same time add it once', async () => {
  await answer('CREATE TABLE counters (k INT PRIMARY KEY, n INT)');
  for (let round = 0; round < 5; round++) {
    const upsert = `INSERT INTO counters VALUES (${round}, 1) ON CONFLICT (k) DO UPDATE SET n = counters.n + 1`;
    const ignore = `INSERT OR IGNORE INTO counters VALUES (${round + 100}, 1)`;
    const done = await Promise.all([upsert, upsert, ignore, ignore].map((sql) => answer(sql)));
    expect(done.map(({ dml }) => dml)).toEqual(['OK', 'OK', 'OK', 'OK']);
    expect(Number(done[2]?.updated) + Number(done[3]?.updated)).toBe(1);
  }
  expect(await rows('SELECT k, n FROM counters ORDER BY k')).toEqual(
    [0, 1, 2, 3, 4, 100, 101, 102, 103, 104].map((k) => [k, k < 100 ? 2 : 1]),
  );
});

test('names are compared in any case, and may be any', async () => {
  await answer('CREATE TABLE "odd-1" ("the k" INT, "Se""l" VARCHAR, rows INT DEFAULT 3, UNIQUE ("the k", rows))');
  await answer(`INSERT INTO "odd-1" VALUES (1, 'x', 1), (2, 'y', 2)`);
  const sql = `INSERT INTO "odd-1" VALUES (1, 'z', 1), (2, 'w', 3) ON CONFLICT (ROWS, "THE K")
    DO UPDATE SET "se""l" = excluded."Se""l" || "odd-1"."Se""l", rows = DEFAULT`;
  expect(await answer(sql)).toEqual({ dml: 'OK', updated: 2 });
  expect(await rows('FROM "odd-1"')).toEqual([
    [1, 'zx', 3],
    [2, 'y', 2],
    [2, 'w', 3],
  ]);
});

test('types that a frame keeps as others are keys, and values', async () => {
  await answer(
    "CREATE TABLE kept (k ENUM('a', 'b') PRIMARY KEY, h HUGEINT, l INT[], s STRUCT(a INT, b VARCHAR), t TIMETZ, b BIT)",
  );
  await answer("INSERT INTO kept VALUES ('a', 1, [1], {a: 1, b: 'x'}, '10:00:00+00', '101')");
  const sql = `INSERT INTO kept VALUES ('a', 2, [2], {a: 2, b: 'y'}, '12:00:00+00', '11'), ('b', NULL, NULL, NULL, NULL, NULL)
    ON CONFLICT (k) DO UPDATE SET h = kept.h + excluded.h, l = excluded.l, s = excluded.s, t = excluded.t, b = excluded.b`;
  expect(await answer(sql)).toEqual({ dml: 'OK', updated: 2 });
  expect(await rows('SELECT k, h::INT, l::VARCHAR, s.b, t::VARCHAR, b::VARCHAR FROM kept')).toEqual([
    ['a', 3, '[2]', 'y', '12:00:00+00', '11'],
    ['b', null, null, null, null, null],
  ]);
});

test('a frame whose columns have changed, and one that is made anew, are seen as they are', async () => {
  const upsert = (values: string): Promise<unknown> =>
    answer(`INSERT INTO altered VALUES ${values} ON CONFLICT (k) DO UPDATE SET v = excluded.v`);
  for (const [type, value, shown] of [
    ['INT', '1', 1],
    ['VARCHAR', "'one'", 'one'],
    ['INT[]', '[1]', [1]],
  ] as const) {
    await answer(`CREATE OR REPLACE TABLE altered (k INT PRIMARY KEY, v ${type})`);
    expect(await upsert(`(1, ${value})`)).toMatchObject({ updated: 1 });
    expect(await upsert(`(1, ${value})`)).toMatchObject({ updated: 1 });
    expect(await rows('FROM altered')).toEqual([[1, shown]]);
  }
  await answer('ALTER TABLE altered ALTER v TYPE VARCHAR');
  await answer('ALTER TABLE altered ADD COLUMN w INT DEFAULT 5');
  expect(await upsert("(1, 'x', 6), (2, 'y', DEFAULT)")).toMatchObject({ updated: 2 });
  expect(await rows('FROM altered')).toEqual([
    [1, 'x', 5],
    [2, 'y', 5],
  ]);
});

test('parameters stand in the rows, in DO UPDATE and in RETURNING', async () => {
  const t = await keyed();
  const sql = `INSERT INTO ${t} VALUES (?, ?, 'p') ON CONFLICT (k) DO UPDATE SET n = ${t}.n + ?, s = ? WHERE ${t}.n > ? RETURNING k, n + ? AS m`;
  expect(await answer(sql, [2, 0, 5, 'q', 15, 100])).toMatchObject({ dataset: [[2, 125]], updated: 1 });
  const named = `INSERT INTO ${t} BY NAME SELECT $k AS k ON CONFLICT (k) DO UPDATE SET n = $n, s = $k || $s`;
  expect(await answer(named, { k: 1, n: 5, s: 'x' })).toEqual({ dml: 'OK', updated: 1 });
  expect(await rows(`FROM ${t}`)).toEqual([
    [1, 5, '1x'],
    [2, 25, 'q'],
    [3, 30, 'c'],
  ]);
});

describe('what cannot be done is refused, and changes nothing', () => {
  test.each([
    ['INSERT INTO @ VALUES (1, 1, 1) ON CONFLICT (n) DO NOTHING', /not those of a PRIMARY KEY or UNIQUE of k\d+$/, 'n'],
    ['INSERT INTO @ VALUES (1, 1, 1) ON CONFLICT (kk) DO NOTHING', /"kk" not found in k\d+.*did you mean "k"/, 'kk'],
    ['INSERT INTO @ VALUES (1, 1, 1) ON CONFLICT (k) DO UPDATE SET nn = 1', /"nn" not found/, 'nn'],
    ['INSERT INTO @ VALUES (1, 1, 1) ON CONFLICT (k) DO UPDATE SET n = excluded.nn', /"nn" not found/, 'nn'],
    ['INSERT INTO @ VALUES (1, 1, 1) ON CONFLICT (k) DO UPDATE SET n = other', /"other" not found/, 'other'],
    ["INSERT INTO @ VALUES (1, 1, 1) ON CONFLICT (k) DO UPDATE SET n = 'x'", /could not convert/i, undefined],
    ['INSERT INTO @ VALUES (1, 1, 1) ON CONFLICT (k) DO UPDATE SET n = sum(n)', /DO UPDATE takes no aggregate/, 'sum'],
    ['INSERT OR IGNORE INTO @ VALUES (1, 1, 1) ON CONFLICT DO NOTHING', /take no ON CONFLICT/, 'ON CONFLICT'],
    ['INSERT OR REPLACE INTO @ VALUES (NULL, 1, 1)', /"k" of k\d+ takes no NULL/, undefined],
    ['INSERT OR IGNORE INTO @ VALUES (1, 1)', /3 columns but 2 values/, undefined],
  ])('%s', async (text, message, place) => {
    const t = await keyed();
    const sql = text.replace('@', t);
    const got = await answer(sql);
    expect(got).toMatchObject({ code: 'sql_error', error: expect.stringMatching(message) });
    if (place !== undefined) expect(got.position).toBe(sql.lastIndexOf(place));
    expect(await rows(`SELECT count(*), sum(n) FROM ${t}`)).toEqual([[3, '60']]);
  });

  test('of a table without keys, with several, with generated columns, or with a column "excluded"', async () => {
    await answer('CREATE TABLE no_key (a INT)');
    await answer('CREATE TABLE two_keys (a INT PRIMARY KEY, b INT UNIQUE)');
    await answer('CREATE TABLE made_of (a INT PRIMARY KEY, b INT AS (a + 1))');
    await answer('CREATE TABLE named_so (a INT PRIMARY KEY, excluded INT)');
    await answer('CREATE VIEW seen AS SELECT 1 AS a');
    const told = async (sql: string): Promise<unknown> => {
      const { error, hint } = await answer(sql);
      return [error, hint];
    };
    expect(await told('INSERT OR IGNORE INTO no_key VALUES (1)')).toEqual([
      'no_key has no PRIMARY KEY and no UNIQUE, so that no row can conflict',
      'keys are declared with the table: CREATE TABLE x (a BIGINT PRIMARY KEY, …)',
    ]);
    expect(await told('INSERT OR REPLACE INTO two_keys VALUES (1, 1)')).toEqual([
      'two_keys has several keys, and a row could have those of two others',
      'name one: ON CONFLICT (column, …) DO UPDATE SET …; its keys are (a), (b)',
    ]);
    expect(await told('INSERT OR IGNORE INTO made_of (a) VALUES (1)')).toMatchObject([/generated columns/, {}]);
    const update = 'VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET a = excluded.a';
    expect(await told(`INSERT INTO named_so ${update}`)).toMatchObject([/"excluded" of named_so/, {}]);
    expect(await told(`INSERT INTO two_keys AS excluded ${update}`)).toMatchObject([/"excluded" means/, {}]);
    expect(await told('INSERT OR IGNORE INTO seen VALUES (1)')).toMatchObject([/seen is a view/, {}]);
    expect(await answer('INSERT OR REPLACE INTO named_so VALUES (1, 2)')).toEqual({ dml: 'OK', updated: 1 });
  });

  test('with a collation of the statement, which would make other keys of them', async () => {
    const [t, settings] = [await keyed('UNIQUE (s)'), { default_collation: 'NOCASE' }];
    const body = JSON.stringify({ sql: `INSERT OR IGNORE INTO ${t} (s) VALUES ('A')`, settings });
    const headers = { 'content-type': 'application/json' };
    expect((await ask(`${server.url}/sql`, { method: 'POST', headers, body })).json()).toMatchObject({
      code: 'invalid_parameter',
      hint: expect.stringContaining('leave out default_collation'),
    });
    expect(await answer(`INSERT OR IGNORE INTO ${t} (s) VALUES ('A'), ('a')`)).toEqual({ dml: 'OK', updated: 1 });
  });

  test('with the headers of a producer', async () => {
    const producer = { 'producer-id': 'loader', 'producer-epoch': '0', 'producer-seq': '0' };
    expect(
      (await run(`INSERT OR IGNORE INTO ${await keyed()} (k) VALUES (1)`, undefined, producer)).json(),
    ).toMatchObject({
      code: 'invalid_parameter',
      error: expect.stringContaining('ON CONFLICT'),
    });
  });
});

describe('over Flight SQL', () => {
  const bound = (keys: number[], names: (string | null)[]): Uint8Array =>
    tableToIPC(new Table({ 1: vectorFromArray(keys, new Int32()), 2: vectorFromArray(names, new Utf8()) }), 'stream');

  test('all rows of parameters are applied in one version', async () => {
    const t = await keyed();
    const sql = `INSERT INTO ${t} (k, s) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET s = excluded.s`;
    const { handle, parameterSchema } = await flight.prepare(sql);
    expect(shownSchema(parameterSchema)).toEqual(['1 Int32', '2 Utf8']);
    const update = (...rowsOf: Parameters<typeof bound>): Promise<number> =>
      flight.update('CommandPreparedStatementUpdate', [[1, handle]], bound(...rowsOf));
    expect(await update([1, 3, 5, 4], ['x', 'y', 'z', null])).toBe(4);
    await expect(update([7, 8, 7], ['a', 'b', 'c'])).rejects.toThrow('two rows of bound parameters have the same key');
    expect(await rows(`SELECT k, s, n FROM ${t}`)).toEqual([
      [1, 'x', 10],
      [2, 'b', 20],
      [3, 'y', 30],
      [5, 'z', 7],
      [4, null, 7],
    ]);
  });

  test('of rows of parameters with the same key DO NOTHING adds the first', async () => {
    const t = await keyed();
    const { handle } = await flight.prepare(`INSERT OR IGNORE INTO ${t} (k, s) VALUES (?, ?)`);
    const update = flight.update('CommandPreparedStatementUpdate', [[1, handle]], bound([9, 1, 9], ['x', 'y', 'z']));
    expect(await update).toBe(1);
    expect(await rows(`SELECT k, s FROM ${t} WHERE k > 3 OR s > 'c'`)).toEqual([[9, 'x']]);
  });

  test('a parameter of DO UPDATE is the same in all rows of parameters', async () => {
    const t = await keyed();
    const { handle, parameterSchema } = await flight.prepare(
      `INSERT INTO ${t} (k) VALUES (?) ON CONFLICT (k) DO UPDATE SET s = ${t}.s || ?`,
    );
    expect(shownSchema(parameterSchema)).toHaveLength(2);
    const update = (...rowsOf: Parameters<typeof bound>): Promise<number> =>
      flight.update('CommandPreparedStatementUpdate', [[1, handle]], bound(...rowsOf));
    await expect(update([1, 2], ['x', 'y'])).rejects.toThrow('give DO UPDATE different values');
    expect(await update([2], ['!'])).toBe(1);
    expect(await update([2, 3, 4], ['?', '?', '?'])).toBe(3);
    expect(await rows(`SELECT s FROM ${t}`)).toEqual([['a'], ['b!?'], ['c?'], [null]]);
  });

  test('RETURNING gives rows with their schema', async () => {
    const t = await keyed();
    const sql = `INSERT INTO ${t} VALUES (3, 1, 'x'), (4, 2, 'y') ON CONFLICT DO NOTHING RETURNING k, n * 2 AS m`;
    expect(shownSchema(await flight.schema('CommandStatementQuery', [1, sql]))).toEqual(['k Int32', 'm Int32']);
    expect(await flight.query(sql)).toEqual([{ k: 4, m: 4 }]);
  });
});

test('a tenant upserts into its own frames alone', async () => {
  await using guarded = await startFramehold({ settings: { 'auth.enabled': 'true' } });
  using ann = await tenantCaller(guarded, 'ann');
  using bob = await tenantCaller(guarded, 'bob');
  for (const caller of [ann, bob]) {
    await caller.sql('CREATE TABLE mine (k INT PRIMARY KEY, n INT)');
    for (let n = 0; n < 2; n++) {
      const sql = `INSERT INTO mine VALUES (1, ${n}), (${n + 2}, 5) ON CONFLICT (k) DO UPDATE SET n = mine.n + excluded.n + 1`;
      expect((await caller.sql(sql)).json()).toEqual({ dml: 'OK', updated: 2 });
    }
    expect((await caller.sql('FROM mine')).json().dataset).toEqual([
      [1, 2],
      [2, 5],
      [3, 5],
    ]);
  }
  expect((await bob.sql('INSERT OR IGNORE INTO ann.mine VALUES (9, 9)')).json()).toMatchObject({
    code: 'handle_not_found',
  });
});
