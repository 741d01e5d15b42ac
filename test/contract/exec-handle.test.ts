import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { anonymous } from '../../src/auth/identify.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask, sendRaw } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'ids', 'SELECT range AS id FROM range(5000)');
  await putSql(server.frames, 'empty', "SELECT 1::BIGINT AS id, 'x' AS name LIMIT 0");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const exec = (query: string, options = {}) => ask(`${server.url}/exec?${query}`, options);
const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => [from + n]);

describe('GET /ping', () => {
  test('answers ok as plain text', async () => {
    const answer = await ask(`${server.url}/ping`);
    expect([answer.status, answer.text]).toEqual([200, 'ok']);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
  });
});

describe('GET /exec?handle=', () => {
  test('gives query, columns, dataset and count, in this order', async () => {
    const answer = await exec('handle=ids&fmt=json&limit=2');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.text).toBe(
      '{"query":"handle:ids","columns":[{"name":"id","type":"LONG"}],"dataset":[[0],[1]],"count":2}',
    );
  });

  test('gives 1000 rows unless told otherwise', async () => {
    expect((await exec('handle=ids&fmt=json')).json()).toMatchObject({ dataset: ids(0, 1000), count: 1000 });
  });

  test.each([
    ['0', 0, 0],
    ['3', 0, 3],
    ['5000', 0, 5000],
    ['9007199254740991', 0, 5000],
    ['11,20', 10, 20],
    ['0,5', 0, 5],
    ['1,1', 0, 1],
    ['4999,', 4998, 5000],
    ['4990,6000', 4989, 5000],
    ['6000,7000', 0, 0],
  ])('limit=%s gives rows %i to %i', async (limit, from, to) => {
    const answer = await exec(`handle=ids&fmt=json&limit=${limit}`);
    expect(answer.json()).toMatchObject({ columns: [{ name: 'id' }], dataset: ids(from, to), count: to - from });
  });

  test.each([
    '',
    '-1',
    '+5',
    '1.5',
    '1e3',
    'NaN',
    'ten',
    '20,11',
    '5,4',
    ',5',
    '1,2,3',
    '0,0',
    '9007199254740992',
    '1e309',
    ' 5',
  ])('limit=%j is refused', async (limit) => {
    const answer = await exec(`handle=ids&fmt=json&limit=${encodeURIComponent(limit)}`);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_limit', query: 'handle:ids', hint: expect.any(String) });
  });

  test('an empty frame has columns and no rows', async () => {
    expect((await exec('handle=empty&fmt=json')).text).toBe(
      '{"query":"handle:empty","columns":[{"name":"id","type":"LONG"},{"name":"name","type":"VARCHAR"}],"dataset":[],"count":0}',
    );
  });

  test('the same page is the same bytes when it comes from memory', async () => {
    const [cold, hot] = [await exec('handle=ids&fmt=json&limit=77,88'), await exec('handle=ids&fmt=json&limit=77,88')];
    expect(hot.text).toBe(cold.text);
    expect(hot.headers.etag).toBe(cold.headers.etag);
  });

  test('quoteLargeNum=true writes every LONG as a string', async () => {
    expect((await exec('handle=ids&fmt=json&limit=2&quoteLargeNum=true')).json().dataset).toEqual([['0'], ['1']]);
    expect((await exec('handle=ids&fmt=json&limit=2&quoteLargeNum=1')).json().dataset).toEqual([[0], [1]]);
  });

  test('a frame larger than memory pages arrives whole and in order', async () => {
    await putSql(server.frames, 'big', "SELECT range AS id, repeat('x', 50) AS text FROM range(300_000)");
    const answer = await exec('handle=big&fmt=json&limit=1,');
    const { dataset, count } = answer.json() as { dataset: [number, string][]; count: number };
    expect(count).toBe(300_000);
    expect(dataset.every(([id], n) => id === n)).toBe(true);
    expect((await exec('handle=big&fmt=json&limit=299999,')).json().dataset).toEqual([
      [299_998, 'x'.repeat(50)],
      [299_999, 'x'.repeat(50)],
    ]);
  });

  test('2,000 columns come in their order', async () => {
    const columns = Array.from({ length: 2000 }, (_, n) => `range + ${n} AS c${n}`).join(', ');
    await putSql(server.frames, 'wide', `SELECT ${columns} FROM range(3)`);
    const answer = (await exec('handle=wide&fmt=json')).json() as { columns: { name: string }[]; dataset: number[][] };
    expect(answer.columns.map((column) => column.name)).toEqual(Array.from({ length: 2000 }, (_, n) => `c${n}`));
    expect(answer.dataset[2]).toEqual(Array.from({ length: 2000 }, (_, n) => n + 2));
  });

  test('column names with quotes, newlines, emoji and repeats come out as they went in', async () => {
    await putSql(
      server.frames,
      'names',
      'SELECT 1 AS "a""b", 2 AS "new\nline", 3 AS "🦆", 4 AS dup, 5 AS dup, 6 AS "DUP"',
    );
    const { columns } = (await exec('handle=names&fmt=json')).json() as { columns: { name: string }[] };
    expect(columns.map((column) => column.name)).toEqual(['a"b', 'new\nline', '🦆', 'dup', 'dup', 'DUP']);
  });
});

