import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { FlightClient } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { importRaw } from '../support/import-client.ts';

const endless = 'SELECT count(*) FROM range(100_000_000_000) t(a) WHERE a % 3 = 1';

interface Listener {
  readonly requests: number;
  readonly failed: number;
  readonly under_way: number;
  readonly last_minute: { readonly count: number; readonly p50_ms: number; readonly max_ms: number } | null;
}

interface Stats {
  readonly version: string;
  readonly uptime_ms: number;
  readonly tenant: { readonly name: string; readonly frames: number; readonly statements: number };
  readonly server: {
    readonly memory: { readonly rss_bytes: number };
    readonly workers: { readonly processes: number; readonly rss_bytes: number | null };
    readonly event_loop: object | null;
    readonly disk: { readonly free_bytes: number; readonly used_bytes: number };
    readonly cache: { readonly hits: number; readonly misses: number; readonly used_bytes: number };
    readonly disk_cache: { readonly budget_bytes: number; readonly damaged: number } | null;
    readonly frames: {
      readonly frames: number;
      readonly puts: number;
      readonly rows_put: number;
      readonly bytes_put: number;
    };
    readonly statements: { readonly under_way: number; readonly begun: number };
    readonly followers: number;
    readonly listeners: { readonly http: Listener; readonly grpc: Listener };
  };
}

