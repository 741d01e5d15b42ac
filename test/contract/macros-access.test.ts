import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Role, Tenant } from '../../src/core/callers/principal.ts';
import { eventually } from '../support/frame-store.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { callerWith, openRecords, type TenantCaller, tenantCaller } from '../support/tenants.ts';

let server: Framehold;
/** `acme` shares, `desk` reads. */
let acme: TenantCaller;
let desk: TenantCaller;

async function rows(caller: TenantCaller, sql: string): Promise<unknown> {
  const answer = await caller.sql(sql);
  return answer.status === 200 ? answer.json().dataset : answer.json();
}

async function done(caller: TenantCaller, ...statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect(await caller.sql(sql)).toMatchObject({ status: 200 });
}

async function withToken(role: Role, prefix?: string): Promise<TenantCaller> {
  using records = await openRecords(server);
  const wanted = { name: role, role, tenant: 'acme' as Tenant, prefix, expiresAt: undefined };
  const caller = callerWith(server, (await records.createToken(wanted)).token);
  await eventually(async () => (await caller.ask('GET', '/whoami')).status === 200, 3000);
  return caller;
}

beforeAll(async () => {
  server = await startFramehold({ settings: { 'auth.enabled': 'true' } });
  acme = await tenantCaller(server, 'acme');
  desk = await tenantCaller(server, 'desk');
  await done(
    acme,
    "CREATE TABLE people AS SELECT range AS id, 'name' || range AS name FROM range(10)",
    'CREATE MACRO masked(x) AS left(x, 1)',
    'CREATE MACRO visible(x) AS x % 2 = 0',
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE MACRO listed() AS TABLE SELECT id, masked(name) AS name, 'ok'::mood AS m FROM people WHERE visible(id)",
    'CREATE VIEW shown AS FROM listed()',
    'CREATE TABLE checked (a INT CHECK (visible(a)))',
  );
  await done(desk, "CREATE TABLE people AS SELECT 77 AS id, 'mine' AS name");
});
afterAll(async () => {
  for (const caller of [acme, desk]) caller?.[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

describe('macros and types of a tenant', () => {
  test('are nothing to another one, by whatever name', async () => {
    for (const sql of [
      "SELECT masked('x')",
      "SELECT acme.masked('x')",
      "SELECT framehold.acme.masked('x')",
      'FROM listed()',
      'FROM acme.listed()',
      "SELECT 'ok'::mood",
      "SELECT 'ok'::acme.mood",
      'CREATE VIEW stolen AS SELECT masked(name) FROM people',
      'DROP MACRO masked',
      'DROP MACRO acme.masked',
      'DROP TYPE mood',
    ])
      expect(await rows(desk, sql)).toMatchObject({
        code: expect.stringMatching(/^(sql_error|sql_forbidden|handle_not_found)$/),
      });
    expect(await rows(desk, "SELECT function_name FROM duckdb_functions() WHERE schema_name = 'frames'")).toEqual([]);
    expect(await rows(desk, "SELECT type_name FROM duckdb_types() WHERE schema_name = 'frames'")).toEqual([]);
    expect(await rows(acme, "SELECT count(*) FROM duckdb_functions() WHERE schema_name = 'frames'")).toEqual([[3]]);
  });

  test('keep their meaning in a view that is shared, whatever its reader calls so', async () => {
    expect((await acme.ask('PUT', '/handles/shown/shares/desk')).status).toBe(200);
    await eventually(async () => (await desk.sql('FROM acme.shown')).status === 200, 3000);
    await done(
      desk,
      'CREATE MACRO masked(x) AS x',
      'CREATE MACRO visible(x) AS true',
      'CREATE MACRO listed() AS TABLE SELECT * FROM people',
      "CREATE TYPE mood AS ENUM ('mine')",
    );
    expect(await rows(desk, 'SELECT count(*), min(name), max(m) FROM acme.shown')).toEqual([[5, 'n', 'ok']]);
    expect(await rows(desk, 'SELECT masked(name), visible(id) FROM acme.shown ORDER BY id LIMIT 1')).toEqual([
      ['n', true],
    ]);
    expect(await rows(desk, 'SELECT name FROM listed()')).toEqual([['mine']]);
    expect(await rows(acme, 'SELECT name FROM listed() LIMIT 1')).toEqual([['n']]);
    expect(await rows(acme, 'INSERT INTO checked VALUES (1)')).toMatchObject({
      error: expect.stringContaining('CHECK'),
    });
  });

  test('read frames with the rights of who uses them, now', async () => {
    await done(acme, 'CREATE MACRO outer_sum() AS (SELECT sum(id)::INT FROM people)');
    expect(await rows(acme, 'SELECT outer_sum()')).toEqual([[45]]);
    await done(desk, 'CREATE MACRO of_acme() AS (SELECT count(*) FROM acme.shown)');
    expect(await rows(desk, 'SELECT of_acme()')).toEqual([[5]]);
    expect((await acme.ask('DELETE', '/handles/shown/shares/desk')).status).toBe(200);
    await eventually(async () => (await desk.sql('SELECT of_acme()')).status === 400, 3000);
    expect(await rows(desk, 'CREATE MACRO stolen() AS (SELECT count(*) FROM acme.people)')).toMatchObject({
      error: expect.stringContaining('not found'),
    });
  });

  test('need the right to write, and a name within the prefix of a token', async () => {
    using reader = await withToken('read');
    expect(await rows(reader, "SELECT masked('xyz'), 'ok'::mood")).toEqual([['x', 'ok']]);
    for (const sql of ['CREATE MACRO m() AS 1', "CREATE TYPE t AS ENUM ('a')", 'DROP MACRO masked', 'DROP TYPE mood'])
      expect((await reader.sql(sql)).status).toBe(403);
    using team = await withToken('write', 'team_');
    await done(team, 'CREATE MACRO team_one() AS 1');
    expect(await rows(team, 'SELECT team_one()')).toEqual([[1]]);
    expect(await rows(team, "SELECT masked('xyz')")).toMatchObject({ error: 'function masked does not exist' });
    expect((await team.sql('CREATE MACRO other() AS 1')).status).toBe(403);
    expect((await team.sql('DROP MACRO masked')).status).toBe(403);
    expect((await team.sql('CREATE MACRO team_all() AS (SELECT count(*) FROM people)')).status).toBe(403);
    expect(await rows(team, "SELECT function_name FROM duckdb_functions() WHERE schema_name = 'frames'")).toEqual([
      ['team_one'],
    ]);
  });

  test('go with their tenant', async () => {
    using first = await tenantCaller(server, 'fleeting');
    await done(first, 'CREATE MACRO secret() AS 42', "CREATE TYPE t AS ENUM ('a')");
    using operator = await tenantCaller(server, 'default', { role: 'operator' });
    expect((await operator.ask('DELETE', '/tenants/fleeting')).status).toBe(200);
    using second = await tenantCaller(server, 'fleeting');
    expect(await rows(second, 'SELECT secret()')).toMatchObject({ error: 'function secret does not exist' });
    expect((await second.sql("SELECT 'a'::t")).status).toBe(400);
  });
});
