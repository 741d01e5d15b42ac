import { SessionOptionValue, SetSessionOptionsRequest, SetSessionOptionsResult } from '@framehold/grpc/flight';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tenantRegistry } from '../../src/auth/tenant-registry.ts';
import { createAnalyticsDatabase } from '../support/analytics-database.ts';
import { byCommand } from '../support/flight-client.ts';
import { any } from '../support/flight-sql-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { secondEngine } from '../support/second-engine.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { openRecords, type TenantCaller, tenantCaller } from '../support/tenants.ts';

const toml = `
[tsdb]
http_url = "http://127.0.0.1:1"
[sql]
auto_engine = "second"
auto_threshold = "1B"
[engines.second]
kind = "spark-connect"
url = "sc://second.example.com"
`;

/** With all engines, and with none. */
let full: Framehold;
let ofFull: TemporaryDirectory;
let bare: Framehold;
let granted: TenantCaller;
let refused: TenantCaller;
let ofBare: TenantCaller;

beforeAll(async () => {
  const settings = { 'auth.enabled': 'true' };
  ofFull = await temporaryDirectory();
  const dataDir = ofFull.path;
  await createAnalyticsDatabase(dataDir, ['CREATE TABLE analytics.main.books (a INT)']);
  full = await startFramehold({ dataDir, settings, toml, createClusterEngine: (options) => secondEngine(options, {}) });
  bare = await startFramehold({ settings });
  granted = await tenantCaller(full, 'granted', { engines: ['second', 'tsdb', 'analytics'] });
  refused = await tenantCaller(full, 'refused');
  ofBare = await tenantCaller(bare, 'refused');
  for (const caller of [granted, refused, ofBare]) {
    expect((await caller.sql('create table t as select 1 as a')).status).toBe(200);
  }
});
afterAll(async () => {
  for (const caller of [granted, refused, ofBare]) caller[Symbol.dispose]();
  await full[Symbol.asyncDispose]();
  await ofFull[Symbol.asyncDispose]();
  await bare[Symbol.asyncDispose]();
});

describe('an engine that is not granted answers like one that is not configured', () => {
  test.each([
    ['GET', '/exec?query=select+1&fmt=json', undefined],
    ['GET', '/exec?query=select+1&fmt=json&engine=tsdb', undefined],
    ['GET', '/exp?query=select+1&engine=tsdb', undefined],
    ['GET', '/exec?query=select+1&fmt=json&engine=second', undefined],
    ['GET', '/exp?query=select+1&engine=second', undefined],
    ['GET', '/exec?query=select+max(a)+from+t&fmt=json&engine=auto', undefined],
    ['POST', '/sql', '{"sql":"select max(a) from t","engine":"second"}'],
    ['POST', '/sql', '{"sql":"select max(a) from t","engine":"secnod"}'],
    ['POST', '/sql', '{"sql":"select max(a) from t","engine":"auto"}'],
    ['POST', '/sql', '{"sql":"select * from analytics.nothing"}'],
    ['POST', '/sql', '{"sql":"select * from t, analytics.main.nothing"}'],
    ['POST', '/sql', '{"sql":"create table u as select * from analytics.nothing"}'],
  ])('%s %s %s', async (method, path, body) => {
    const [here, there] = [await refused.ask(method, path, body), await ofBare.ask(method, path, body)];
    const withoutTimes = (text: string) =>
      text.replaceAll(/"(elapsed_ms|execute|compiler|count|authentication)":\d+/g, '');
    expect([here.status, withoutTimes(here.text)]).toEqual([there.status, withoutTimes(there.text)]);
    expect(here.headers['x-framehold-engine-reason']).toBe(there.headers['x-framehold-engine-reason']);
    const allowed = await granted.ask(method, path, body);
    // An operator's database without tables is the same as none.
    if (body?.includes('nothing')) expect(allowed.text).toBe(here.text);
    else expect(withoutTimes(allowed.text)).not.toBe(withoutTimes(here.text));
  });

  test('in the lists of engines', async () => {
    const engines = async (caller: TenantCaller) =>
      ((await caller.ask('GET', '/engines')).json().engines as { name: string; auto: boolean }[]).map(
        ({ name }) => name,
      );
    expect(await engines(granted)).toEqual(['local', 'tsdb', 'second']);
    expect(await engines(refused)).toEqual(['local']);
    const info = async (caller: TenantCaller) => {
      const { grpc: _, ...rest } = (await caller.ask('GET', '/info')).json();
      return rest;
    };
    expect(await info(refused)).toEqual(await info(ofBare));
    expect(await info(granted)).toMatchObject({ engines: ['local', 'tsdb', 'second'], auto_engine: 'second' });
  });

  test('over Flight: header, session, catalogs', async () => {
    const command = byCommand(any('CommandStatementQuery', [1, 'select max(a) as m from t']));
    const named = async (caller: TenantCaller, engine: string) => {
      const { status, headers } = await caller.flight.info(command, {
        ...caller.headers,
        'x-framehold-engine': engine,
      });
      return [status.code, status.details, headers.get('x-framehold-engine')];
    };
    for (const engine of ['second', 'secnod', 'auto']) {
      expect(await named(refused, engine)).toEqual(await named(ofBare, engine));
    }
    expect(await named(granted, 'auto')).toEqual([0, '', ['second']]);
    const session = async (caller: TenantCaller, name: string, value: string) => {
      const option = { ...SessionOptionValue.decode(new Uint8Array(0)), string: value };
      const body = SetSessionOptionsRequest.encode({ sessionOptions: new Map([[name, option]]) });
      const answer = await caller.flight.action('SetSessionOptions', body, caller.headers);
      return [...SetSessionOptionsResult.decode(answer.messages[0]?.body ?? new Uint8Array(0)).errors.keys()];
    };
    expect([await session(refused, 'engine', 'second'), await session(granted, 'engine', 'second')]).toEqual([
      ['engine'],
      [],
    ]);
    expect([await session(refused, 'catalog', 'analytics'), await session(granted, 'catalog', 'analytics')]).toEqual([
      ['catalog'],
      [],
    ]);
    expect(await refused.rows('CommandGetCatalogs')).toEqual([{ catalog_name: 'framehold' }]);
    expect(await refused.rows('CommandGetDbSchemas')).toEqual([
      { catalog_name: 'framehold', db_schema_name: 'frames' },
    ]);
    expect(await granted.rows('CommandGetCatalogs')).toHaveLength(2);
  });
});

test('a grant holds on a running server within a second, and so does its end', async () => {
  using records = await openRecords(full);
  const isKnown = async () => (await refused.ask('GET', '/engines')).text.includes('second');
  await tenantRegistry(records).set('refused', { engines: ['second'] });
  await expect.poll(isKnown, { timeout: 1000 }).toBe(true);
  await tenantRegistry(records).set('refused', { engines: [] });
  await expect.poll(isKnown, { timeout: 1000 }).toBe(false);
});

test('the default tenant has every engine', async () => {
  using caller = await tenantCaller(full, 'default', { role: 'read' });
  expect((await caller.ask('GET', '/info')).json()).toMatchObject({ engines: ['local', 'tsdb', 'second'] });
  expect(await caller.rows('CommandGetCatalogs')).toHaveLength(2);
});