describe('errors of /exec', () => {
  test.each([
    ['', 400, 'missing_parameter', undefined],
    ['fmt=json', 400, 'missing_parameter', undefined],
    ['handle=ids&query=select+1&fmt=json', 400, 'ambiguous_mode', 'select 1'],
    ['handle=ids&handle=ids&fmt=json', 400, 'invalid_parameter', undefined],
    ['handle=ids&fmt=json&limit=1&limit=2', 400, 'invalid_parameter', undefined],
    ['handle=ids&fmt=json&x=%ff', 400, 'invalid_parameter', undefined],
    ['handle=ids', 400, 'missing_parameter', 'handle:ids'],
    ['handle=ids&fmt=csv', 400, 'unsupported_format', 'handle:ids'],
    ['handle=ids&fmt=', 400, 'unsupported_format', 'handle:ids'],
    ['handle=&fmt=json', 400, 'invalid_handle', 'handle:'],
    ['handle=..%2Fetc&fmt=json', 400, 'invalid_handle', 'handle:../etc'],
    ['handle=.hidden&fmt=json', 400, 'invalid_handle', 'handle:.hidden'],
    [`handle=${'x'.repeat(129)}&fmt=json`, 400, 'invalid_handle', `handle:${'x'.repeat(129)}`],
    ['handle=nobody&fmt=json', 404, 'handle_not_found', 'handle:nobody'],
    ['query=select+1&fmt=json', 412, 'tsdb_not_configured', 'select 1'],
  ])('/exec?%s answers %i %s', async (query, status, code, asked) => {
    const answer = await exec(query);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const body = answer.json();
    expect(body.code).toBe(code);
    expect(body.query).toBe(asked);
    expect(body.error).toEqual(expect.any(String));
  });

  test('412 names the settings that help', async () => {
    const { hint } = (await exec('query=select+1&fmt=json')).json();
    expect(hint).toContain('FRAMEHOLD_TSDB_HTTP_URL');
    expect(hint).toContain('SERVICE_TSDB_HTTP_URL');
  });

  test('a statement that no database takes, and a format of files, are told what does', async () => {
    const { hint } = (await exec('query=select+1&fmt=json')).json();
    expect(hint).toContain('engine=local');
    expect((await exec('query=select+1&fmt=json&engine=local')).status).toBe(200);
    for (const fmt of ['csv', 'Parquet']) {
      expect((await exec(`handle=ids&fmt=${fmt}`)).json().hint).toContain('/exp in place of /exec');
      expect((await ask(`${server.url}/exp?handle=ids&fmt=${fmt}`)).status).toBe(200);
    }
    expect((await exec('handle=ids&fmt=xml')).json().hint).toBe('use fmt=json');
  });

  test('a dropped handle is gone, which differs from one that never was', async () => {
    await putSql(server.frames, 'dropped', 'SELECT 1 AS n');
    await server.frames.drop(anonymous, parseHandle('dropped'));
    expect((await exec('handle=dropped&fmt=json')).json()).toMatchObject({ code: 'handle_gone' });
  });

  test('frames.tombstone_ttl ends how long a handle is remembered as gone', async () => {
    await using other = await startFramehold({ settings: { 'frames.tombstone_ttl': '1s' } });
    await putSql(other.frames, 'short', 'SELECT 1 AS n');
    await other.frames.drop(anonymous, parseHandle('short'));
    const status = async () => (await ask(`${other.url}/exec?handle=short&fmt=json`)).status;
    expect(await status()).toBe(410);
    await vi.waitFor(async () => expect(await status()).toBe(404), { timeout: 5000 });
  });

  test('unknown paths and methods say what there is', async () => {
    expect((await ask(`${server.url}/exce?x=1`)).json()).toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('/exec'),
    });
    const post = await ask(`${server.url}/exec`, { method: 'POST' });
    expect([post.status, post.json().code, post.headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD, OPTIONS',
    ]);
  });

  test('a request target beyond 16 KiB is refused as too long', async () => {
    const answer = await exec(`handle=${'x'.repeat(20_000)}`);
    expect([answer.status, answer.json().code]).toEqual([431, 'request_too_long']);
  });
});

