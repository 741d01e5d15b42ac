import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask } from '../support/http-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'trades', `SELECT range AS id, 'some text ' || range AS text FROM range(100_000)`);
  for (const rows of ['1,a', '2,b']) await append('parts', `id,text\n${rows}\n`);
  await run('CREATE VIEW half AS SELECT text, id FROM trades WHERE id % 2 = 0');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function append(handle: string, body: string): Promise<void> {
  const answer = await ask(`${server.url}/imp?name=${handle}&append=true&fmt=json`, { method: 'POST', body });
  expect(answer.status, answer.text).toBe(200);
}

async function run(sql: string): Promise<void> {
  const answer = await ask(`${server.url}/sql`, { method: 'POST', body: JSON.stringify({ sql }) });
  expect(answer.status, answer.text).toBe(200);
}

const exp = (target: string, options: Parameters<typeof ask>[1] = {}): Promise<Answer> =>
  ask(`${server.url}/exp?${target}`, options);

async function temporaryFiles(): Promise<string[]> {
  const all = await readdir(server.dataDir, { recursive: true });
  return all.filter((path) => /(^|\/)(tmp|temporary)/i.test(path) && /\.[a-z]+$/.test(path));
}

describe.each([
  ['text of more than a mebibyte', 'handle=trades&fmt=csv'],
  ['tsv', 'handle=parts&fmt=tsv'],
  ['NDJSON', 'handle=trades&fmt=ndjson&cols=text'],
  ['JSON', 'handle=trades&fmt=json&limit=10,20'],
  ['a frame of several parts as Parquet', 'handle=parts&fmt=parquet'],
  ['some rows as Parquet', 'handle=trades&fmt=parquet&limit=5,50000'],
  ['some columns as Parquet', 'handle=trades&fmt=parquet&cols=id'],
  ['Parquet of another compression', 'handle=trades&fmt=parquet&compression_codec=gzip'],
  ['the rows of a statement as Parquet', 'query=SELECT+*+FROM+trades+ORDER+BY+id&engine=local&fmt=parquet'],
  ['the rows of a statement as CSV', 'query=SELECT+text,id+FROM+trades+ORDER+BY+id&engine=local&fmt=csv&limit=9,90000'],
  ['the rows of a statement as JSON', 'query=SELECT+*+FROM+parts&engine=local&fmt=json'],
  ['a view as Parquet', 'handle=half&fmt=parquet'],
  ['some rows and columns of a view as Parquet', 'handle=half&fmt=parquet&cols=id&limit=10,20000'],
  ['a view as CSV', 'handle=half&fmt=csv'],
  ['a view as JSON', 'handle=half&fmt=json&limit=5'],
])('%s', (_, target) => {
  test('tells its length in HEAD, and that it may be asked for in ranges', async () => {
    const head = await exp(target, { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'accept-ranges': 'bytes' } });
    expect(Date.parse(head.headers['last-modified'] ?? '')).toBeGreaterThan(Date.now() - 300_000);
    const whole = await exp(target);
    expect(head.headers['content-length']).toBe(String(whole.body.length));
    for (const name of ['content-type', 'content-disposition'] as const) {
      expect(head.headers[name]).toBe(whole.headers[name]);
    }
    const ranged = await exp(target, { headers: { range: 'bytes=0-0' } });
    expect(head.headers.etag).toBe(ranged.headers.etag);
    // A statement runs anew for who wants all of its rows at once.
    expect([head.headers.etag, undefined]).toContain(whole.headers.etag);
  });

  test('is the same bytes in ranges as whole', async () => {
    const whole = await exp(target);
    const etag = (await exp(target, { method: 'HEAD' })).headers.etag ?? '';
    const middle = Math.floor(whole.body.length / 2);
    const pieces: Buffer[] = [];
    for (const range of [`bytes=0-${middle - 1}`, `bytes=${middle}-`]) {
      const part = await exp(target, { headers: { range, 'if-range': etag, 'accept-encoding': 'gzip, br' } });
      expect(part.status).toBe(206);
      expect(part.headers.etag).toBe(etag);
      pieces.push(part.body);
    }
    expect(Buffer.concat(pieces).equals(whole.body)).toBe(true);
    const last = await exp(target, { headers: { range: 'bytes=-8' } });
    expect(last.body.equals(whole.body.subarray(-8))).toBe(true);
  });

  test('refuses a range behind its end, leaves one of other bytes out, and answers 304 to who has it', async () => {
    const whole = await exp(target);
    const beyond = await exp(target, { headers: { range: 'bytes=99999999-' } });
    expect(beyond.status).toBe(416);
    expect(beyond.headers['content-range']).toBe(`bytes */${whole.body.length}`);
    const other = await exp(target, { headers: { range: 'bytes=0-3', 'if-range': '"another"' } });
    expect(other.status).toBe(200);
    expect(other.body.equals(whole.body)).toBe(true);
    const { etag } = (await exp(target, { method: 'HEAD' })).headers;
    const known = await exp(target, { headers: { range: 'bytes=0-3', 'if-none-match': etag } });
    expect(known.status).toBe(304);
  });
});

