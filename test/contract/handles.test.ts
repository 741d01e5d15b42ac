import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { anonymous } from '../../src/auth/identify.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, type AskOptions, ask } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'trades.a', "SELECT range AS id, 'x' AS s, [1.5] AS l FROM range(100)");
  await putSql(server.frames, 'trades.b', 'SELECT range AS id FROM range(30_000)', { ttlMs: 600_000 });
  await putSql(server.frames, 'trades.c', 'SELECT range AS id FROM range(10)', { ttlMs: 300_000 });
  await putSql(server.frames, 'other', 'SELECT 1 AS one');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const at = (path: string, options?: AskOptions): Promise<Answer> => ask(server.url + path, options);

test('shares, tokens and tenants need authentication, which the answer says', async () => {
  for (const [method, path] of [
    ['GET', '/handles/other/shares'],
    ['PUT', '/handles/other/shares/acme'],
    ['GET', '/tokens'],
    ['GET', '/tenants'],
  ] as const)
    expect((await at(path, { method })).json()).toMatchObject({
      code: 'not_found',
      error: 'tokens, tenants and shares need authentication, which is off here',
      hint: 'the operator turns it on: auth.enabled',
    });
});

interface Listing {
  handles: { handle: string; state: string; [key: string]: unknown }[];
  next: string | null;
}

async function list(query = ''): Promise<Listing> {
  return (await at(`/handles${query}`)).json() as unknown as Listing;
}

async function names(query: string): Promise<string[]> {
  return (await list(query)).handles.map(({ handle }) => handle);
}

