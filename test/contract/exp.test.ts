import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Session } from '@framehold/duckdb';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask } from '../support/http-client.ts';

const rows = 100_000;
let server: Framehold;
beforeAll(async () => {
  // With zstd the files would be compressed anew in the background.
  server = await startFramehold({ settings: { 'compression.algorithm': 'snappy' } });
  await putSql(
    server.frames,
    'trades',
    `SELECT range AS id, 'S' || range % 3 AS symbol, range / 4.0 AS price FROM range(${rows})`,
  );
  await putSql(server.frames, 'odd', `SELECT 1 AS "a", 'x,"y"' AS "b,c", NULL AS n, '' AS e, '=1' AS f`);
  await putSql(server.frames, 'parts', 'SELECT range AS id FROM range(70000)');
  await putSql(server.frames, 'parts', 'SELECT range + 70000 AS id FROM range(30000)', { mode: 'append' });
  await putSql(server.frames, 'empty', 'SELECT 1 AS a, 2 AS b WHERE false');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

type Parameters = Readonly<Record<string, string>>;
const urlOf = (parameters: Parameters): string => `${server.url}/exp?${new URLSearchParams(parameters)}`;
const exp = (parameters: Parameters, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  ask(urlOf(parameters), { headers });
const sql = (query: string, parameters: Parameters = {}): Promise<Answer> =>
  exp({ query, engine: 'local', ...parameters });

/** What a database of its own reads in a file. */
async function read(body: Buffer, relation: (path: string) => string): Promise<Record<string, unknown>[]> {
  const session = new Session({ threads: 1, memoryBytes: 500e6, tempDirectory: server.dataDir, maxTempBytes: 1e9 });
  using connection = session.connect();
  const path = join(server.dataDir, `read-${createHash('sha1').update(body).digest('hex')}`);
  await writeFile(path, body);
  return await connection.rows(relation(path));
}

describe('GET /exp', () => {
  test('gives CSV with a header and CR LF', async () => {
    const answer = await exp({ handle: 'odd' });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('a,"b,c",n,e,f\r\n1,"x,""y""",,"",=1\r\n');
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="odd.csv"',
      'content-length': String(answer.body.length),
    });
  });

  test.each([
    ['tsv', 'text/tab-separated-values; charset=utf-8', 'a\tb,c\tn\te\tf\r\n1\t"x,""y"""\t\t""\t=1\r\n'],
    ['ndjson', 'application/x-ndjson; charset=utf-8', '{"a":1,"b,c":"x,\\"y\\"","n":null,"e":"","f":"=1"}\n'],
  ])('gives %s', async (fmt, type, text) => {
    const answer = await exp({ handle: 'odd', fmt });
    expect(answer.text).toBe(text);
    expect(answer.headers).toMatchObject({
      'content-type': type,
      'content-disposition': `attachment; filename="odd.${fmt}"`,
    });
  });

  test('gives the same JSON as /exec, for frames and for statements', async () => {
    const exec = await ask(`${server.url}/exec?handle=trades&fmt=json&limit=5`);
    expect((await exp({ handle: 'trades', fmt: 'json', limit: '5' })).text).toBe(exec.text);
    const query = 'SELECT id FROM trades ORDER BY id LIMIT 3';
    const asked = await ask(`${server.url}/exec?${new URLSearchParams({ query, fmt: 'json', engine: 'local' })}`);
    expect((await sql(query, { fmt: 'json' })).text).toBe(asked.text);
  });

  test.each([
    ['a frame', { handle: 'trades' }],
    ['a statement', { query: 'SELECT * FROM trades', engine: 'local' }],
  ])('gives an Arrow stream of %s', async (_, source) => {
    const answer = await exp({ ...source, fmt: 'arrow' } as Parameters);
    expect(answer.headers['content-type']).toBe('application/vnd.apache.arrow.stream');
    const table = tableFromIPC(answer.body);
    expect(table.numRows).toBe(rows);
    expect(table.get(rows - 1)?.toJSON()).toEqual({ id: BigInt(rows - 1), symbol: 'S0', price: (rows - 1) / 4 });
    expect(answer.body.subarray(-8)).toEqual(Buffer.of(255, 255, 255, 255, 0, 0, 0, 0));
  });

  test('gives Parquet of a statement, with its length, and leaves no file behind', async () => {
    const answer = await sql('SELECT id, symbol FROM trades WHERE id % 2 = 0 ORDER BY id', { fmt: 'parquet' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/vnd.apache.parquet',
      'content-disposition': 'attachment; filename="query.parquet"',
      'content-length': String(answer.body.length),
    });
    expect(
      await read(answer.body, (path) => `SELECT count(*)::INT AS n, max(id)::INT AS last FROM read_parquet('${path}')`),
    ).toEqual([{ n: rows / 2, last: rows - 2 }]);
    await vi.waitFor(async () => expect(await temporaryFiles()).toEqual([]));
  });

  test.each(['csv', 'tsv', 'json', 'ndjson', 'arrow', 'parquet'])('an empty frame as %s is whole', async (fmt) => {
    const answer = await exp({ handle: 'empty', fmt });
    expect(answer.status).toBe(200);
    if (fmt === 'csv') expect(answer.text).toBe('a,b\r\n');
    if (fmt === 'ndjson') expect(answer.text).toBe('');
    if (fmt === 'json') expect(answer.json()).toMatchObject({ dataset: [], count: 0 });
    if (fmt === 'arrow') expect(tableFromIPC(answer.body).schema.names).toEqual(['a', 'b']);
  });
});

async function temporaryFiles(): Promise<string[]> {
  const all = await readdir(server.dataDir, { recursive: true });
  return all.filter((path) => /tmp|temporary/i.test(path) && path.endsWith('.parquet'));
}

describe('limit', () => {
  test.each([
    ['3', ['0', '1', '2']],
    ['2,4', ['2', '3']],
    ['99998,', ['99998', '99999']],
    ['99999,200000', ['99999']],
    ['200000,200001', []],
    ['5,5', []],
    ['0', []],
    ['0,1', ['0']],
  ])('%s counts from 0 and leaves the last out, as QuestDB does here', async (limit, ids) => {
    const expected = ['id', ...ids, ''].join('\r\n');
    expect((await exp({ handle: 'trades', cols: 'id', limit })).text).toBe(expected);
    expect((await sql('SELECT id FROM trades', { limit })).text).toBe(expected);
  });

  test.each(['-1', 'x', '', '4,2', '1.5', ',5', '9007199254740992'])('%j is refused', async (limit) => {
    const answer = await exp({ handle: 'trades', limit });
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_limit', query: 'handle:trades' });
  });

  test('is not bounded by http.max_limit: exports are for whole frames', async () => {
    await using small = await startFramehold({ settings: { 'http.max_limit': '10' } });
    await putSql(small.frames, 'ids', 'SELECT range AS id FROM range(50)');
    expect((await ask(`${small.url}/exp?handle=ids&limit=11`)).text.split('\r\n')).toHaveLength(13);
    expect((await ask(`${small.url}/exp?handle=ids`)).text.split('\r\n')).toHaveLength(52);
  });
});

describe('cols, nm, delimiter and the rest', () => {
  test('cols chooses and orders', async () => {
    expect((await exp({ handle: 'odd', cols: '"b,c",a' })).text).toBe('"b,c",a\r\n"x,""y""",1\r\n');
    expect((await sql('SELECT 1 AS a, 2 AS b', { cols: 'b,a' })).text).toBe('b,a\r\n2,1\r\n');
    const arrow = await exp({ handle: 'trades', fmt: 'arrow', cols: 'price,id', limit: '5,7' });
    expect(
      tableFromIPC(arrow.body)
        .toArray()
        .map((row) => row?.toJSON()),
    ).toEqual([
      { price: 1.25, id: 5n },
      { price: 1.5, id: 6n },
    ]);
    expect((await exp({ handle: 'odd', cols: 'A' })).json()).toMatchObject({
      code: 'invalid_parameter',
      error: expect.stringContaining('did you mean a?'),
    });
  });

  test('nm=true leaves the names out', async () => {
    const answer = await exp({ handle: 'odd', nm: 'true', cols: 'a' });
    expect(answer.text).toBe('1\r\n');
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8; header=absent');
    expect((await exp({ handle: 'odd', nm: 'true', cols: 'a', fmt: 'json' })).text).toBe('{"dataset":[[1]],"count":1}');
  });

  test('delimiter stands between the fields, and is one character', async () => {
    expect((await exp({ handle: 'odd', delimiter: ';' })).text).toBe('a;b,c;n;e;f\r\n1;"x,""y""";;"";=1\r\n');
    expect((await exp({ handle: 'odd', delimiter: 'ab' })).json()).toMatchObject({ code: 'invalid_parameter' });
  });

  test('escapeFormulas=true puts an apostrophe before what a spreadsheet would run', async () => {
    expect((await exp({ handle: 'odd', cols: 'a,f', escapeFormulas: 'true' })).text).toBe("a,f\r\n1,'=1\r\n");
  });

  test('params has the values of a statement, also of one that is read in ranges', async () => {
    const text = 'SELECT $low + 0 AS low, $word AS word';
    const named = (low: number) => ({ params: JSON.stringify({ low, word: 'a' }) });
    expect((await sql(text, named(1))).text).toBe('low,word\r\n1,a\r\n');
    expect((await sql('SELECT ? || ? AS joined', { params: '["x","y"]' })).text).toBe('joined\r\nxy\r\n');
    for (const low of [2, 3]) {
      const target = `${server.url}/exp?${new URLSearchParams({ query: text, engine: 'local', ...named(low) })}`;
      expect((await ask(target, { headers: { range: 'bytes=10-12' } })).text).toBe(`${low},a`);
    }
    expect((await sql(text)).json()).toMatchObject({ code: 'missing_parameter' });
    expect((await sql(text, { params: '{"low":1}' })).json().error).toBe('parameter word has no value');
    expect((await sql(text, { params: '{low' })).json()).toMatchObject({ code: 'invalid_input' });
    expect((await exp({ handle: 'odd', params: '{}' })).json()).toMatchObject({ code: 'invalid_parameter' });
    expect((await sql(text, { ...named(1), engine: 'tsdb' })).json()).toMatchObject({ code: 'invalid_parameter' });
  });

  test('quoteLargeNum=true writes every LONG of json as a string', async () => {
    const answer = await exp({ handle: 'trades', fmt: 'json', quoteLargeNum: 'true', limit: '1' });
    expect(answer.json().dataset).toEqual([['0', 'S0', 0]]);
  });

  test.each([
    ['report', 'attachment; filename="report.csv"'],
    ['report.csv', 'attachment; filename="report.csv"'],
    ['Umsätze €', `attachment; filename="Ums_tze _.csv"; filename*=UTF-8''Ums%C3%A4tze%20%E2%82%AC.csv`],
    ['../../etc/passwd', 'attachment; filename="passwd.csv"'],
    ['a"\r\nset-cookie: x=1', 'attachment; filename="a___set-cookie_ x=1.csv"'],
    ['..', 'attachment; filename="export.csv"'],
  ])('filename=%s is safe', async (filename, disposition) => {
    expect((await exp({ handle: 'odd', filename })).headers['content-disposition']).toBe(disposition);
  });

  test("QuestDB's other parameters change nothing", async () => {
    const others =
      'count rmode row_group_size data_page_size statistics_enabled parquet_version raw_array_encoding src';
    const parameters = Object.fromEntries(others.split(' ').map((name) => [name, '1']));
    expect((await exp({ handle: 'odd', cols: 'a', ...parameters })).text).toBe('a\r\n1\r\n');
  });

  test('a Parquet file has the compression_codec and compression_level that are asked for, if they go together', async () => {
    const codec = async (parameters: Parameters): Promise<unknown> => {
      const { body } = await exp({ handle: 'trades', fmt: 'parquet', ...parameters });
      return await read(body, (path) => `SELECT DISTINCT compression FROM parquet_metadata('${path}')`);
    };
    expect(await codec({ compression_codec: 'snappy' })).toEqual([{ compression: 'SNAPPY' }]);
    expect(await codec({ compression_codec: 'lz4_raw' })).toEqual([{ compression: 'LZ4_RAW' }]);
    expect(await codec({ compression_codec: 'zstd', compression_level: '3' })).toEqual([{ compression: 'ZSTD' }]);
    for (const wrong of [
      { compression_codec: 'lzo' },
      { compression_codec: 'snappy', compression_level: '3' },
      { compression_level: '23' },
      { compression_level: 'high' },
    ] as Parameters[]) {
      expect((await exp({ handle: 'trades', fmt: 'parquet', ...wrong })).json()).toMatchObject({
        code: 'invalid_parameter',
      });
    }
  });
});

describe('errors before the first byte have a status', () => {
  test.each<[Parameters, number, string]>([
    [{}, 400, 'missing_parameter'],
    [{ handle: 'odd', query: 'SELECT 1' }, 400, 'ambiguous_mode'],
    [{ handle: 'odd', fmt: 'xlsx' }, 400, 'unsupported_format'],
    [{ handle: 'odd', colls: 'a' }, 400, 'invalid_parameter'],
    [{ handle: 'odd', nm: 'yes' }, 400, 'invalid_parameter'],
    [{ handle: 'odd', timeout: '0' }, 400, 'invalid_parameter'],
    [{ handle: '../x' }, 400, 'invalid_handle'],
    [{ handle: 'nothing' }, 404, 'handle_not_found'],
    [{ query: 'SELEC 1', engine: 'local' }, 400, 'sql_error'],
    [{ query: 'DROP TABLE odd', engine: 'local' }, 403, 'sql_forbidden'],
    [{ query: "SELECT CAST('x' AS INT)", engine: 'local' }, 400, 'sql_error'],
    [{ query: "SELECT CAST('x' AS INT)", engine: 'local', fmt: 'parquet' }, 400, 'sql_error'],
    [{ query: 'SELECT 1', engine: 'spark' }, 400, 'invalid_parameter'],
    [{ query: 'SELECT 1' }, 412, 'tsdb_not_configured'],
  ])('%j', async (parameters, status, code) => {
    const answer = await exp(parameters);
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject({ code });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['content-disposition']).toBeUndefined();
  });

  test('POST is not offered', async () => {
    expect((await ask(urlOf({ query: 'SELECT 1', engine: 'local' }), { method: 'POST' })).status).toBe(405);
  });

  test('timeout ends a statement that takes longer', async () => {
    const query = 'SELECT count(*) FROM range(100000000000) a WHERE a.range % 7 = 3';
    const answer = await sql(query, { timeout: '1' });
    expect(answer.status).toBe(504);
    expect(answer.json()).toMatchObject({ code: 'sql_timeout' });
  });
});

