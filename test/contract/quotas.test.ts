import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { Int32, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TenantChange, tenantRegistry } from '../../src/auth/tenant-registry.ts';
import { byPath } from '../support/flight-client.ts';
import { eventually } from '../support/frame-store.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { callerWith, openRecords, type TenantCaller, tenantCaller } from '../support/tenants.ts';

let server: Framehold;
let tenants = 0;

beforeAll(async () => {
  server = await startFramehold({ settings: { 'auth.enabled': 'true' } });
});
afterAll(() => server[Symbol.asyncDispose]());

const newTenant = (limits: TenantChange): Promise<TenantCaller> => tenantCaller(server, `t${++tenants}`, limits);
/** Changes the limits of the newest tenant, as another process does; they hold within a second. */
async function setLimits(limits: TenantChange, ...callers: readonly TenantCaller[]): Promise<void> {
  using records = await openRecords(server);
  await tenantRegistry(records).set(`t${tenants}`, limits);
  for (const caller of callers) {
    await expect
      .poll(async () => (await caller.ask('GET', '/whoami')).json().limits, { timeout: 1000 })
      .toMatchObject(limits);
  }
}

const arrow = tableToIPC(new Table({ a: vectorFromArray([1], new Int32()) }), 'stream');
/** Text that cannot be compressed. */
const csv = (bytes = 8): string => `a\n${randomBytes(bytes).toString('hex')}\n`;
const doPut = async (caller: TenantCaller, handle: string) => {
  const answer = await caller.flight.put(byPath(handle), arrow, { headers: caller.headers });
  return [answer.status.code, answer.code];
};
const bytesOf = async (caller: TenantCaller, handle: string): Promise<number> =>
  ((await caller.ask('GET', `/handles/${handle}`)).json().bytes as { cold: number }).cold;
const held = async (caller: TenantCaller) =>
  (await caller.ask('GET', '/handles')).json().handles as { handle: string; bytes: { cold: number } }[];

test('no door lets a tenant hold more frames than it may, and a drop makes room', async () => {
  using caller = await newTenant({ max_frames: 2 });
  expect((await caller.ask('PUT', '/imp?name=a', csv())).status).toBe(200);
  expect(await doPut(caller, 'b')).toEqual([status.OK, undefined]);
  const full = { code: 'quota_exceeded', error: 'your tenant holds 2 frames, and may hold 2' };
  for (const [method, path, body] of [
    ['PUT', '/imp?name=c', csv()],
    ['POST', '/imp?name=c&overwrite=true', csv()],
    ['POST', '/imp?name=c&append=true', csv()],
    ['POST', '/imp', csv()],
    ['POST', '/sql', '{"sql":"create table c as select 1 as a"}'],
    ['POST', '/sql', '{"sql":"create or replace table c as select 1 as a"}'],
    ['POST', '/sql', '{"sql":"select 1 as a","keep":{"handle":"c"}}'],
    ['POST', '/sql', '{"sql":"select 1 as a","keep":{}}'],
  ] as const) {
    const answer = await caller.ask(method, path, body);
    expect([path, body, answer.status, answer.json()]).toEqual([path, body, 507, expect.objectContaining(full)]);
  }
  expect(await doPut(caller, 'c')).toEqual([status.RESOURCE_EXHAUSTED, 'quota_exceeded']);
  await expect(caller.rows('CommandStatementQuery', [1, 'create table c as select 1 as a'])).rejects.toMatchObject({
    code: 'quota_exceeded',
  });
  expect((await caller.ask('PUT', '/imp?name=a&overwrite=true', csv())).status).toBe(200);
  expect((await caller.ask('PUT', '/imp?name=a&append=true', csv())).status).toBe(200);
  expect((await held(caller)).map(({ handle }) => handle)).toEqual(['a', 'b']);
  expect((await caller.ask('DELETE', '/handles/a')).status).toBe(200);
  expect((await caller.ask('PUT', '/imp?name=c', csv())).status).toBe(200);
});

