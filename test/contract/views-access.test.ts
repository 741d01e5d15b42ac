import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../src/core/callers/principal.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { byCommand } from '../support/flight-client.ts';
import { eventually } from '../support/frame-store.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { callerWith, openRecords, type TenantCaller, tenantCaller } from '../support/tenants.ts';

let server: Framehold;
/** `acme` shares, `desk` reads, `third` has nothing to do with it. */
let acme: TenantCaller;
let desk: TenantCaller;
let third: TenantCaller;

async function rows(caller: TenantCaller, sql: string): Promise<unknown> {
  const answer = await caller.sql(sql);
  return answer.status === 200 ? answer.json().dataset : answer.json();
}

async function done(caller: TenantCaller, ...statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect(await caller.sql(sql)).toMatchObject({ status: 200 });
}

beforeAll(async () => {
  server = await startFramehold({ settings: { 'auth.enabled': 'true' } });
  acme = await tenantCaller(server, 'acme');
  desk = await tenantCaller(server, 'desk');
  third = await tenantCaller(server, 'third');
  await done(
    acme,
    "CREATE TABLE people AS SELECT range AS id, 'name' || range AS name, range % 2 = 0 AS public FROM range(10)",
    'CREATE VIEW listed AS SELECT id, name FROM frames.people WHERE public',
  );
  await done(desk, "CREATE TABLE people AS SELECT 77 AS id, 'mine' AS name, true AS public");
});
afterAll(async () => {
  for (const caller of [acme, desk, third]) caller?.[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const notFound = { code: 'sql_error', error: expect.stringContaining('not found') };

describe('a view of another tenant', () => {
  test('is not there until it is shared', async () => {
    expect(await rows(desk, 'FROM acme.listed')).toMatchObject(notFound);
    expect((await desk.ask('GET', '/exec?handle=acme/listed&fmt=json')).status).toBe(404);
    expect(await rows(desk, 'CREATE VIEW stolen AS SELECT * FROM acme.people')).toMatchObject(notFound);
    expect(await rows(desk, 'CREATE VIEW stolen AS SELECT * FROM acme.listed')).toMatchObject(notFound);
  });

  test('that is shared gives its rows, and not those of the frames behind it', async () => {
    expect((await acme.ask('PUT', '/handles/listed/shares/desk')).status).toBe(200);
    await eventually(async () => (await desk.sql('FROM acme.listed')).status === 200, 3000);
    expect(await rows(desk, 'SELECT count(*), min(name) FROM acme.listed')).toEqual([[5, 'name0']]);
    expect(await rows(desk, 'SELECT a.id, b.id FROM people a, acme.listed b WHERE b.id = 4')).toEqual([[77, 4]]);
    expect((await desk.ask('HEAD', '/frames/acme/listed.parquet')).headers['accept-ranges']).toBe('bytes');
    expect((await desk.ask('GET', '/frames/acme/people.parquet')).status).toBe(404);
    expect((await third.ask('HEAD', '/frames/acme/listed.parquet')).status).toBe(404);
    expect(await rows(desk, 'FROM acme.people')).toMatchObject(notFound);
    // Also where the view has opened them.
    for (const from of ['acme.listed, acme.people', 'acme.people, acme.listed', 'acme.listed, framehold.acme.people'])
      expect(await rows(desk, `SELECT * FROM ${from}`)).toMatchObject(notFound);
    expect(await rows(desk, 'CREATE VIEW stolen AS SELECT p.* FROM acme.listed, acme.people p')).toMatchObject(
      notFound,
    );
    expect(await rows(desk, 'FROM framehold.acme.people')).toMatchObject(notFound);
    expect((await desk.ask('GET', '/exp?handle=acme/people&fmt=csv')).status).toBe(404);
    expect(await rows(third, 'FROM acme.listed')).toMatchObject(notFound);
  });

  test('is read by every door', async () => {
    const page = await desk.ask('GET', '/exec?handle=acme/listed&fmt=json&limit=2');
    expect(page.json()).toMatchObject({
      query: 'handle:acme/listed',
      dataset: [
        [0, 'name0'],
        [2, 'name2'],
      ],
    });
    for (const fmt of ['csv', 'arrow', 'parquet'])
      expect((await desk.ask('GET', `/exp?handle=acme/listed&fmt=${fmt}`)).status).toBe(200);
    const ticket = await desk.flight.get('acme/listed', desk.headers);
    expect(ticket.code).toBeUndefined();
    const info = await desk.flight.info(byCommand(Buffer.from('acme/listed')), desk.headers);
    expect(info.messages[0]).toMatchObject({ totalRecords: -1 });
    expect(await desk.rows('CommandGetTables', [2, 'acme'])).toMatchObject([
      { table_name: 'listed', table_type: 'VIEW' },
    ]);
  });

  test('shows its columns, but neither its query nor a plan', async () => {
    const { sql, reads, ...described } = (await desk.ask('GET', '/handles/acme%2Flisted')).json() as Record<
      string,
      unknown
    >;
    expect([sql, reads]).toEqual([undefined, undefined]);
    expect(described).toMatchObject({ kind: 'view', shared: true });
    expect((await desk.ask('GET', '/handles')).text).not.toContain('people WHERE');
    for (const sql of ['EXPLAIN FROM acme.listed', 'explain (format json) SELECT count(*) FROM people, acme.listed'])
      expect(await rows(desk, sql)).toMatchObject({ code: 'sql_forbidden' });
  });

  test('does not ask a condition of its reader of rows that it leaves out', async () => {
    const spies = [
      `SELECT id FROM acme.listed WHERE CASE WHEN id % 2 = 1 THEN error(name) ELSE 'x' END = 'x'`,
      `SELECT id FROM acme.listed WHERE CAST(replace(name, 'name', CASE WHEN id % 2 = 1 THEN 'secret' ELSE '' END) AS INT) >= 0`,
      `SELECT l.id FROM acme.listed l JOIN people p ON CASE WHEN l.id % 2 = 1 THEN error(l.name)::INT ELSE 77 END = p.id`,
    ];
    for (const sql of spies) {
      await done(desk, `CREATE OR REPLACE VIEW spy AS ${sql}`);
      for (const each of [sql, 'FROM spy']) expect(await rows(desk, each)).toHaveLength(5);
    }
  });

  test('shows no value of what it reads in an error', async () => {
    await done(
      acme,
      "CREATE TABLE amounts AS SELECT 1 AS id, '5' AS amount",
      'CREATE VIEW large AS SELECT id FROM amounts WHERE amount::INT > 3',
    );
    await acme.ask('PUT', '/handles/large/shares/desk');
    await eventually(async () => (await desk.sql('FROM acme.large')).status === 200, 3000);
    await done(desk, 'CREATE OR REPLACE VIEW over_large AS SELECT max(id) AS id FROM acme.large');
    await done(acme, "INSERT INTO amounts VALUES (2, 'hunter2')");
    expect(await rows(acme, 'FROM large')).toMatchObject({ error: expect.stringContaining('hunter2') });
    for (const sql of ['FROM acme.large', 'FROM over_large', 'CREATE TABLE kept AS FROM acme.large']) {
      const answer = await desk.sql(sql);
      expect(answer.json(), sql).toMatchObject({ code: 'sql_error', error: expect.stringContaining('acme.large') });
      expect(answer.text).not.toMatch(/hunter2|amount/);
    }
    const page = await desk.ask('GET', '/exec?handle=acme%2Flarge&fmt=json');
    expect(page.json()).toMatchObject({ code: 'sql_error' });
    expect(page.text).not.toMatch(/hunter2|amount/);
    // What is wrong with the statement itself is told.
    expect(await rows(desk, 'SELECT idd FROM acme.large')).toMatchObject({ error: expect.stringContaining('idd') });
  });

  test('can be read by a view of its reader, for as long as it is shared', async () => {
    await done(desk, 'CREATE VIEW mine AS SELECT max(id) AS id FROM acme.listed');
    expect(await rows(desk, 'FROM mine')).toEqual([[8]]);
    expect((await desk.ask('GET', '/handles/mine')).json()).toMatchObject({ reads: ['acme/listed'] });
    expect(await rows(desk, 'EXPLAIN FROM mine')).toMatchObject({ code: 'sql_forbidden' });
    expect((await acme.ask('DELETE', '/handles/listed/shares/desk')).status).toBe(200);
    await eventually(async () => (await desk.sql('FROM mine')).status !== 200, 3000);
    expect(await rows(desk, 'FROM mine')).toMatchObject({
      error: 'view mine reads table acme.listed, which is gone or no longer shared',
    });
    expect(await rows(desk, 'FROM acme.listed')).toMatchObject(notFound);
  });

  test('does not tell its readers what it reads when that is gone', async () => {
    await done(acme, 'CREATE TABLE hidden AS SELECT 1 AS a', 'CREATE VIEW over AS SELECT a FROM hidden');
    await acme.ask('PUT', '/handles/over/shares/desk');
    await eventually(async () => (await desk.sql('FROM acme.over')).status === 200, 3000);
    await done(acme, 'DROP TABLE hidden');
    const answer = await desk.sql('FROM acme.over');
    expect(answer.json()).toMatchObject({ error: 'view acme.over cannot be read now' });
    expect(answer.text).not.toContain('hidden');
    await done(acme, 'CREATE TABLE hidden AS SELECT 1 AS a');
    await writeFile(join(server.dataDir, 'cold/tenants/acme/hidden.parquet'), 'nothing');
    await eventually(async () => (await acme.sql('FROM hidden')).json().code === 'frame_damaged', 10_000);
    const damaged = await desk.sql('FROM acme.over');
    expect(damaged.json()).toMatchObject({ error: 'view acme.over cannot be read now' });
    expect(damaged.text).not.toContain('hidden');
    await done(acme, "CREATE OR REPLACE TABLE hidden AS SELECT 'x' AS a");
    const changed = await desk.sql('FROM acme.over');
    expect(changed.json()).toMatchObject({ code: 'sql_error' });
    expect(changed.text).not.toContain('hidden');
  });

  test('is changed by its owner alone', async () => {
    expect(await rows(desk, 'DROP VIEW acme.over')).toMatchObject({ code: 'forbidden' });
    expect(await rows(desk, 'CREATE OR REPLACE VIEW acme.over AS SELECT 1 AS a')).toMatchObject({ code: 'forbidden' });
    expect((await desk.ask('DELETE', '/handles/acme%2Fover')).status).toBe(403);
  });
});

test('settings of a statement show no rows that a view leaves out', async () => {
  await done(
    acme,
    "CREATE TABLE levels AS SELECT * FROM (VALUES (1, 'public'), (2, 'Public'), (3, 'PÜBLIC')) AS t(id, level)",
    "CREATE VIEW level_public AS SELECT id FROM levels WHERE level = 'public'",
    'CREATE VIEW level_first AS SELECT id FROM levels ORDER BY level LIMIT 1',
  );
  for (const name of ['level_public', 'level_first']) await acme.ask('PUT', `/handles/${name}/shares/desk`);
  await eventually(async () => (await desk.sql('FROM acme.level_first')).status === 200, 3000);
  await done(desk, 'CREATE VIEW level_over AS SELECT * FROM acme.level_public');
  using records = await openRecords(server);
  const wanted = { name: 'l', role: 'read', tenant: 'acme' as Tenant, prefix: 'level_', expiresAt: undefined } as const;
  using token = callerWith(server, (await records.createToken(wanted)).token);
  await eventually(async () => (await token.ask('GET', '/whoami')).status === 200, 3000);
  const withSettings = async (caller: TenantCaller, sql: string, settings: object): Promise<unknown> => {
    const answer = await caller.ask('POST', '/sql', JSON.stringify({ sql, settings }));
    return answer.status === 200 ? answer.json().dataset : answer.json();
  };
  const nocase = { default_collation: 'NOCASE' };
  for (const [caller, sql, settings] of [
    [desk, 'FROM acme.level_public', nocase],
    [desk, 'SELECT count(*) FROM level_over', nocase],
    [desk, 'CREATE TABLE level_kept AS FROM acme.level_public', nocase],
    [desk, 'FROM acme.level_first', { default_order: 'DESC' }],
    [desk, 'FROM acme.level_first', { default_null_order: 'NULLS_FIRST' }],
    [desk, 'FROM acme.level_first', { TimeZone: 'Asia/Tokyo' }],
    [token, 'FROM level_public', nocase],
  ] as const)
    expect(await withSettings(caller, sql, settings), sql).toMatchObject({
      code: 'invalid_parameter',
      error: expect.stringContaining(Object.keys(settings)[0] ?? ''),
    });
  expect(await withSettings(desk, 'FROM acme.level_public', { TimeZone: 'utc' })).toEqual([[1]]);
  expect(await withSettings(acme, 'SELECT count(*) FROM level_public', nocase)).toEqual([[2]]);
});

test('the catalogs tell the text of a view to its owner, and to nobody who may not see what it reads', async () => {
  await done(
    acme,
    'CREATE TABLE texts AS SELECT 1 AS id',
    'CREATE VIEW texts_listed AS SELECT id  FROM texts -- as written\nWHERE id > 0',
  );
  await done(desk, 'CREATE VIEW texts_own("i d") AS SELECT 1');
  await acme.ask('PUT', '/handles/texts_listed/shares/desk');
  await eventually(async () => (await desk.sql('FROM acme.texts_listed')).status === 200, 3000);
  const sources = [
    ['sql', 'duckdb_views()', 'view_name'],
    ['sql', 'duckdb_views', 'view_name'],
    ['view_definition', 'information_schema.views', 'table_name'],
    ['definition', 'pg_catalog.pg_views', 'viewname'],
    ['sql', 'sqlite_master', 'name'],
    ['pg_get_viewdef(view_oid)', 'duckdb_views()', 'view_name'],
  ];
  const made = 'CREATE VIEW "texts_listed" AS SELECT id  FROM texts -- as written\nWHERE id > 0;';
  const own = 'CREATE VIEW "texts_own" ("i d") AS SELECT 1;';
  for (const [column, source, name] of sources) {
    const sql = `SELECT ${column} AS text FROM ${source} WHERE ${name} LIKE 'texts_%' ORDER BY ${name}`;
    expect(await rows(acme, sql), sql).toEqual([[made]]);
    expect(await rows(desk, sql), sql).toEqual([[null], [own]]);
  }
  const whole = await desk.sql('SELECT * FROM duckdb_views() WHERE NOT internal');
  expect(whole.text).not.toMatch(/FROM texts|framehold text/);

  using records = await openRecords(server);
  const wanted = { name: 't', role: 'read', tenant: 'acme' as Tenant, prefix: 'texts_', expiresAt: undefined } as const;
  using token = callerWith(server, (await records.createToken(wanted)).token);
  await done(acme, 'CREATE VIEW texts_over AS SELECT * FROM texts_listed');
  await eventually(async () => (await token.ask('GET', '/whoami')).status === 200, 3000);
  expect(
    await rows(token, "SELECT view_name, sql FROM duckdb_views() WHERE view_name LIKE 'texts_%' ORDER BY ALL"),
  ).toEqual([
    ['texts_listed', null],
    ['texts_over', 'CREATE VIEW "texts_over" AS SELECT * FROM texts_listed;'],
  ]);
});

test('a view that is replaced keeps its readers, and one that is dropped and made anew has none', async () => {
  await done(acme, 'CREATE VIEW versions AS SELECT 1 AS a');
  await acme.ask('PUT', '/handles/versions/shares/desk');
  await eventually(async () => (await desk.sql('FROM acme.versions')).status === 200, 3000);
  await done(acme, 'CREATE OR REPLACE VIEW versions AS SELECT 2 AS a, 3 AS b');
  expect(await rows(desk, 'FROM acme.versions')).toEqual([[2, 3]]);
  await done(acme, 'DROP VIEW versions', 'CREATE VIEW versions AS SELECT 4 AS a');
  expect(await rows(desk, 'FROM acme.versions')).toMatchObject(notFound);
});

test('a token with a prefix makes views of what it may read alone, and reads a view of more', async () => {
  await done(
    acme,
    'CREATE TABLE eu_orders AS SELECT 1 AS id',
    'CREATE TABLE us_orders AS SELECT 2 AS id',
    'CREATE VIEW eu_all AS FROM eu_orders UNION ALL FROM us_orders',
    'CREATE VIEW us_all AS FROM eu_orders',
  );
  using records = await openRecords(server);
  const wanted = { name: 'eu', role: 'admin', tenant: 'acme' as Tenant, prefix: 'eu_', expiresAt: undefined } as const;
  using eu = callerWith(server, (await records.createToken(wanted)).token);
  await eventually(async () => (await eu.ask('GET', '/whoami')).status === 200, 3000);
  expect(await rows(eu, 'SELECT sum(id)::INT FROM eu_all')).toEqual([[3]]);
  for (const from of ['us_orders', 'us_all', 'eu_all, us_orders', 'eu_all, acme.us_orders', 'US_orders'])
    expect((await eu.sql(`SELECT * FROM ${from}`)).status).not.toBe(200);
  const listed = (await eu.ask('GET', '/handles')).json() as unknown as { handles: { handle: string }[] };
  expect(listed.handles.find(({ handle }) => handle === 'eu_all')).toMatchObject({ kind: 'view' });
  for (const path of ['/handles', '/handles/eu_all'])
    expect((await eu.ask('GET', path)).text).not.toContain('us_orders');
  for (const sql of [
    'CREATE VIEW eu_more AS SELECT * FROM us_orders',
    'CREATE VIEW eu_more AS SELECT * FROM eu_all, us_orders',
    'CREATE VIEW us_more AS SELECT * FROM eu_orders',
    'CREATE OR REPLACE VIEW us_all AS SELECT 1 AS a',
    'DROP VIEW us_all',
  ])
    expect((await eu.sql(sql)).status, sql).not.toBe(200);
  for (const sql of ['EXPLAIN FROM eu_all', 'EXPLAIN ANALYZE SELECT count(*) FROM eu_all'])
    expect(await rows(eu, sql)).toMatchObject({ code: 'sql_forbidden' });
  await done(eu, 'CREATE VIEW eu_own AS SELECT id + 10 AS id FROM eu_orders');
  expect((await eu.ask('GET', '/handles/eu_own')).json()).toMatchObject({ reads: ['eu_orders'] });
  expect(await rows(acme, 'FROM eu_own')).toEqual([[11]]);
});

test('a reader makes no views, and a view counts as a frame of its tenant', async () => {
  using reader = await tenantCaller(server, 'acme', { role: 'read' });
  expect(await rows(reader, 'CREATE VIEW nope AS SELECT 1 AS a')).toMatchObject({ code: 'forbidden' });
  expect(await rows(reader, 'DROP VIEW listed')).toMatchObject({ code: 'forbidden' });
  expect(await rows(reader, 'SELECT count(*) FROM listed')).toEqual([[5]]);
  using small = await tenantCaller(server, 'small', { max_frames: 1 });
  await done(small, 'CREATE VIEW one AS SELECT 1 AS a', 'CREATE OR REPLACE VIEW one AS SELECT 2 AS a');
  expect(await rows(small, 'CREATE VIEW two AS SELECT 1 AS a')).toMatchObject({ code: 'quota_exceeded' });
});

describe('what another tenant shares', () => {
  const shareWithThird = async (handle: string) => await desk.ask('PUT', `/handles/${handle}/shares/third`);
  const refused = (view: string) => ({
    code: 'forbidden',
    error: expect.stringMatching(`view ${view} (reads|would read) acme/lent, which is shared with you alone`),
  });

  beforeAll(async () => {
    await done(acme, "CREATE TABLE lent AS SELECT 1 AS id, 'row of acme' AS name");
    await acme.ask('PUT', '/handles/lent/shares/desk');
    await eventually(async () => (await desk.sql('FROM acme.lent')).status === 200, 3000);
    await done(
      desk,
      'CREATE TABLE plain AS SELECT 2 AS id',
      'CREATE VIEW relent AS SELECT * FROM acme.lent',
      'CREATE VIEW relent_again AS SELECT id FROM relent UNION ALL FROM plain',
      'CREATE VIEW innocent AS FROM plain',
      'CREATE VIEW innocent_outer AS FROM innocent',
      'CREATE VIEW innocent_drop AS FROM plain',
      'CREATE VIEW over_drop AS FROM innocent_drop',
    );
  });

  test('cannot be shared further by a view over it, nor by a view over that view', async () => {
    for (const view of ['relent', 'relent_again']) {
      const answer = await shareWithThird(view);
      expect([answer.status, answer.json()]).toEqual([403, expect.objectContaining(refused(view))]);
      expect(await rows(third, `FROM desk.${view}`)).toMatchObject(notFound);
    }
    // Its reader alone has it, in a copy too.
    expect(await rows(desk, 'SELECT count(*) FROM relent_again')).toEqual([[2]]);
  });

  test('cannot be put behind a view that is shared already, at any distance', async () => {
    for (const view of ['innocent_outer', 'over_drop']) expect((await shareWithThird(view)).status).toBe(200);
    await eventually(async () => (await third.sql('FROM desk.innocent_outer')).status === 200, 3000);
    for (const [view, sql] of [
      ['innocent_outer', 'CREATE OR REPLACE VIEW innocent_outer AS SELECT id FROM acme.lent'],
      ['innocent_outer', 'CREATE OR REPLACE VIEW innocent_outer AS SELECT id FROM relent_again'],
      [
        'innocent_outer',
        'CREATE OR REPLACE VIEW "Innocent_Outer" AS WITH x AS (FROM framehold.ACME.lent) SELECT id FROM x',
      ],
      ['innocent', 'CREATE OR REPLACE VIEW innocent AS SELECT id FROM acme.lent'],
      ['innocent', 'CREATE OR REPLACE VIEW innocent AS SELECT id FROM relent'],
    ] as const)
      expect(await rows(desk, sql), sql).toMatchObject(refused(view));
    await done(desk, 'DROP VIEW innocent_drop');
    expect(await rows(desk, 'CREATE VIEW innocent_drop AS SELECT id FROM acme.lent')).toMatchObject(
      refused('innocent_drop'),
    );
    await done(desk, 'DROP TABLE plain');
    expect(await rows(desk, 'CREATE VIEW plain AS SELECT id FROM relent')).toMatchObject(refused('plain'));
    await done(desk, 'CREATE TABLE plain AS SELECT 2 AS id');
    expect(await rows(third, 'FROM desk.innocent_outer')).toEqual([[2]]);
    // What nobody else reads is free.
    await desk.ask('DELETE', '/handles/innocent_outer/shares/third');
    await done(desk, 'CREATE OR REPLACE VIEW innocent_outer AS SELECT id FROM acme.lent');
  });

  test('is not read through a view that was shared nevertheless', async () => {
    await done(desk, 'CREATE VIEW early AS FROM plain', 'CREATE VIEW early_outer AS FROM early');
    using records = await openRecords(server);
    const again: (() => Promise<void>)[] = [];
    for (const view of ['early', 'early_outer']) {
      expect((await shareWithThird(view)).status).toBe(200);
      const share = { owner: 'desk' as Tenant, handle: parseHandle(view), reader: 'third' as Tenant };
      await eventually(async () => (await third.sql(`FROM desk.${view}`)).status === 200, 3000);
      await records.refresh();
      const origin = (await records.shares.originOf(share)) as string;
      await desk.ask('DELETE', `/handles/${view}/shares/third`);
      await records.refresh();
      again.push(async () => await records.shares.add(share, origin));
    }
    await done(desk, 'CREATE OR REPLACE VIEW early AS SELECT * FROM acme.lent');
    await done(desk, 'CREATE OR REPLACE VIEW early_outer AS SELECT * FROM early');
    for (const share of again) await share();
    for (const view of ['early', 'early_outer']) {
      await eventually(async () => (await third.sql(`FROM desk.${view}`)).json().error !== undefined, 3000);
      await eventually(async () => !(await third.sql(`FROM desk.${view}`)).text.includes('not found'), 3000);
      const answer = await third.sql(`FROM desk.${view}`);
      expect(answer.json()).toMatchObject({ error: `view desk.${view} cannot be read now` });
      expect(answer.text).not.toMatch(/lent|row of acme/);
      expect((await third.ask('GET', `/exec?handle=desk/${view}&fmt=json`)).text).not.toMatch(/lent|row of acme/);
    }
    expect(await rows(desk, 'SELECT id FROM early_outer')).toEqual([[1]]);
  });
});