describe('without authentication', () => {
  let server: Framehold;
  beforeAll(async () => {
    server = await startFramehold({ settings: { 'tsdb.http_url': 'http://me:secret@127.0.0.1:1' } });
    const answer = await importRaw(server, 'name=trades', 'id\n1\n2\n3\n');
    expect(answer.status, answer.text).toBe(200);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const stats = async (): Promise<Stats> => (await ask(`${server.url}/stats`)).json() as unknown as Stats;

  test('everybody is told how the server is', async () => {
    const told = await stats();
    expect(told.tenant).toEqual({ name: 'default', frames: 1, bytes: expect.any(Number), statements: 0, followers: 0 });
    expect(told.uptime_ms).toBeGreaterThan(0);
    const { memory, disk, disk_cache: diskCache, frames, followers } = told.server;
    expect(memory.rss_bytes).toBeGreaterThan(10_000_000);
    expect(disk.free_bytes).toBeGreaterThan(0);
    expect(disk.used_bytes).toBeGreaterThan(0);
    expect(diskCache).toMatchObject({ budget_bytes: expect.any(Number), used_bytes: 0, damaged: 0 });
    expect(frames).toMatchObject({ frames: 1, puts: 1, rows_put: 3 });
    expect(followers).toBe(0);
    await expect.poll(async () => (await stats()).server.event_loop).toMatchObject({ max_ms: expect.any(Number) });
  });

  test('the memory of the processes that run SQL is told apart', async () => {
    expect((await ask(`${server.url}/exec?query=select+1&engine=local&fmt=json`)).status).toBe(200);
    const { processes, rss_bytes: bytes } = (await stats()).server.workers;
    expect(processes).toBeGreaterThanOrEqual(1);
    if (process.platform === 'linux') expect(bytes).toBeGreaterThan(10_000_000);
    else expect(bytes).toBeNull();
  });

  test('rows that are appended count with the bytes that they take', async () => {
    const kept = async () => (await stats()).server.frames;
    const write = () => ask(`${server.url}/write`, { method: 'POST', body: 'ticks price=1.5 1000\n' });
    expect((await write()).status).toBe(204);
    const before = await kept();
    await importRaw(server, 'name=trades&append=true', 'id\n4\n5\n');
    const imported = await kept();
    await write();
    const written = await kept();
    expect([imported.rows_put, written.rows_put]).toEqual([before.rows_put + 2, before.rows_put + 3]);
    expect(imported.bytes_put).toBeGreaterThan(before.bytes_put);
    expect(written.bytes_put).toBeGreaterThan(imported.bytes_put);
  });

  test('requests are counted at their listener, with how long they took', async () => {
    const before = (await stats()).server.listeners;
    expect(before.http.under_way).toBeGreaterThanOrEqual(1);
    await ask(`${server.url}/handles/nothing`);
    expect((await ask(`${server.url}/exec?query=select+1&engine=tsdb&fmt=json`)).status).toBeGreaterThanOrEqual(500);
    const flight = new FlightClient(server.grpcAddress.port);
    await flight.actions();
    flight[Symbol.dispose]();
    const counts = async () => {
      const listeners = (await stats()).server.listeners;
      return [listeners.http.failed, listeners.grpc.requests, listeners.grpc.under_way];
    };
    await expect.poll(counts).toEqual([before.http.failed + 1, before.grpc.requests + 1, 0]);
    const { http, grpc } = (await stats()).server.listeners;
    expect(http.requests).toBeGreaterThanOrEqual(before.http.requests + 4);
    expect(http.last_minute?.count).toBeGreaterThan(2);
    expect(http.last_minute?.max_ms).toBeGreaterThanOrEqual(http.last_minute?.p50_ms ?? 0);
    expect(grpc).toMatchObject({ failed: 0 });
  });

  test('a page that is read again is a hit of the cache', async () => {
    const read = () => ask(`${server.url}/exec?handle=trades&fmt=json`);
    await read();
    const before = (await stats()).server.cache;
    await read();
    const after = (await stats()).server.cache;
    expect([after.hits, after.misses]).toEqual([before.hits + 1, before.misses]);
    expect(after.used_bytes).toBeGreaterThan(0);
  });

  test('settings are told with where they came from, and without secrets', async () => {
    const answer = await ask(`${server.url}/config`);
    expect(answer.text).not.toContain('secret');
    const { settings, config_file: file } = answer.json() as unknown as {
      settings: readonly { readonly key: string; readonly value: string | null; readonly origin: string }[];
      config_file: string | null;
    };
    expect(file).toBeNull();
    const byKey = new Map(settings.map(({ key, ...rest }) => [key, rest]));
    expect(byKey.get('http.bind_address')).toMatchObject({ value: '127.0.0.1:0', origin: '--http-bind-address' });
    expect(byKey.get('tsdb.http_url')).toMatchObject({ value: expect.stringContaining('127.0.0.1:1') });
    expect(byKey.get('http.max_limit')).toMatchObject({ origin: 'default' });
  });
});

describe('with authentication', () => {
  let closed: ClosedServer;
  beforeAll(async () => {
    closed = await startClosedServer();
  });
  afterAll(() => closed[Symbol.asyncDispose]());

  test.each(['reader', 'admin', 'otherTenant'] as const)('%s is told only of its tenant', async (caller) => {
    const told = (await closed.as(closed.token(caller), 'GET', '/stats')).json();
    expect(Object.keys(told)).toEqual(['version', 'uptime_ms', 'tenant']);
    expect(told.tenant).toMatchObject({ name: caller === 'otherTenant' ? 'other' : 'default' });
  });

  test('an operator sees and cancels the statements of every tenant, and others do not', async () => {
    const { url } = closed.server;
    const body = JSON.stringify({ sql: endless });
    const headers = { ...closed.headers('otherTenant'), 'content-type': 'application/json', 'x-request-id': 'long' };
    const answer = ask(`${url}/sql`, { method: 'POST', headers, body });
    const listed = async (caller: 'operator' | 'admin') =>
      (await closed.as(closed.token(caller), 'GET', '/queries')).json().queries;
    await expect.poll(() => listed('operator')).toMatchObject([{ id: 'long', tenant: 'other' }]);
    expect(await listed('admin')).toEqual([]);
    const told = (await closed.as(closed.token('operator'), 'GET', '/stats')).json() as unknown as Stats;
    expect([told.tenant.statements, told.server.statements.under_way]).toEqual([0, 1]);
    expect((await closed.as(closed.token('admin'), 'DELETE', '/queries/long')).status).toBe(404);
    expect((await closed.as(closed.token('operator'), 'DELETE', '/queries/long')).status).toBe(200);
    expect((await answer).json().code).toBe('sql_cancelled');
  });
});
