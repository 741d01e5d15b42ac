import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { breakOff, importForm, importRaw, leftBehind } from '../support/import-client.ts';

/** At its own level brotli takes seconds for a bomb. */
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

let server: Framehold;
beforeAll(async () => {
  // At this level nothing is compressed anew later, which would need files of its own.
  const settings = { 'http.max_body': '5MB', 'http.cors_origins': 'https://friend.example', 'compression.level': '1' };
  server = await startFramehold({ settings });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const ids = Int32Array.from({ length: 1000 }, (_, n) => n);
const times = Array.from(ids, (n) => new Date(1_700_000_000_000 + n));
const arrow = Buffer.from(tableToIPC(tableFromArrays({ id: ids, ts: times }), 'stream'));
const columns = [
  { name: 'id', type: 'INT', size: 4, errors: 0 },
  { name: 'ts', type: 'TIMESTAMP', size: 8, errors: 0 },
];

async function rowsOf(handle: string): Promise<unknown> {
  const answer = await ask(`${server.url}/exec?handle=${handle}&fmt=json&limit=10000`);
  return answer.json().count;
}

describe('a frame', () => {
  test('is made of a body, and told of', async () => {
    const answer = await importRaw(server, 'name=raw', arrow);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toEqual({
      status: 'OK',
      location: 'raw',
      handle: 'raw',
      version: 1,
      rowsRejected: 0,
      rowsImported: 1000,
      header: false,
      partitionBy: 'NONE',
      format: 'arrow',
      columns,
      rejections: [],
      bytes: expect.any(Number),
      ms: expect.any(Number),
    });
    expect(await rowsOf('raw')).toBe(1000);
  });

  test('is made of a PUT just so', async () => {
    const answer = await ask(`${server.url}/imp?name=put`, { method: 'PUT', body: arrow });
    expect(answer.json()).toMatchObject({ handle: 'put', rowsImported: 1000 });
  });

  test('is made of the part data of a form, and told of in a table', async () => {
    const answer = await importForm(server, 'name=form&timestamp=ts', { data: { bytes: arrow, fileName: 'x' } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.text).toContain('|      Location:  |                                              form  |');
    expect(answer.text).toContain('|      Timestamp  |                                                ts  |');
    expect(answer.text).toContain('|  Rows imported  |                                              1000  |');
    expect(await rowsOf('form')).toBe(1000);
  });

  test('is told of as fmt says', async () => {
    const form = await importForm(server, 'name=form2&fmt=json', { data: { bytes: arrow, fileName: 'x' } });
    expect(form.json()).toMatchObject({ handle: 'form2' });
    expect((await importRaw(server, 'name=raw2&fmt=text', arrow)).text).toContain('Rows imported');
  });

  test('without a name gets a handle', async () => {
    const { handle } = (await importRaw(server, '', arrow)).json();
    expect(handle).toMatch(/^f_[0-9A-Z]{26}$/);
    expect(await rowsOf(String(handle))).toBe(1000);
  });

  test('is appended to and overwritten', async () => {
    expect((await importRaw(server, 'name=grow', arrow)).status).toBe(200);
    const appended = await importRaw(server, 'name=grow&append=true', arrow);
    expect(appended.json()).toMatchObject({ version: 2, rowsImported: 1000 });
    expect(await rowsOf('grow')).toBe(2000);
    expect((await importRaw(server, 'name=grow&overwrite=TRUE', arrow)).json()).toMatchObject({ version: 3 });
    expect(await rowsOf('grow')).toBe(1000);
  });

  test('goes after its time to live', async () => {
    expect((await importRaw(server, 'name=short&ttl=1ms', arrow)).status).toBe(200);
    await expect.poll(async () => (await ask(`${server.url}/exec?handle=short&fmt=json`)).status).toBe(410);
  });

  test('comes packed', async () => {
    const packed = {
      gzip: gzipSync(arrow),
      deflate: deflateSync(arrow),
      br: brotliCompressSync(arrow),
      identity: arrow,
    };
    for (const [coding, body] of Object.entries(packed)) {
      const answer = await importRaw(server, `name=packed-${coding}`, body, { 'content-encoding': coding });
      expect(answer.json(), coding).toMatchObject({ rowsImported: 1000 });
    }
    expect((await importRaw(server, 'name=packed.arrow.gz', gzipSync(arrow))).json()).toMatchObject({
      format: 'arrow',
    });
    const form = await importForm(server, 'name=packed-form&fmt=json', {
      data: { bytes: gzipSync(arrow), fileName: 'a.gz' },
    });
    expect(form.json()).toMatchObject({ rowsImported: 1000 });
  });

  test('takes the parameters of QuestDB that mean nothing here', async () => {
    const query = 'name=quest&partitionBy=DAY&o3MaxLag=1&maxUncommittedRows=5&create=true&durable=true&skipLev=true';
    expect((await importRaw(server, `${query}&delimiter=&timestamp=&schema=`, arrow)).status).toBe(200);
  });
});

describe('before anything is read', () => {
  /** Sends the head of a request for 4 MB and, with Expect, not one byte of them. */
  async function headOnly(query: string, headers = ''): Promise<string> {
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST /imp?${query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n${headers}\r\n`);
    const [piece] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return piece.toString();
  }

  beforeAll(async () => {
    await importRaw(server, 'name=taken', arrow);
  });

  test.each([
    ['name=taken', '409', 'handle_exists', ''],
    ['name=.hidden', '400', 'invalid_handle', ''],
    ['name=a&name=b', '400', 'invalid_parameter', 'more than once'],
    ['nam=a', '400', 'invalid_parameter', 'did you mean name?'],
    ['append=true&overwrite=true', '400', 'invalid_parameter', 'both append and overwrite'],
    ['overwrite=yes', '400', 'invalid_parameter', 'overwrite=true'],
    ['ttl=soon', '400', 'invalid_parameter', 'duration'],
    ['format=xlsx', '400', 'invalid_parameter', 'csv, tsv, parquet, arrow, json, ndjson'],
    ['fmt=xml', '400', 'invalid_parameter', 'json, text'],
    ['atomicity=skipCol', '400', 'invalid_parameter', 'skipRow leaves the rows out'],
    ['atomicity=maybe', '400', 'invalid_parameter', 'abort, skipRow'],
    ['delimiter=ab', '400', 'invalid_parameter', 'one ASCII character'],
    ['schema=a+DUOBLE', '400', 'invalid_parameter', 'did you mean DOUBLE?'],
    ['schema=[', '400', 'invalid_parameter', 'schema is not valid'],
  ])('%s is refused', async (query, status, code, words) => {
    for (const expectation of ['', 'Expect: 100-continue\r\n']) {
      const answer = await headOnly(query, expectation);
      expect(answer).toMatch(`HTTP/1.1 ${status}`);
      expect(answer).toContain(`"code":"${code}"`);
      expect(answer).toContain(words);
    }
  });

  test.each([
    ['Content-Encoding: compress', '400', 'unsupported_format', 'gzip, deflate, br, zstd'],
    ['Content-Type: image/png', '400', 'unsupported_format', 'format=csv'],
    ['Content-Type: multipart/form-data', '400', 'invalid_input', 'names no boundary'],
    ['Content-Type: multipart/mixed; boundary=x', '400', 'unsupported_format', 'multipart/form-data'],
    ['Origin: https://evil.example', '400', 'invalid_input', 'http.cors_origins'],
    ['Origin: null', '400', 'invalid_input', 'http.cors_origins'],
    ['Sec-Fetch-Site: cross-site', '400', 'invalid_input', 'http.cors_origins'],
  ])('%s is refused', async (header, status, code, words) => {
    const answer = await headOnly('', `${header}\r\nExpect: 100-continue\r\n`);
    expect(answer).toMatch(`HTTP/1.1 ${status}`);
    expect(answer).toContain(`"code":"${code}"`);
    expect(answer).toContain(words);
  });

  test('a client that asks first is told to go on', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const headers = { expect: '100-continue', 'content-length': arrow.length };
      const outgoing = request(`${server.url}/imp?name=asked`, { method: 'POST', agent: false, headers });
      outgoing.on('continue', () => outgoing.end(arrow));
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        response.resume();
        resolve(String(response.statusCode));
      });
      outgoing.flushHeaders();
    });
    expect(answer).toBe('200');
  });

  test('other methods are refused', async () => {
    const answer = await ask(`${server.url}/imp`);
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, PUT, OPTIONS']);
  });
});

test('pages of our own and of friends may send files', async () => {
  for (const [name, headers] of Object.entries({
    friend: { origin: 'https://friend.example' },
    own: { origin: server.url },
    proxied: { origin: 'https://data.example', 'sec-fetch-site': 'same-origin' },
  })) {
    expect((await importRaw(server, `name=${name}`, arrow, headers)).status, name).toBe(200);
  }
});

describe('what cannot have an effect is refused:', () => {
  test.each([
    ['delimiter=;', 'delimiter is given, but the body is arrow'],
    ['schema=id+LONG', 'schema is given, but arrow has types of its own'],
    ['timestamp=time', 'there is no column "time" for timestamp; did you mean "ts"?'],
    ['timestamp=id', 'column "id" for timestamp is not a timestamp'],
  ])('%s', async (query, words) => {
    const answer = await importRaw(server, `name=nothing&${query}`, arrow);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_parameter' });
    expect(`${answer.json().error}`).toContain(words.split(';')[0]);
    expect((await leftBehind(server)).handles).not.toContain('nothing');
  });
});

test('an append that does not fit is refused', async () => {
  await importRaw(server, 'name=fits', arrow);
  const other = tableToIPC(tableFromArrays({ id: ids }), 'stream');
  const answer = await importRaw(server, 'name=fits&append=true', other);
  expect([answer.status, answer.json().code]).toEqual([409, 'schema_mismatch']);
  expect(await rowsOf('fits')).toBe(1000);
});

describe('an upload that breaks off leaves nothing:', () => {
  const lying = { 'content-length': arrow.length };
  const csv = Buffer.from('a,b\n'.repeat(1000));
  const gzip = gzipSync(arrow);
  const cases = {
    'an Arrow stream': [arrow.subarray(0, 5000), lying],
    'a CSV': [csv, { 'content-length': csv.length + 1 }],
    'a chunked CSV': [csv, { 'transfer-encoding': 'chunked' }],
    'a packed stream': [gzip.subarray(0, gzip.length / 2), { ...lying, 'content-encoding': 'gzip' }],
    'a form': [
      Buffer.from(`--X\r\nContent-Disposition: form-data; name=data\r\n\r\n${csv}`),
      { ...lying, 'content-type': 'multipart/form-data; boundary=X' },
    ],
  } as const;
  test.each(Object.entries(cases))('%s', async (_, [begin, headers]) => {
    const { handles } = await leftBehind(server);
    const leavings = (): number => server.log().split('the client left').length;
    const before = leavings();
    await breakOff(server.url, 'name=broken', begin, headers);
    await expect.poll(leavings).toBe(before + 1);
    await expect.poll(() => leftBehind(server)).toEqual({ handles, files: [] });
    expect((await ask(`${server.url}/ping`)).status).toBe(200);
  });
});

test('an upload that stands still is refused and leaves nothing', async () => {
  await using impatient = await startFramehold({ settings: { 'http.stall_timeout': '1s' } });
  const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const headers = { 'content-length': 1000 };
    const outgoing = request(`${impatient.url}/imp?name=still`, { method: 'POST', agent: false, headers });
    outgoing.on('error', reject);
    outgoing.on('response', async (response) => {
      let text = '';
      for await (const piece of response) text += piece;
      resolve({ status: response.statusCode, text });
      outgoing.destroy();
    });
    outgoing.write('a,b\n1,2\n');
  });
  expect(answer).toEqual({ status: 400, text: expect.stringContaining('nothing of the body came for 1 s') });
  await expect.poll(() => leftBehind(impatient)).toEqual({ handles: [], files: [] });
});

test('an upload that drips is refused, and one that is slow but steady is not', async () => {
  // The steady one stays above the rate also where a busy machine lets a second pass between two pieces.
  const settings = { 'http.stall_timeout': '2s', 'http.min_body_rate': '100B' };
  await using impatient = await startFramehold({ settings });
  /** A piece every 100 ms until the answer comes, or all is sent. */
  const upload = (name: string, piece: string, pieces: number) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const outgoing = request(`${impatient.url}/imp?name=${name}`, { method: 'POST', agent: false });
      outgoing.on('error', reject);
      outgoing.write('a,b\n');
      let sent = 0;
      const dripping = setInterval(() => (sent++ < pieces ? outgoing.write(piece) : outgoing.end()), 100);
      outgoing.on('response', async (response) => {
        clearInterval(dripping);
        let text = '';
        for await (const each of response) text += each;
        resolve({ status: response.statusCode, text });
        outgoing.destroy();
      });
    });
  const [dripped, steady] = await Promise.all([
    upload('drip', '1', 200),
    upload('steady', `1,${'2'.repeat(500)}\n`, 25),
  ]);
  expect(dripped).toEqual({ status: 400, text: expect.stringContaining('fewer than 100 bytes a second over 2 s') });
  expect(steady.status).toBe(200);
  expect((await leftBehind(impatient)).handles).toEqual(['steady']);
});

test('the last byte of a form counts: a cut one does not become a frame', async () => {
  const head = '--X\r\nContent-Disposition: form-data; name="data"; filename="a.arrow"\r\n\r\n';
  const body = Buffer.concat([Buffer.from(head), arrow, Buffer.from('\r\n--X-')]);
  const headers = { 'content-type': 'multipart/form-data; boundary=X' };
  const answer = await importRaw(server, 'name=cutform', body, headers);
  expect([answer.status, answer.json().error]).toEqual([400, expect.stringContaining('before its closing boundary')]);
  expect((await leftBehind(server)).handles).not.toContain('cutform');
  expect((await importRaw(server, 'name=cutform', Buffer.concat([body, Buffer.from('-')]), headers)).status).toBe(200);
});

test('a client that listens only behind its last byte hears the answer', async () => {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  const body = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(4_000_000)]);
  socket.write(`POST /imp?name=deaf HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`);
  await new Promise((resolve) => socket.write(body, resolve));
  const [piece] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  expect(piece.toString()).toContain('the body is a ZIP archive');
});

test('what is too large is refused, packed or not, and the answer is heard', async () => {
  const zeros = Buffer.alloc(50_000_000);
  for (const [body, headers] of [
    [gzipSync(zeros), { 'content-encoding': 'gzip' }],
    [brotliCompressSync(zeros, quickly), { 'content-encoding': 'br' }],
    [gzipSync(zeros), {}],
    [zeros, { 'transfer-encoding': 'chunked' }],
  ] as const) {
    const answer = await importRaw(server, 'name=large', body, headers);
    expect([answer.status, answer.json().code]).toEqual([413, 'too_large']);
  }
  await expect.poll(async () => (await leftBehind(server)).files).toEqual([]);
});
