import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type QuestDb, startQuestDb } from '../support/questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';
import { startUpstream } from '../support/upstream.ts';
import { answer } from '../support/upstream-answer.ts';
import { execUrl, jsonOf, type RawAnswer, rawGet } from '../support/upstream-get.ts';

const everyType = `create table every_type (
  bo boolean, by byte, sh short, ch char, i int, l long, f float, d double, s string, v varchar, sy symbol, dt date,
  ts timestamp, tn timestamp_ns, u uuid, ip ipv4, l256 long256, gc geohash(4c), gb geohash(5b), bi binary,
  de decimal(18,4), a1 double[], a2 double[][]
) timestamp(ts) partition by day bypass wal`;

const randomRows = `insert into every_type select
  rnd_boolean(), rnd_byte(), rnd_short(), rnd_char(), rnd_int(), rnd_long(), rnd_float(), rnd_double() * 1e12,
  rnd_str(1, 9, 2), rnd_varchar(1, 9, 2), rnd_symbol('a', 'ß', null), rnd_date(0, 4000000000000, 2),
  timestamp_sequence('2026-01-31', 999999), '2026-01-31T12:00:00.123456789Z', rnd_uuid4(), rnd_ipv4(), rnd_long256(),
  rnd_geohash(20), rnd_geohash(5), rnd_bin(1, 9, 2), 12.3456m, array[1.5, null], array[[1.0, 2.0], [3.0, 4.0]]
  from long_sequence(50)`;

const nullRow = `insert into every_type (ts) values ('2026-02-01')`;

const reads: [query: string, parameters?: Record<string, string>][] = [
  ['select * from every_type'],
  ['every_type'],
  ['select interval(10, 20000)'],
  ['select null, cast(1.0/0.0 as double), cast(0.0/0.0 as float), 9223372036854775807'],
  ["select 'grüße, 世界 🌍' ü, '\"\\ \t\n/' escaped"],
  ['show tables'],
  ['show columns from every_type'],
  ['explain select * from every_type where i > 0'],
  ['select count(), avg(d) from every_type'],
  ['select x from long_sequence(0)'],
  [''],
  ['', { version: '2' }],
  ['-- a comment only'],
  ['selec 1'],
  ['select no_such_column from every_type'],
  ['select * from no_such_table'],
  ["insert into every_type (i, ts) values ('abc', '2026-02-02')"],
  ['create table every_type (x int)'],
  ['every_type', { limit: '10' }],
  ['every_type', { limit: '10,14' }],
  ['every_type', { limit: '10,14', nm: 'true' }],
  ['every_type', { limit: '10', count: 'true' }],
  ['every_type', { limit: '35,' }],
  ['every_type', { limit: '0' }],
  ['every_type', { limit: '-20' }],
  ['every_type', { limit: 'not a number' }],
  ['every_type', { nm: 'true' }],
  ['every_type', { timings: 'true' }],
  ['every_type', { explain: 'true' }],
  ['every_type', { quoteLargeNum: 'true' }],
  ['every_type', { src: 'con' }],
  ['every_type', { cols: 'ts,l,bo' }],
  ['every_type', { cols: 'ts,no_such_column' }],
  ['every_type', { cols: 'ts,,l' }],
  ["select x, x * 2.5 y, 'row ' || x s from long_sequence(1000000)"],
];

/** The same statements on a table of each door's own, since what they do cannot be done twice. */
const writes = [
  'create table $t (i int, s symbol, ts timestamp) timestamp(ts) partition by day bypass wal',
  "insert into $t values (1, 'ä', '2026-01-01'), (2, null, '2026-01-02')",
  "update $t set i = 42 where s = 'ä'",
  'update $t set i = 0 where i > 1000',
  'alter table $t add column more varchar',
  "insert into $t select x, 'n', timestamp_sequence('2026-01-03', 1000), 'm' from long_sequence(100)",
  'truncate table $t',
  'drop table $t',
] as const;