test('bytes: an overwrite needs room for the difference, an append for what it adds', async () => {
  using caller = await newTenant({});
  expect((await caller.ask('PUT', '/imp?name=a', csv(4000))).status).toBe(200);
  const bytes = await bytesOf(caller, 'a');
  await setLimits({ max_bytes: bytes + 100 }, caller);
  expect((await caller.ask('PUT', '/imp?name=b', csv(4000))).status).toBe(507);
  expect((await caller.ask('PUT', '/imp?name=a&overwrite=true', csv(4000))).status).toBe(200);
  expect((await caller.ask('PUT', '/imp?name=a&overwrite=true', csv(5000))).json()).toMatchObject({
    code: 'quota_exceeded',
  });
  expect((await caller.ask('PUT', '/imp?name=a&append=true', csv(100))).status).toBe(507);
  expect((await caller.sql("insert into a values ('x')")).status).toBe(507);
  expect(await bytesOf(caller, 'a')).toBeLessThanOrEqual(bytes + 100);
  await setLimits({ max_bytes: 10 }, caller);
  expect((await caller.sql("insert into a values ('x')")).text).toContain('may hold 10;');
  expect((await caller.ask('PUT', '/imp?name=a&overwrite=true', csv(10))).status).toBe(200);
  await setLimits({ max_bytes: null }, caller);
  expect((await caller.ask('PUT', '/imp?name=b', csv())).status).toBe(200);
});

test('a tenant that is full is refused before it sends its rows', async () => {
  using caller = await newTenant({ max_frames: 0 });
  const answer = await ask(`${server.url}/imp?name=a`, {
    method: 'POST',
    // The body never comes.
    headers: { ...caller.headers, 'content-length': 1_000_000_000, expect: '100-continue' },
  }).catch((error: unknown) => error);
  expect(answer).toMatchObject({ status: 507 });
});

test('frames of one tenant take no room of another', async () => {
  using one = await newTenant({ max_frames: 1 });
  expect((await one.ask('PUT', '/imp?name=a', csv())).status).toBe(200);
  using other = await newTenant({ max_frames: 1 });
  expect((await other.ask('PUT', '/imp?name=a', csv())).status).toBe(200);
});

test('puts that race at two servers never exceed a quota, and use all of it', async () => {
  await using second = await startFramehold({ dataDir: server.dataDir, settings: { 'auth.enabled': 'true' } });
  using here = await newTenant({ max_frames: 10 });
  using there = callerWith(second, here.headers.authorization.slice('Bearer '.length));
  await eventually(async () => (await there.ask('GET', '/whoami')).status === 200, 3000);
  const race = (make: (n: number) => [string, string]) =>
    Promise.all(
      Array.from({ length: 30 }, (_, n) => {
        const [path, body] = make(n);
        return (n % 2 === 0 ? here : there).ask('PUT', path, body);
      }),
    );
  const answers = await race((n) => [`/imp?name=f${n}`, csv()]);
  const statuses = answers.map((answer) => answer.status);
  expect(new Set(statuses)).toEqual(new Set([200, 507]));
  expect(statuses.filter((code) => code === 200)).toHaveLength(10);
  expect(await held(here)).toHaveLength(10);

  for (const { handle } of await held(here)) await here.ask('DELETE', `/handles/${handle}`);
  expect((await there.ask('PUT', '/imp?name=g', csv(4000))).status).toBe(200);
  const each = await bytesOf(there, 'g');
  const most = Math.round(each * 5.5);
  await setLimits({ max_frames: null, max_bytes: most }, here, there);
  await race((n) => (n % 3 === 0 ? ['/imp?name=g&append=true', csv(4000)] : [`/imp?name=g${n}`, csv(4000)]));
  const bytes = (await held(here)).reduce((sum, frame) => sum + frame.bytes.cold, 0);
  expect(bytes).toBeLessThanOrEqual(most);
  expect(bytes).toBeGreaterThan(most - 1.1 * each);
});