describe('an error after the first byte cuts the connection', () => {
  const late =
    "SELECT CAST(CASE WHEN range = 2000000 THEN 'x' ELSE range::VARCHAR END AS BIGINT) AS n FROM range(3000000)";

  test.each(['csv', 'ndjson', 'json', 'arrow'])('%s', async (fmt) => {
    await expect(sql(late, { fmt })).rejects.toThrow();
  });

  test('also where it is compressed', async () => {
    await expect(
      ask(urlOf({ query: late, engine: 'local' }), { headers: { 'accept-encoding': 'gzip' } }),
    ).rejects.toThrow();
  });

  test('parquet, which is written first, is an error with a status', async () => {
    const before = await temporaryFiles();
    expect((await sql(late, { fmt: 'parquet' })).json()).toMatchObject({ code: 'sql_error' });
    await vi.waitFor(async () => expect(await temporaryFiles()).toEqual(before));
  });
});

test('a client that leaves stops the work', async () => {
  const { hostname, port } = new URL(server.url);
  const before = server.log().match(/the client left/g)?.length ?? 0;
  const endless = 'SELECT range AS a, range + 1 AS b FROM range(100000000000)';
  for (let n = 0; n < 4; n++) {
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET ${urlOf({ query: endless, engine: 'local' }).slice(server.url.length)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.destroy();
  }
  await vi.waitFor(() => expect((server.log().match(/the client left/g)?.length ?? 0) - before).toBe(4));
  expect((await sql('SELECT 1 AS a')).text).toBe('a\r\n1\r\n');
});

describe('caching and coding', () => {
  test.each(['csv', 'json', 'arrow', 'parquet'])('a frame as %s has an entity tag', async (fmt) => {
    const first = await exp({ handle: 'trades', fmt });
    const { etag } = first.headers;
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await exp({ handle: 'trades', fmt }, { 'if-none-match': etag ?? '' });
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag } });
  });

  test('a statement has none, and no cache keeps it', async () => {
    const { headers } = await sql('SELECT 1');
    expect(headers.etag).toBeUndefined();
    expect(headers['cache-control']).toBe('no-store');
  });

  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)('text is sent as %s when asked for, long or short', async (coding, decode) => {
    const plain = await exp({ handle: 'trades' });
    const coded = await exp({ handle: 'trades' }, { 'accept-encoding': coding });
    expect(coded.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' });
    expect(decode(coded.body).equals(plain.body)).toBe(true);
    expect(coded.headers.etag).not.toBe(plain.headers.etag);
    const etag = coded.headers.etag ?? '';
    const again = await exp({ handle: 'trades' }, { 'accept-encoding': coding, 'if-none-match': etag });
    expect(again.status).toBe(304);
    const short = await exp({ handle: 'trades', limit: '500' }, { 'accept-encoding': coding });
    expect(decode(short.body).toString()).toBe((await exp({ handle: 'trades', limit: '500' })).text);
  });

  test.each(['arrow', 'parquet'])('%s is never coded', async (fmt) => {
    const answer = await exp({ handle: 'trades', fmt }, { 'accept-encoding': 'gzip' });
    expect(answer.headers['content-encoding']).toBeUndefined();
  });

  test.each(['csv', 'ndjson', 'arrow', 'parquet'])('HEAD of a frame as %s has the headers of GET', async (fmt) => {
    const head = await ask(urlOf({ handle: 'trades', fmt }), { method: 'HEAD' });
    const get = await exp({ handle: 'trades', fmt });
    expect(head).toMatchObject({ status: 200, text: '' });
    for (const name of ['content-type', 'content-disposition', 'etag'] as const) {
      expect(head.headers[name]).toBe(get.headers[name]);
    }
  });
});