test('many who ask for ranges of the same rows share one file, and an append removes it', async () => {
  await append('shared', 'id\n1\n');
  const before = (await temporaryFiles()).length;
  const range = 'bytes=0-3';
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => exp('handle=shared&fmt=csv', { headers: { range } })),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['206 id\r\n']));
  expect((await temporaryFiles()).length).toBe(before + 1);
  await append('shared', 'id\n2\n');
  const after = await exp('handle=shared&fmt=csv', { headers: { range: 'bytes=-3' } });
  expect(after.text).toBe('2\r\n');
  expect(after.headers.etag).not.toBe(answers[0]?.headers.etag);
  await vi.waitFor(async () => expect((await temporaryFiles()).length).toBe(before + 1));
});

test('a frame that is dropped, or put anew, is not served from its file', async () => {
  await append('gone', 'id\n1\n');
  const headers = { range: 'bytes=0-99' };
  expect((await exp('handle=gone', { headers })).text).toBe('id\r\n1\r\n');
  await ask(`${server.url}/handles/gone`, { method: 'DELETE' });
  expect((await exp('handle=gone', { headers })).status).toBe(410);
  await append('gone', 'id\n7\n');
  expect((await exp('handle=gone', { headers })).text).toBe('id\r\n7\r\n');
});

test('HEAD of text that would be sent compressed tells no length, since that is not known', async () => {
  const head = await exp('handle=trades&fmt=csv', { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } });
  expect(head.headers['content-encoding']).toBe('gzip');
  expect(head.headers['content-length']).toBeUndefined();
});

test('a statement is run once for many ranges of its rows, and again when a frame that it reads has others', async () => {
  await append('counted', 'id\n1\n');
  const target = 'query=SELECT+count(*)+AS+n,random()+AS+r+FROM+counted&engine=local&fmt=csv';
  const headers = { range: 'bytes=0-99' };
  const [first, second] = [await exp(target, { headers }), await exp(target, { headers })];
  expect(first?.text).toMatch(/^n,r\r\n1,/);
  expect(second?.text).toBe(first?.text);
  await append('counted', 'id\n2\n');
  expect((await exp(target, { headers })).text).toMatch(/^n,r\r\n2,/);
});

test('a view in ranges has other rows when it is another, and when a frame that it reads has others', async () => {
  await append('below', 'id\n1\n');
  await run('CREATE VIEW above AS SELECT id + 10 AS n FROM below');
  const rows = async (): Promise<string> =>
    (await exp('handle=above&fmt=csv', { headers: { range: 'bytes=0-99' } })).text;
  expect(await rows()).toBe('n\r\n11\r\n');
  await append('below', 'id\n2\n');
  expect(await rows()).toBe('n\r\n11\r\n12\r\n');
  await run('CREATE OR REPLACE VIEW above AS SELECT id + 20 AS n FROM below');
  expect(await rows()).toBe('n\r\n21\r\n22\r\n');
  await run('DROP VIEW above');
  expect((await exp('handle=above&fmt=csv', { headers: { range: 'bytes=0-99' } })).status).toBe(410);
});