describe('HTTP manners', () => {
  test('a target that names the whole URL is understood', async () => {
    const answer = await sendRaw(
      server.url,
      'GET http://localhost/ping HTTP/1.1\r\nhost: any.example\r\nconnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*ok$/);
  });

  test('HEAD has the headers of GET and no body', async () => {
    const get = await exec('handle=ids&fmt=json&limit=9');
    const head = await exec('handle=ids&fmt=json&limit=9', { method: 'HEAD' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect(head.headers.etag).toBe(get.headers.etag);
    expect((await exec('handle=nobody&fmt=json', { method: 'HEAD' })).status).toBe(404);
  });

  test('OPTIONS says what is allowed', async () => {
    const answer = await exec('', { method: 'OPTIONS' });
    expect([answer.status, answer.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });

  test('version= gives rows of that version or lineage, and 409 for a frame at another one', async () => {
    const statuses = async (version: unknown) => {
      const answers = [];
      // The second may come from memory.
      for (const _ of ['read', 'kept']) answers.push(await exec(`handle=paged&fmt=json&version=${version}`));
      return answers.map(({ status }) => status);
    };
    const idOf = async () => String((await exec('handle=paged&fmt=json')).headers.etag).replaceAll('"', '');
    await putSql(server.frames, 'paged', 'SELECT 1 AS n');
    const lineage = await idOf();
    expect(await statuses(lineage)).toEqual([200, 200]);
    await putSql(server.frames, 'paged', 'SELECT 2 AS n', { mode: 'append' });
    const grown = await idOf();
    await putSql(server.frames, 'paged', 'SELECT 3 AS n', { mode: 'append' });
    expect([await statuses(lineage), await statuses(await idOf())]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    expect(await statuses(grown)).toEqual([409, 409]);
    await putSql(server.frames, 'paged', 'SELECT 4 AS n', { mode: 'overwrite' });
    expect([await statuses(lineage), await statuses(grown)]).toEqual([
      [409, 409],
      [409, 409],
    ]);
    expect((await exec(`handle=paged&fmt=json&version=${lineage}`)).json()).toMatchObject({ code: 'frame_changed' });
    expect(await statuses(2), "the version of QuestDB's protocol").toEqual([200, 200]);
  });

  test('an unchanged version is 304 by its ETag, a changed one is sent', async () => {
    await putSql(server.frames, 'tagged', 'SELECT 1 AS n');
    const first = await exec('handle=tagged&fmt=json');
    const etag = first.headers.etag as string;
    const same = await exec('handle=tagged&fmt=json', { headers: { 'if-none-match': `"other", W/${etag}` } });
    expect([same.status, same.body.length, same.headers.etag]).toEqual([304, 0, etag]);
    await putSql(server.frames, 'tagged', 'SELECT 2 AS n', { mode: 'overwrite' });
    const changed = await exec('handle=tagged&fmt=json', { headers: { 'if-none-match': etag } });
    expect([changed.status, changed.json().dataset]).toEqual([200, [[2]]]);
  });

  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)('a client that accepts %s gets it, small page or long stream', async (coding, decode) => {
    for (const limit of ['500', '5000']) {
      const plain = await exec(`handle=ids&fmt=json&limit=${limit}`);
      const coded = await exec(`handle=ids&fmt=json&limit=${limit}`, { headers: { 'accept-encoding': coding } });
      expect(coded.headers['content-encoding']).toBe(coding);
      expect(coded.headers.vary).toContain('Accept-Encoding');
      expect(coded.headers.etag).not.toBe(plain.headers.etag);
      expect(decode(coded.body).toString()).toBe(plain.text);
    }
    const long = await exec('handle=big&fmt=json&limit=1,', { headers: { 'accept-encoding': coding } });
    expect(JSON.parse(decode(long.body).toString()).count).toBe(300_000);
  });

  test('a coding that the client refuses is not used', async () => {
    for (const accepted of ['identity', 'gzip;q=0, br;q=0', 'deflate']) {
      const answer = await exec('handle=ids&fmt=json&limit=500', { headers: { 'accept-encoding': accepted } });
      expect(answer.headers['content-encoding']).toBeUndefined();
    }
  });

  test('every answer carries a request id, the client’s own where it is sane', async () => {
    expect((await exec('handle=ids&fmt=json')).headers['x-request-id']).toMatch(/^[0-9A-Z]{8}-[0-9a-z]+$/);
    expect((await exec('handle=nobody', { headers: { 'x-request-id': 'abc.1' } })).headers['x-request-id']).toBe(
      'abc.1',
    );
    const odd = await exec('handle=nobody', { headers: { 'x-request-id': 'a b' } });
    expect(odd.headers['x-request-id']).not.toBe('a b');
  });
});

describe('settings of the HTTP listener', () => {
  test('http.default_fmt=json serves clients that never send fmt', async () => {
    await using other = await startFramehold({ settings: { 'http.default_fmt': 'json' } });
    await putSql(other.frames, 'one', 'SELECT 1 AS n');
    expect((await ask(`${other.url}/exec?handle=one`)).json()).toMatchObject({ count: 1 });
  });

  test('http.max_limit bounds what one request may ask for', async () => {
    await using other = await startFramehold({ settings: { 'http.max_limit': '10' } });
    await putSql(other.frames, 'ids', 'SELECT range AS id FROM range(100)');
    const counts = ['', '&limit=10', '&limit=91,100', '&limit=95,'].map(
      async (limit) => (await ask(`${other.url}/exec?handle=ids&fmt=json${limit}`)).json().count,
    );
    expect(await Promise.all(counts)).toEqual([10, 10, 10, 6]);
    for (const limit of ['11', '1,11', '80,']) {
      expect((await ask(`${other.url}/exec?handle=ids&fmt=json&limit=${limit}`)).json()).toMatchObject({
        code: 'invalid_limit',
      });
    }
  });

  test('http.cors_origins lets pages of these origins read answers, and no others', async () => {
    await using other = await startFramehold({ settings: { 'http.cors_origins': 'https://app.example.com' } });
    const from = (origin: string, method = 'GET', extra = {}) =>
      ask(`${other.url}/ping`, { method, headers: { origin, ...extra } });
    const { headers } = await from('https://app.example.com');
    expect(headers['access-control-allow-origin']).toBe('https://app.example.com');
    expect(headers['access-control-expose-headers']?.split(', ')).toEqual([
      'Accept-Ranges',
      'Content-Disposition',
      'Content-Range',
      'ETag',
      'Lineage',
      'Next-Row',
      'Retry-After',
      'Up-To-Date',
      'X-Framehold-Engine',
      'X-Framehold-Engine-Reason',
      'X-Framehold-Tsdb-Rows',
      'X-Framehold-Tsdb-Bytes',
      'X-Framehold-Tsdb-Pushed',
      'X-Request-Id',
    ]);
    expect((await from('https://evil.example.com')).headers['access-control-allow-origin']).toBeUndefined();
    const preflight = await from('https://app.example.com', 'OPTIONS', { 'access-control-request-method': 'GET' });
    expect(preflight.headers['access-control-allow-methods']).toContain('GET');
    expect(
      (await ask(`${server.url}/ping`, { headers: { origin: 'https://app.example.com' } })).headers[
        'access-control-allow-origin'
      ],
    ).toBeUndefined();
  });

  test('http.max_body refuses a request that announces more', async () => {
    await using other = await startFramehold({ settings: { 'http.max_body': '1KB' } });
    const body = (bytes: number) =>
      sendRaw(
        other.url,
        `GET /ping HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`,
      );
    expect(await body(1000)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await body(1001)).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"too_large"/);
  });

  test('http.compression=false never compresses', async () => {
    await using other = await startFramehold({ settings: { 'http.compression': 'false' } });
    await putSql(other.frames, 'ids', 'SELECT range AS id FROM range(1000)');
    const answer = await ask(`${other.url}/exec?handle=ids&fmt=json`, { headers: { 'accept-encoding': 'gzip' } });
    expect([answer.headers['content-encoding'], answer.headers.vary]).toEqual([undefined, undefined]);
  });

  test('storage.cache_size_gb=0 serves without a cache', async () => {
    await using other = await startFramehold({ settings: { 'storage.cache_size_gb': '0' } });
    await putSql(other.frames, 'ids', 'SELECT range AS id FROM range(100_000)');
    for (const _ of [1, 2]) {
      const { dataset } = (await ask(`${other.url}/exec?handle=ids&fmt=json&limit=99998,`)).json();
      expect(dataset).toEqual([[99_997], [99_998], [99_999]]);
    }
  });
});