describe('GET /handles', () => {
  test('lists the frames by handle, each with what is known of it', async () => {
    const { handles, next } = await list();
    expect(handles.map(({ handle }) => handle)).toEqual(['other', 'trades.a', 'trades.b', 'trades.c']);
    expect(next).toBeNull();
    expect(handles[1]).toEqual({
      handle: 'trades.a',
      kind: 'frame',
      state: 'held',
      version: 1,
      versionId: expect.any(String),
      rows: 100,
      columns: [
        { name: 'id', type: 'LONG' },
        { name: 's', type: 'VARCHAR' },
        { name: 'l', type: 'ARRAY', dim: 1, elemType: 'DECIMAL(2,1)' },
      ],
      bytes: { cold: expect.any(Number), hot: 0 },
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ttl: null,
      expires: null,
      damaged: null,
    });
    expect(handles[2]).toMatchObject({ ttl: 600, expires: expect.stringMatching(/Z$/) });
  });

  test('tells the bytes that are kept in memory', async () => {
    await at('/exec?handle=trades.b&fmt=json');
    const { bytes } = (await at('/handles/trades.b')).json() as { bytes: { hot: number } };
    expect(bytes.hot).toBeGreaterThan(1000);
  });

  test('prefix chooses', async () => {
    expect(await names('?prefix=trades.')).toEqual(['trades.a', 'trades.b', 'trades.c']);
    expect(await names('?prefix=TRADES')).toEqual([]);
  });

  test.each([
    ['handle', ['other', 'trades.a', 'trades.b', 'trades.c']],
    ['-handle', ['trades.c', 'trades.b', 'trades.a', 'other']],
    ['handle&desc=true', ['trades.c', 'trades.b', 'trades.a', 'other']],
    ['rows', ['other', 'trades.c', 'trades.a', 'trades.b']],
    ['-rows', ['trades.b', 'trades.a', 'trades.c', 'other']],
    ['created', ['trades.a', 'trades.b', 'trades.c', 'other']],
    ['expires', ['trades.c', 'trades.b', 'other', 'trades.a']],
    ['-expires', ['trades.b', 'trades.c', 'trades.a', 'other']],
  ])('order=%s, on one page and on pages of one', async (order, expected) => {
    expect(await names(`?order=${order}`)).toEqual(expected);
    const paged: string[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const cursor = after === undefined ? '' : `&after=${encodeURIComponent(after)}`;
      const { handles, next } = await list(`?limit=1&order=${order}${cursor}`);
      paged.push(...handles.map(({ handle }) => handle));
      after = next;
    }
    expect(paged).toEqual(expected);
  });

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'https://evil.example', 'x-request-id': 'access-control-allow-origin' },
  ])('a page of another site drops nothing (%j)', async (headers) => {
    const answer = await at('/handles/trades.a', { method: 'DELETE', headers });
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_input']);
    expect((await at('/handles/trades.a')).status).toBe(200);
  });

  test('a cursor holds also when its frame is gone', async () => {
    await putSql(server.frames, 'trades.aa', 'SELECT range AS id FROM range(50)');
    const byHandle = await list('?limit=1&after=trades.a');
    const byRows = await list('?limit=1&order=rows&after=rows~10~trades.c');
    expect([byHandle.handles[0]?.handle, byRows.handles[0]?.handle]).toEqual(['trades.aa', 'trades.aa']);
    await at('/handles/trades.aa', { method: 'DELETE' });
    expect(await names(`?after=${byHandle.next}`)).toEqual(['trades.b', 'trades.c']);
    expect(await names(`?order=rows&after=${byRows.next}`)).toEqual(['trades.a', 'trades.b']);
  });

  test.each([
    ['limit=0', 'limit "0" is not valid'],
    ['limit=10001', 'limit "10001" is not valid'],
    ['order=size', 'order "size" is not valid'],
    ['order=created&after=rows~1~trades.a', 'after "rows~1~trades.a" is not of order=created'],
    ['order=rows&after=trades.a', 'after "trades.a" is not of order=rows'],
    ['prefx=a', 'parameter "prefx" is not known here; did you mean prefix?'],
  ])('%s is refused', async (query, error) => {
    const answer = await at(`/handles?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_parameter', error });
  });

  test('lists a damaged frame with what is wrong', async () => {
    await using other = await startFramehold();
    await writeFile(join(other.dataDir, 'cold', 'bad.parquet'), 'PAR1 this is no Parquet PAR1');
    const listed = async (): Promise<unknown> =>
      ((await ask(`${other.url}/handles`)).json() as unknown as Listing).handles[0];
    const damaged = { handle: 'bad', state: 'damaged', rows: null, damaged: expect.any(String) };
    await expect.poll(listed, { timeout: 10_000 }).toMatchObject(damaged);
    expect((await ask(`${other.url}/handles/bad`)).json()).toMatchObject(damaged);
    const inState = async (state: string) => (await ask(`${other.url}/handles?state=${state}`)).json().handles;
    expect(await inState('damaged')).toMatchObject([damaged]);
    expect(await inState('held')).toEqual([]);
  });
});

describe('/handles/{handle}', () => {
  test('GET describes one, with its version as the ETag; HEAD gives the headers', async () => {
    const answer = await at('/handles/trades.a');
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toBe('"1"');
    expect(answer.json()).toMatchObject({ handle: 'trades.a', rows: 100, version: 1 });
    const head = await at('/handles/trades.a', { method: 'HEAD' });
    expect([head.status, head.headers.etag, head.text]).toEqual([200, '"1"', '']);
    expect(head.headers['content-length']).toBe(answer.headers['content-length']);
  });

  test('GET does not renew the time to live', async () => {
    const before = (await at('/handles/trades.b')).json().expires;
    expect((await at('/handles/trades.b')).json().expires).toBe(before);
  });

  test.each([
    ['/handles/nobody', 404, 'handle_not_found'],
    ['/handles/a%20b', 400, 'invalid_handle'],
    ['/handles/trades.a?x=1', 400, 'invalid_parameter'],
    ['/handles/a/b', 404, 'not_found'],
  ])('GET %s answers %i %s', async (path, status, code) => {
    const answer = await at(path);
    expect([answer.status, answer.json().code]).toEqual([status, code]);
  });

  describe('DELETE', () => {
    const drop = (headers = {}): Promise<Answer> => at('/handles/gone', { method: 'DELETE', headers });
    beforeEach(async () => {
      await putSql(server.frames, 'gone', 'SELECT 1 AS one', { mode: 'overwrite' });
    });

    async function version(): Promise<number> {
      const { version } = await server.frames.describe(anonymous, parseHandle('gone'), {
        signal: new AbortController().signal,
      });
      return version;
    }

    test('drops the frame and says which version; then it is gone', async () => {
      const current = await version();
      const answer = await drop();
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({ handle: 'gone', version: current, dropped: true });
      expect((await drop()).status).toBe(410);
      expect((await at('/handles/gone')).json()).toMatchObject({ code: 'handle_gone', error: 'gone was dropped' });
    });

    test.each(['"%"', '%', ' "%" ', '*'])('If-Match: %s drops that version', async (tag) => {
      const current = await version();
      expect((await drop({ 'if-match': tag.replace('%', String(current)) })).status).toBe(200);
    });

    test('If-Match of another version drops nothing', async () => {
      const current = await version();
      const answer = await drop({ 'if-match': `"${current - 1}"` });
      expect(answer.status).toBe(410);
      expect(answer.json()).toMatchObject({
        code: 'handle_gone',
        error: `version ${current - 1} of gone is gone: it is at version ${current}`,
      });
      expect(await version()).toBe(current);
    });

    test('a repeated DELETE with If-Match never drops what was put in between', async () => {
      const tag = `"${await version()}"`;
      expect((await drop({ 'if-match': tag })).status).toBe(200);
      expect((await drop({ 'if-match': tag })).status).toBe(410);
      await putSql(server.frames, 'gone', 'SELECT 2 AS two');
      expect((await drop({ 'if-match': tag })).status).toBe(410);
      expect((await at('/handles/gone')).status).toBe(200);
    });

    test.each(['W/"1"', '"1", "2"', '"abc"', '1.5'])('If-Match: %s is refused', async (tag) => {
      expect((await drop({ 'if-match': tag })).json()).toMatchObject({ code: 'invalid_parameter' });
    });

    test('of a handle that never was is 404', async () => {
      expect((await at('/handles/never', { method: 'DELETE' })).status).toBe(404);
    });
  });
});

describe('POST /handles/{handle}/renew', () => {
  const renew = (query = '', body?: string, headers = {}): Promise<Answer> =>
    at(`/handles/trades.c/renew${query}`, { method: 'POST', headers, ...(body !== undefined && { body }) });

  test.each([
    ['?ttl=15m', undefined, 900],
    ['', '{"ttl":"12h"}', 43_200],
    ['', '{"ttl":90}', 90],
    ['', '{}', 90],
    ['', undefined, 90],
    ['?ttl=none', undefined, null],
    ['?ttl=5m', undefined, 300],
    ['', '{"ttl":null}', null],
  ])('%s with the body %s makes it %s seconds', async (query, body, ttl) => {
    const answer = await renew(query, body);
    expect(answer.status).toBe(200);
    const { expires, ...summary } = answer.json();
    expect(summary).toMatchObject({ handle: 'trades.c', ttl });
    expect(expires).toEqual(ttl === null ? null : expect.any(String));
    if (ttl !== null) expect(Date.parse(expires as string) - Date.now()).toBeGreaterThan((ttl - 30) * 1000);
  });

  test.each([
    ['?ttl=soon', undefined, 'invalid_parameter', '"soon" is not a duration'],
    ['?ttl=0', undefined, 'invalid_parameter', 'ttl "0" is not valid'],
    ['?tll=1', undefined, 'invalid_parameter', 'parameter "tll" is not known here; did you mean ttl?'],
    ['', '{"ttl":0}', 'invalid_parameter', 'ttl is 0'],
    ['', '{"ttl":[1]}', 'invalid_parameter', 'ttl is an array; it must be a duration such as "15m", or null'],
    ['', '{"tl":1}', 'invalid_parameter', 'the body has an unknown key "tl"; did you mean ttl?'],
    ['?ttl=1', '{"ttl":1}', 'invalid_parameter', 'ttl is given in the query string and in the body'],
    ['', '[]', 'invalid_input', 'the body is an array, not a JSON object'],
    ['', '{"ttl"', 'invalid_input', 'the body is not valid JSON: a colon is expected at its end'],
  ])('%s with the body %s is refused', async (query, body, code, error) => {
    const answer = await renew(query, body);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code, error });
  });

  test('of an unknown handle is 404, by GET 405', async () => {
    expect((await at('/handles/never/renew', { method: 'POST' })).status).toBe(404);
    const answer = await at('/handles/trades.c/renew');
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });
});

describe('GET /info', () => {
  test('names the program, its version and where gRPC listens', async () => {
    const answer = await at('/info');
    expect(answer.json()).toEqual({
      name: 'framehold',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      grpc: { host: server.grpcAddress.host, port: server.grpcAddress.port, tls: false },
      engines: ['local'],
      default_engine: 'tsdb',
    });
  });

  test('names tsdb where one is configured', async () => {
    await using other = await startFramehold({
      settings: { 'tsdb.http_url': 'http://127.0.0.1:1', 'sql.default_engine': 'local' },
    });
    expect((await ask(`${other.url}/info`)).json()).toMatchObject({
      engines: ['local', 'tsdb'],
      default_engine: 'local',
    });
  });

  test('tells the most rows that a request may ask for, where there is a most', async () => {
    await using other = await startFramehold({ settings: { 'http.max_limit': '50' } });
    expect((await ask(`${other.url}/info`)).json()).toMatchObject({ max_limit: 50 });
  });
});