describe('GET /frames/{handle}.{format}', () => {
  const file = (target: string, options: Parameters<typeof ask>[1] = {}): Promise<Answer> =>
    ask(`${server.url}/frames/${target}`, options);

  test.each([
    ['parts.parquet', 'handle=parts&fmt=parquet'],
    ['trades.csv?limit=2,4&cols=text', 'handle=trades&fmt=csv&limit=2,4&cols=text'],
    ['parts.tsv?nm=true', 'handle=parts&fmt=tsv&nm=true'],
    ['parts.ndjson', 'handle=parts&fmt=ndjson'],
    ['parts.arrow', 'handle=parts&fmt=arrow'],
    ['half.json?limit=3', 'handle=half&fmt=json&limit=3'],
    ['half.PARQUET', 'handle=half&fmt=parquet'],
  ])('%s is /exp?%s', async (name, target) => {
    const options = { headers: { range: 'bytes=0-999' } };
    const [here, there] = [await file(name, options), await exp(target, options)];
    expect(here.body.equals(there.body)).toBe(true);
    for (const header of ['content-type', 'content-disposition', 'content-range', 'etag', 'cache-control'] as const) {
      expect(here.headers[header], header).toBe(there.headers[header]);
    }
    expect(here.status).toBe(there.status);
    const heads = [await file(name, { method: 'HEAD' }), await exp(target, { method: 'HEAD' })];
    expect(heads[0]?.headers['content-length']).toBe(heads[1]?.headers['content-length']);
  });

  test('takes a handle with dots, up to the last one', async () => {
    await append('a.b.csv', 'id\n1\n');
    expect((await file('a.b.csv.csv')).text).toBe('id\r\n1\r\n');
    expect((await file('a.b.csv')).json()).toMatchObject({ code: 'handle_not_found' });
  });

  test('tells what is wrong with a name', async () => {
    for (const [name, status, code] of [
      ['parts.xlsx', 400, 'unsupported_format'],
      ['parts', 404, 'not_found'],
      ['nobody.csv', 404, 'handle_not_found'],
      ['.csv', 404, 'not_found'],
      ['..%2f..%2fetc%2fpasswd.csv', 400, 'invalid_handle'],
      ['parts.csv?handle=trades', 400, 'invalid_parameter'],
      ['parts.csv?fmt=json', 400, 'invalid_parameter'],
    ] as const) {
      const answer = await file(name);
      expect([name, answer.status, answer.json().code]).toEqual([name, status, code]);
    }
  });
});

test('HEAD of a statement that is wrong, or changes frames, is the error of its GET', async () => {
  for (const [sql, status] of [
    ['SELECT+nothing+FROM+trades', 400],
    ['DROP+TABLE+trades', 403],
  ]) {
    const head = await exp(`query=${sql}&engine=local&fmt=csv`, { method: 'HEAD' });
    expect(head.status, String(sql)).toBe(status);
  }
});

test('an Arrow stream, and rows that no version of a frame tells apart, have no ranges', async () => {
  const headers = { range: 'bytes=0-3' };
  expect((await exp('handle=trades&fmt=arrow', { headers })).status).toBe(200);
  expect((await exp('query=SHOW+TABLES&engine=local&fmt=csv', { headers })).status).toBe(200);
  const catalogs = 'query=SELECT+table_name+FROM+information_schema.tables&engine=local&fmt=csv';
  expect((await exp(catalogs, { headers })).status).toBe(200);
  await append('listed_later', 'id\n1\n');
  expect((await exp(catalogs, { headers })).text).toContain('listed_later');
});

test('JSON in ranges tells the engine as the request named it', async () => {
  for (const [engine, reason] of [
    ['local', 'named by the caller'],
    ['auto', 'auto: '],
  ]) {
    const target = `query=SELECT+count(*)+FROM+trades&engine=${engine}&fmt=json`;
    const answer = await exp(target, { headers: { range: 'bytes=0-999' } });
    expect(answer.status).toBe(206);
    expect(answer.json().engine_reason).toContain(reason);
  }
});