describe.skipIf(await questdbUnavailable())('proxy mode before a real QuestDB', () => {
  let questdb: QuestDb;
  let framehold: Framehold;

  beforeAll(async () => {
    questdb = await startQuestDb();
    framehold = await startFramehold({ settings: { 'tsdb.http_url': questdb.url } });
    for (const statement of [everyType, randomRows, nullRow]) {
      const { status, body } = await rawGet(execUrl(questdb.url, statement));
      expect(status, String(body)).toBe(200);
    }
  }, 300_000);
  afterAll(async () => {
    await framehold?.[Symbol.asyncDispose]();
    await questdb?.[Symbol.asyncDispose]();
  });

  test.each(reads)('%j %j is answered byte for byte as QuestDB does', async (query, parameters) => {
    const direct = await rawGet(execUrl(questdb.url, query, parameters));
    const proxied = await rawGet(execUrl(framehold.url, query, parameters));
    expectSame(proxied, direct);
  });

  test.each(['exec', 'exp'])(
    'a statement of /%s that fails on a row answers with the error of QuestDB',
    async (door) => {
      const query =
        "select cast(case when x=1101 then '99999999999' else '5' end as decimal(5,2)) d from long_sequence(2000)";
      const parameters = new URLSearchParams({ query, fmt: door === 'exec' ? 'json' : 'csv', engine: 'tsdb' });
      const failed = await rawGet(`${framehold.url}/${door}?${parameters}`);
      expect(failed.status, String(failed.body)).toBe(200);
      expect(failed.headers['content-type']).toBe('application/json; charset=utf-8');
      const error = 'inconvertible value: `99999999999` [STRING -> DECIMAL(5,2)]';
      expect(jsonOf(failed)).toEqual({ query, error, position: 12 });
    },
  );

  test('statements that change data are answered alike and change the same', async () => {
    for (const statement of writes) {
      const direct = await rawGet(execUrl(questdb.url, statement.replace('$t', 'written_direct')));
      const proxied = await rawGet(execUrl(framehold.url, statement.replace('$t', 'written_proxied')));
      expectSame(proxied, direct);
      expect(proxied.status).toBe(200);
      if (statement.startsWith('drop')) continue;
      const rows = (table: string) => rawGet(execUrl(questdb.url, `select * from ${table}`, { nm: 'true' }));
      expectSame(await rows('written_proxied'), await rows('written_direct'));
    }
  });

  test('an INSERT is executed once', async () => {
    await rawGet(execUrl(questdb.url, 'create table once (i int)'));
    for (let i = 0; i < 50; i += 1) await rawGet(execUrl(framehold.url, `insert into once values (${i})`));
    const count = 'select count() c from once';
    await expect
      .poll(async () => jsonOf(await rawGet(execUrl(questdb.url, count))), { timeout: 5000 })
      .toMatchObject({ dataset: [[50]] });
  });

  test('fmt is required here although QuestDB does without it', async () => {
    const missing = await rawGet(`${framehold.url}/exec?query=select%201`);
    expect(missing.status).toBe(400);
    expect(jsonOf(missing)).toMatchObject({ query: 'select 1', code: 'missing_parameter' });
    const other = await rawGet(execUrl(framehold.url, 'select 1', { fmt: 'csv' }));
    expect(other.status).toBe(400);
    expect(jsonOf(other)).toMatchObject({ query: 'select 1', code: 'unsupported_format' });
  });
});

