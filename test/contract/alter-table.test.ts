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

let tables = 0;
const newTable = (): string => `altered_${++tables}`;

async function run(sql: string, on: Pick<Framehold, 'url'> = server): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return await ask(`${on.url}/sql`, { method: 'POST', headers, body: JSON.stringify({ sql }) });
}

async function change(sql: string): Promise<void> {
  const answer = await run(sql);
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
}

async function rows(sql: string, on?: Framehold): Promise<unknown[][]> {
  const answer = await run(sql, on);
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
  return answer.json().dataset as unknown[][];
}

/** A frame of two rows in Parquet and one in its log. */
async function frame(): Promise<string> {
  const table = newTable();
  await change(`CREATE TABLE ${table} (id BIGINT NOT NULL, name VARCHAR DEFAULT 'new', "when" TIMESTAMP_S)`);
  await change(`INSERT INTO ${table} VALUES (1, 'a', '2026-01-01 00:00:01'), (2, NULL, NULL)`);
  await ask(`${server.url}/handles/${table}/flush`, { method: 'POST' });
  await change(`INSERT INTO ${table} (id) VALUES (3)`);
  return table;
}

const at = '2026-01-01T00:00:01.000000Z';

describe('ALTER TABLE', () => {
  test('adds a column that is NULL in the rows that are there, and takes values from then on', async () => {
    const table = await frame();
    await change(`ALTER TABLE ${table} ADD COLUMN mood ENUM('ok', 'bad')`);
    await change(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS MOOD INT`);
    await change(`INSERT INTO ${table} VALUES (4, 'd', NULL, 'ok')`);
    expect(await rows(`SELECT id, mood, typeof(mood) FROM ${table}`)).toEqual(
      [1, 2, 3, 4].map((id) => [id, id === 4 ? 'ok' : null, "ENUM('ok', 'bad')"]),
    );
    expect((await run(`INSERT INTO ${table} (id, mood) VALUES (5, 'other')`)).status).toBe(400);
  });

  test('adds a column with a default, which all rows get', async () => {
    const table = await frame();
    await change(`ALTER TABLE ${table} ADD n INT DEFAULT 1 + 1 NOT NULL`);
    await change(`INSERT INTO ${table} (id) VALUES (4)`);
    expect(await rows(`SELECT id, name, "when", n FROM ${table}`)).toEqual([
      [1, 'a', at, 2],
      [2, null, null, 2],
      [3, 'new', null, 2],
      [4, 'new', null, 2],
    ]);
    expect((await run(`INSERT INTO ${table} (id, n) VALUES (5, NULL)`)).status).toBe(400);
  });

  test('drops, renames and retypes columns, and keeps the rest of the definition', async () => {
    const table = await frame();
    await change(`ALTER TABLE ${table} RENAME COLUMN ID TO "Key"`);
    await change(`ALTER TABLE ${table} ALTER COLUMN "Key" SET DATA TYPE DECIMAL(10, 1) USING "Key" * 10`);
    await change(`ALTER TABLE ${table} DROP COLUMN IF EXISTS nothing`);
    expect(await rows(`FROM ${table}`)).toEqual([
      ['10.0', 'a', at],
      ['20.0', null, null],
      ['30.0', 'new', null],
    ]);
    expect((await run(`INSERT INTO ${table} ("Key") VALUES (NULL)`)).json().error).toContain('Key');
    // Still of whole seconds.
    await change(`INSERT INTO ${table} VALUES (4, 'd', '2026-01-01 00:00:01.25')`);
    expect(await rows(`SELECT "when" FROM ${table} WHERE "Key" = 4`)).toEqual([[at]]);
    await change(`ALTER TABLE ${table} DROP "when"`);
    expect((await rows(`DESCRIBE ${table}`)).map(([name, type]) => [name, type])).toEqual([
      ['Key', 'DECIMAL(10,1)'],
      ['name', 'VARCHAR'],
    ]);
  });

  test('sets and drops DEFAULT and NOT NULL', async () => {
    const table = await frame();
    await change(`ALTER TABLE ${table} ALTER name SET DEFAULT upper('other')`);
    await change(`ALTER TABLE ${table} ALTER id DROP NOT NULL`);
    await change(`INSERT INTO ${table} (id) VALUES (NULL)`);
    await change(`ALTER TABLE ${table} ALTER name DROP DEFAULT`);
    await change(`INSERT INTO ${table} (id) VALUES (5)`);
    expect(await rows(`SELECT id, name FROM ${table} WHERE id IS NULL OR id > 4`)).toEqual([
      [null, 'OTHER'],
      [5, null],
    ]);
    const refused = await run(`ALTER TABLE ${table} ALTER id SET NOT NULL`);
    expect(refused.json()).toMatchObject({ code: 'sql_error' });
    expect(refused.text).toContain('NULL in some rows');
    await change(`ALTER TABLE ${table} ALTER "when" DROP NOT NULL`);
    const other = await frame();
    await change(`ALTER TABLE ${other} ALTER name DROP DEFAULT`);
    await change(`ALTER TABLE ${other} ALTER id SET NOT NULL`);
    expect((await run(`INSERT INTO ${other} (id) VALUES (NULL)`)).status).toBe(400);
  });

  test('changes fields of structs, and keeps what the others were declared as', async () => {
    const table = newTable();
    await change(`CREATE TABLE ${table} (s STRUCT(mood ENUM('ok', 'bad'), pair INT[2], n INT))`);
    await change(`INSERT INTO ${table} VALUES ({'mood': 'ok', 'pair': [1, 2], 'n': 3}), (NULL)`);
    await change(`ALTER TABLE ${table} ADD COLUMN s.more STRUCT(bits BIT) DEFAULT {'bits': '101'::BIT}`);
    await change(`ALTER TABLE ${table} DROP COLUMN s.n`);
    const type = "STRUCT(mood ENUM('ok', 'bad'), pair INTEGER[2], more STRUCT(bits BIT))";
    expect((await rows(`DESCRIBE ${table}`)).map(([name, type]) => [name, type])).toEqual([['s', type]]);
    const values = [[{ mood: 'ok', pair: [1, 2], more: { bits: '101' } }], [null]];
    expect(await rows(`FROM ${table}`)).toEqual(values);
    // Rows that nobody checked, after which SQL reads the columns as they are stored.
    const brought = { s: { mood: 'other', pair: [1], more: { bits: 'none' } } };
    const path = `/imp?name=${table}&fmt=ndjson&overwrite=false&append=true`;
    await ask(`${server.url}${path}`, { method: 'POST', body: `${JSON.stringify(brought)}\n` });
    await change(`ALTER TABLE ${table} RENAME COLUMN s.pair TO numbers`);
    expect((await rows(`FROM ${table}`)).slice(0, 2)).toEqual([
      [{ mood: 'ok', numbers: [1, 2], more: { bits: '101' } }],
      [null],
    ]);
    const refused = await run(`INSERT INTO ${table} VALUES ({'mood': 'third', 'numbers': [1, 2], 'more': NULL})`);
    expect(refused.json()).toMatchObject({ code: 'sql_error' });
  });

  test('renames a frame, with its rows and its definition', async () => {
    const table = await frame();
    const to = newTable();
    await change(`ALTER TABLE ${table} RENAME TO ${to}`);
    expect((await run(`FROM ${table}`)).status).toBe(410);
    expect(await rows(`SELECT id FROM ${to}`)).toEqual([[1], [2], [3]]);
    await change(`INSERT INTO ${to} (id) VALUES (4)`);
    expect(await rows(`SELECT name FROM ${to} WHERE id = 4`)).toEqual([['new']]);
    expect((await run(`ALTER TABLE ${to} RENAME TO ${await frame()}`)).json()).toMatchObject({ code: 'handle_exists' });
  });

  test('is a version of its own, which another server and a restart know, and readers keep the one before', async () => {
    const table = await frame();
    const before = await ask(`${server.url}/handles/${table}`);
    await using other = await startFramehold({ dataDir: server.dataDir });
    expect(await rows(`SELECT count(*) FROM ${table}`, other)).toEqual([[3]]);
    await change(`ALTER TABLE ${table} ADD extra INT`);
    await change(`ALTER TABLE ${table} RENAME name TO title`);
    const after = await ask(`${server.url}/handles/${table}`);
    expect(Number(after.json().version)).toBeGreaterThan(Number(before.json().version));
    await expect
      .poll(async () => (await rows(`DESCRIBE ${table}`, other)).map(([name]) => name))
      .toEqual(['id', 'title', 'when', 'extra']);
    await using third = await startFramehold({ dataDir: server.dataDir });
    expect(await rows(`SELECT id, title, extra FROM ${table}`, third)).toEqual([
      [1, 'a', null],
      [2, null, null],
      [3, 'new', null],
    ]);
  });

  test('keeps the time to live', async () => {
    const table = newTable();
    await ask(`${server.url}/imp?name=${table}&ttl=1h&fmt=json`, { method: 'POST', body: 'a,b\n1,2\n' });
    const ttlOf = async (): Promise<unknown> => (await ask(`${server.url}/handles/${table}`)).json().ttl;
    const ttl = await ttlOf();
    expect(ttl).toBeTruthy();
    await change(`ALTER TABLE ${table} DROP b`);
    await change(`ALTER TABLE ${table} ADD c INT`);
    expect(await ttlOf()).toEqual(ttl);
  });

  test('keeps how far producers are', async () => {
    const table = newTable();
    await change(`CREATE TABLE ${table} (a INT, b INT)`);
    const append = async (seq: number): Promise<unknown> => {
      const headers = { 'producer-id': 'feed', 'producer-epoch': '0', 'producer-seq': String(seq) };
      const url = `${server.url}/imp?name=${table}&append=true&fmt=json`;
      return (await ask(url, { method: 'POST', body: 'a,b\n1,2\n', headers })).json().repeated;
    };
    expect(await append(0)).toBeUndefined();
    await change(`ALTER TABLE ${table} ALTER b TYPE INT USING b + 1`);
    expect(await append(0)).toBe(true);
    await ask(`${server.url}/handles/${table}/flush`, { method: 'POST' });
    await change(`ALTER TABLE ${table} ALTER b TYPE INT USING b + 1`);
    expect(await append(0)).toBe(true);
    expect(await append(1)).toBeUndefined();
    expect(await rows(`FROM ${table}`)).toEqual([
      [1, 4],
      [1, 2],
    ]);
  });

  test('beside appends loses no row', async () => {
    const table = await frame();
    const appends = Array.from({ length: 20 }, (_, n) => run(`INSERT INTO ${table} (id) VALUES (${100 + n})`));
    const added = await run(`ALTER TABLE ${table} ADD later INT`);
    await Promise.all(appends);
    expect([200, 409]).toContain(added.status);
    const acknowledged = (await Promise.all(appends)).filter(({ status }) => status === 200).length;
    expect(await rows(`SELECT count(*) FROM ${table}`)).toEqual([[3 + acknowledged]]);
  });

  test.each([
    ['ADD COLUMN id INT', /"id" is in .* already/],
    ['ADD COLUMN n INT NOT NULL', /NULL in the rows/],
    ['ADD COLUMN n NOTHING', /type NOTHING does not exist/],
    ['ADD COLUMN n INT DEFAULT nothing(1)', /function nothing does not exist/],
    ['ADD COLUMN n INT DEFAULT id', /DEFAULT value cannot contain column/],
    ['ADD COLUMN n INT PRIMARY KEY', /NOT NULL and DEFAULT alone/],
    ['DROP COLUMN prise', /column "prise" not found/],
    ['DROP COLUMN nam', /did you mean "name"/],
    ['RENAME id TO NAME', /"name" is in .* already/],
    ['ALTER name TYPE INT', /Could not convert|convert/i],
    ['ALTER name TYPE INT USING (SELECT 1)', /subquery/],
    ['ALTER name SET DEFAULT', /expected a value/],
    ['ALTER name SET DEFAULT 1, 2', /expected one expression/],
    ['DROP name, DROP id', /one change at a time/],
    ['SET SCHEMA other', /expected ADD, DROP, RENAME or ALTER/],
  ])('refuses %s and changes nothing', async (action, message) => {
    const table = await frame();
    const answer = await run(`ALTER TABLE ${table} ${action}`);
    expect([400, 403], answer.text).toContain(answer.status);
    expect(answer.text).not.toContain('insert_target');
    expect(String(answer.json().error)).toMatch(message);
    expect((await rows(`DESCRIBE ${table}`)).map(([name]) => name)).toEqual(['id', 'name', 'when']);
  });

  test('refuses what a key, a check or a generated column needs', async () => {
    const table = newTable();
    await change(`CREATE TABLE ${table} (a INT PRIMARY KEY, b INT CHECK (b > 0), c INT AS (b * 2), d INT)`);
    for (const action of ['DROP a', 'DROP b', 'RENAME b TO e', 'ALTER a DROP NOT NULL', 'ALTER c SET DEFAULT 1']) {
      expect((await run(`ALTER TABLE ${table} ${action}`)).status, action).toBe(400);
    }
    await change(`ALTER TABLE ${table} RENAME a TO key`);
    await change(`ALTER TABLE ${table} DROP d`);
    await change(`INSERT INTO ${table} (key, b) VALUES (1, 2)`);
    expect(await rows(`FROM ${table}`)).toEqual([[1, 2, 4]]);
    const definition = (await ask(`${server.url}/handles/${table}`)).text;
    expect(definition).toContain('"key"');
  });

  test('of a frame that is not there is an error, but for IF EXISTS', async () => {
    expect((await run('ALTER TABLE nothing_here DROP a')).status).toBe(404);
    expect((await run('ALTER TABLE IF EXISTS nothing_here DROP a')).json()).toMatchObject({ ddl: 'OK' });
  });
});