describe('a whole frame as Parquet', () => {
  const parquet = (headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    exp({ handle: 'trades', fmt: 'parquet' }, headers);
  let file: Buffer;
  let etag: string;
  beforeAll(async () => {
    file = await readFile(join(server.dataDir, 'cold', 'trades.parquet'));
    etag = (await parquet()).headers.etag ?? '';
  });

  test('is its own file, every byte of it', async () => {
    const answer = await parquet();
    expect(answer.body.equals(file)).toBe(true);
    expect(answer.headers).toMatchObject({ 'content-length': String(file.length), 'accept-ranges': 'bytes' });
  });

  test.each<[string, (bytes: number) => [number, number]]>([
    ['bytes=0-3', () => [0, 4]],
    ['bytes=4-4', () => [4, 5]],
    ['bytes=1000-', (bytes) => [1000, bytes]],
    ['bytes=-8', (bytes) => [bytes - 8, bytes]],
    ['bytes=-99999999999', (bytes) => [0, bytes]],
    ['bytes=10-99999999999', (bytes) => [10, bytes]],
  ])('can be asked for in part: %s', async (range, slice) => {
    const [from, to] = slice(file.length);
    const answer = await parquet({ range });
    expect(answer.status).toBe(206);
    expect(answer.headers['content-range']).toBe(`bytes ${from}-${to - 1}/${file.length}`);
    expect(answer.headers['content-length']).toBe(String(to - from));
    expect(answer.body.equals(file.subarray(from, to))).toBe(true);
  });

  test.each(['bytes=99999999999-', 'bytes=-0'])('a range beyond its end is refused: %s', async (range) => {
    const answer = await parquet({ range });
    expect(answer).toMatchObject({ status: 416, text: '', headers: { 'content-range': `bytes */${file.length}` } });
  });

  test.each(['bytes=5-3', 'bytes=a-b', 'rows=0-3', 'bytes=0-1,4-5', 'bytes=-'])(
    '%s is as if it were not there',
    async (range) => {
      const answer = await parquet({ range });
      expect(answer.status).toBe(200);
      expect(answer.body.length).toBe(file.length);
    },
  );

  test('If-Range gives the range only of the same file', async () => {
    expect((await parquet({ range: 'bytes=0-3', 'if-range': etag })).status).toBe(206);
    expect((await parquet({ range: 'bytes=0-3', 'if-range': '"another"' })).status).toBe(200);
  });

  test('that has several parts is written as one', async () => {
    const answer = await exp({ handle: 'parts', fmt: 'parquet' });
    const [found] = await read(
      answer.body,
      (path) =>
        `SELECT count(*)::INT AS n, count(*) FILTER (id <> file_row_number)::INT AS moved FROM read_parquet('${path}')`,
    );
    expect(found).toEqual({ n: 100_000, moved: 0 });
  });

  test.each(['0,100000', '69990,70010', '65000,', '3'])('rows %s of several parts come in order', async (limit) => {
    const [from = 0, to = 100_000] = limit.includes(',')
      ? limit.split(',').map((n) => (n === '' ? undefined : Number(n)))
      : [0, Number(limit)];
    const answer = await exp({ handle: 'parts', fmt: 'parquet', limit, compression_codec: 'snappy' });
    const [found] = await read(
      answer.body,
      (path) =>
        `SELECT count(*)::INT AS n, count(*) FILTER (id <> file_row_number + ${from})::INT AS moved FROM read_parquet('${path}')`,
    );
    expect(found).toEqual({ n: to - from, moved: 0 });
  });

  test('with chosen columns has those, in their order, even twice', async () => {
    const answer = await exp({ handle: 'trades', fmt: 'parquet', cols: 'symbol,id,symbol', limit: '4,6' });
    expect(await read(answer.body, (path) => `SELECT id::INT AS id, symbol FROM read_parquet('${path}')`)).toEqual([
      { id: 4, symbol: 'S1' },
      { id: 5, symbol: 'S2' },
    ]);
    expect((await exp({ handle: 'trades', fmt: 'parquet', limit: '0' })).status).toBe(200);
  });

  test('many at once, re-written, share one file', async () => {
    const before = await temporaryFiles();
    const asked = Array.from({ length: 6 }, () => exp({ handle: 'trades', fmt: 'parquet', cols: 'id', limit: '1000' }));
    const answers = await Promise.all(asked);
    for (const answer of answers) expect(answer.status).toBe(200);
    expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(1);
    expect((await temporaryFiles()).length - before.length).toBe(1);
  });
});