describe('what proxy mode passes on', () => {
  test('only the parameters and headers that the external database may see are forwarded', async () => {
    await using upstream = await startUpstream(({ write }) => write(answer()));
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    const known = {
      ...{ limit: '1', count: 'true', nm: 'true', timings: 'true', explain: 'true', quoteLargeNum: 'true' },
      ...{ cols: 'a', version: '2', src: 'con' },
    };
    const unknown = { session: 'true', timeout: '1', token: 'x', attachment: 'true' };
    await rawGet(execUrl(framehold.url, "select 'ä+&='", { ...known, ...unknown }), {
      headers: {
        authorization: 'Bearer of-the-client',
        cookie: 'qdb_session=of-the-client',
        'x-forwarded-for': '10.0.0.1',
        'x-forwarded-host': 'elsewhere',
        forwarded: 'for=10.0.0.1',
        'x-api-key': 'of-the-client',
        connection: 'close, x-api-key',
        te: 'trailers',
        'user-agent': 'of-the-client',
        'statement-timeout': '5000',
      },
    });
    const [request] = upstream.requests;
    expect(request).toMatchObject({ method: 'GET', path: '/exec' });
    expect(Object.fromEntries(request?.parameters ?? [])).toEqual({ query: "select 'ä+&='", fmt: 'json', ...known });
    expect([...(request?.headers.keys() ?? [])].sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'statement-timeout',
    ]);
    expect(request?.headers.get('statement-timeout')).toBe('5000');
    expect(request?.text).not.toContain('of-the-client');
  });

  test.each(['/exec', '/exp'])('no statement of a page of another site, at %s', async (path) => {
    await using upstream = await startUpstream(({ write }) => write(answer()));
    const named = { 'tsdb.http_url': upstream.url, 'http.cors_origins': 'https://desk.example' };
    await using framehold = await startFramehold({ settings: named });
    const send = (headers: Record<string, string>): Promise<RawAnswer> =>
      rawGet(`${framehold.url}${path}?query=drop%20table%20t&fmt=${path === '/exec' ? 'json' : 'csv'}`, { headers });
    for (const site of ['cross-site', 'same-site']) {
      expect(jsonOf(await send({ 'sec-fetch-site': site }))).toMatchObject({ code: 'invalid_input' });
    }
    expect(jsonOf(await send({ origin: 'https://evil.example' }))).toMatchObject({ code: 'invalid_input' });
    expect(upstream.requests).toHaveLength(0);
    for (const headers of [{}, { 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin' }]) {
      expect((await send(headers)).status).toBe(200);
    }
    expect((await send({ 'sec-fetch-site': 'cross-site', origin: 'https://desk.example' })).status).toBe(200);
  });

  test('of the answer only status, body, content type and content encoding come back', async () => {
    const bytes = gzipSync('{"dataset":[]}');
    const headers = {
      ...{ 'Content-Type': 'application/odd', 'Content-Encoding': 'gzip', 'Set-Cookie': 'a=b', Server: 'questDB/1.0' },
      ...{ 'X-Inside': 'secret', 'Access-Control-Allow-Origin': '*' },
    };
    await using upstream = await startUpstream(({ write }) => write(answer(bytes, { status: 418, headers })));
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    const result = await rawGet(execUrl(framehold.url, 'select 1'), { headers: { 'accept-encoding': 'gzip' } });
    expect(result.status).toBe(418);
    expect(result.headers).toMatchObject({ 'content-type': 'application/odd', 'content-encoding': 'gzip' });
    for (const name of ['set-cookie', 'server', 'x-inside', 'access-control-allow-origin']) {
      expect(result.headers).not.toHaveProperty(name);
    }
    expect(result.body.equals(bytes)).toBe(true);
  });

  test('a client that accepts no encoding makes us ask for none', async () => {
    await using upstream = await startUpstream(({ write }) => write(answer()));
    await using framehold = await startFramehold({ settings: { 'tsdb.http_url': upstream.url } });
    await rawGet(execUrl(framehold.url, 'select 1'));
    expect(upstream.requests[0]?.headers.get('accept-encoding')).toBe('identity');
  });

  test('without an external database the answer is 412 and names the settings', async () => {
    await using framehold = await startFramehold();
    const result = await rawGet(execUrl(framehold.url, 'select 1'));
    expect(result.status).toBe(412);
    expect(result.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(jsonOf(result)).toEqual({
      query: 'select 1',
      error: expect.any(String),
      code: 'tsdb_not_configured',
      hint: expect.stringMatching(/(?=.*\bFRAMEHOLD_TSDB_HTTP_URL\b)(?=.*\bSERVICE_TSDB_HTTP_URL\b)/),
    });
  });
});

function expectSame(proxied: RawAnswer, direct: RawAnswer): void {
  const facts = ({ status, headers }: RawAnswer) => ({ status, contentType: headers['content-type'] });
  expect(facts(proxied)).toEqual(facts(direct));
  const [ours, theirs] = [withoutTimings(proxied.body), withoutTimings(direct.body)];
  // Comparing the texts as well would make a readable failure, but not of a million rows.
  if (ours.length < 100_000) expect(String(ours)).toBe(String(theirs));
  expect(ours.equals(theirs)).toBe(true);
}

function withoutTimings(body: Buffer): Buffer {
  return body.includes('"timings":{') ? Buffer.from(String(body).replace(/"timings":\{[^}]*\}/, '"timings":{}')) : body;
}