test('statements beyond those that may be under way are refused, to be tried again', async () => {
  using caller = await newTenant({ max_statements: 1 });
  const id = 'the-long-one';
  const long = caller.ask('POST', '/sql', '{"sql":"select count(*) from range(100000000000)"}', {
    headers: { 'x-request-id': id },
  });
  await eventually(async () => (await caller.ask('GET', '/queries')).text.includes(id));
  const refused = await caller.sql('select 1');
  expect([refused.status, refused.headers['retry-after'], refused.json().code]).toEqual([429, '1', 'rate_limited']);
  await expect(caller.rows('CommandStatementQuery', [1, 'select 1'])).rejects.toMatchObject({
    code: 'rate_limited',
    status: status.UNAVAILABLE,
  });
  using other = await tenantCaller(server, 'default');
  expect((await other.sql('select 1')).status).toBe(200);
  expect((await caller.ask('DELETE', `/queries/${id}`)).status).toBe(200);
  await long;
  expect((await caller.sql('select 1')).status).toBe(200);
});

test('requests beyond the rate are refused, over HTTP and gRPC together, and open paths are not counted', async () => {
  using caller = await newTenant({});
  await setLimits({ max_rate: 5 });
  await eventually(async () => {
    const codes = await Promise.all(
      Array.from({ length: 10 }, async () => (await caller.ask('GET', '/handles')).status),
    );
    return codes.includes(429);
  }, 1500);
  const refused = async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => caller.ask('GET', '/handles')));
    return answers.find((answer) => answer.status === 429);
  };
  const answer = await refused();
  expect([answer?.headers['retry-after'], answer?.json().code]).toEqual(['1', 'rate_limited']);
  const calls = await Promise.all(Array.from({ length: 10 }, () => caller.flight.list('', caller.headers)));
  const over = calls.find((call) => call.code === 'rate_limited');
  expect([over?.status.code, over?.status.metadata.get('framehold-retry-after')]).toEqual([status.UNAVAILABLE, ['1']]);
  for (let n = 0; n < 20; n++) expect((await caller.ask('GET', '/ping')).status).toBe(200);
  await setLimits({ max_rate: null });
  await eventually(async () => (await refused()) === undefined, 1000);
});

test('uploads that are under way take no more of the disk than a multiple of what the tenant may hold', async () => {
  using caller = await newTenant({ max_bytes: 1_000_000 });
  const line = `${'x'.repeat(999)}\n`;
  const large = `a\n${line.repeat(70_000)}`;
  const refused = await caller.ask('PUT', '/imp?name=a', large);
  expect([refused.status, refused.json().code, refused.json().error]).toEqual([
    507,
    'quota_exceeded',
    'the uploads of your tenant that are under way take more than 64000000 bytes, of 1000000 that it may hold',
  ]);
  // Text that becomes little Parquet is taken, again and again: nothing is left of those before it.
  for (const name of ['b', 'c']) {
    expect((await caller.ask('PUT', `/imp?name=${name}`, `a\n${line.repeat(40_000)}`)).status).toBe(200);
  }
  const sql = "create table d as select repeat('x', 1000) as a from range(100000)";
  const kept = await caller.ask('POST', '/sql', JSON.stringify({ sql }));
  expect([kept.status, kept.json().code]).toEqual([507, 'quota_exceeded']);
});

test('rows that a statement writes before its commit count as uploads do', async () => {
  using caller = await newTenant({ max_bytes: 1_000_000 });
  await caller.ask('POST', '/sql', '{"sql":"create table a as select 1 as n, null::text as t"}');
  const wide = "repeat('x', 1000000)";
  for (const sql of [
    `insert into a select range, ${wide} from range(80) returning n`,
    `merge into a using range(80) r(n) on a.n = r.n + 100 when not matched then insert (n, t) values (r.n, ${wide})`,
  ]) {
    const answer = await caller.sql(sql);
    expect([sql, answer.status, answer.json().code]).toEqual([sql, 507, 'quota_exceeded']);
  }
  expect((await caller.sql('select count(*) from a')).json().dataset).toEqual([[1]]);
});
