import { readdir, readFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { batchMessage, endOfStream, schemaMessage } from '../support/arrow-stream-writer.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask, sendRaw } from '../support/http-client.ts';
import { importRaw, leftBehind } from '../support/import-client.ts';

const maxBody = 8_000_000;
/** At its own level brotli takes seconds for a bomb. */
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const folder = new URL('../fixtures/bad/', import.meta.url).pathname;

let server: Framehold;
beforeAll(async () => {
  // At this level nothing is compressed anew later, which would need files of its own.
  const settings = { 'http.max_body': String(maxBody), 'http.stall_timeout': '2s', 'compression.level': '1' };
  server = await startFramehold({ settings });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Whatever came, nothing of it stays, and the server goes on. */
afterEach(async () => {
  const { handles } = await leftBehind(server);
  for (const handle of handles) await ask(`${server.url}/handles/${handle}`, { method: 'DELETE' });
  expect(handles).toEqual([]);
  await expect.poll(async () => (await leftBehind(server)).files).toEqual([]);
  expect((await ask(`${server.url}/ping`)).text).toBe('ok');
});

interface Refusal {
  readonly status?: number;
  readonly code?: string;
  /** What the error or its hint says. */
  readonly says: string | RegExp;
}

function expectRefusal(answer: Answer, { status = 400, code = 'invalid_input', says }: Refusal): void {
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  const { error, hint = '', ...rest } = answer.json();
  expect({ status: answer.status, code: rest.code, error }).toMatchObject({ status, code });
  expect(`${error} ${hint}`).toMatch(says);
  expect(answer.text, 'nothing of the inside').not.toMatch(/\/tmp\/|\.framehold|read_csv|read_json|duckdb/i);
}

/** An answer that is no refusal: the file can be read, and it is said as what. The frame goes again. */
async function expectColumns(answer: Answer, rowsImported: number, names: readonly string[]): Promise<void> {
  expect(answer.status, answer.text).toBe(200);
  const { columns, ...rest } = answer.json() as { columns: { name: string }[]; handle: string };
  expect(rest).toMatchObject({ rowsImported, rowsRejected: 0 });
  expect(columns.map(({ name }) => name)).toEqual(names);
  expect((await ask(`${server.url}/handles/${rest.handle}`, { method: 'DELETE' })).status).toBe(200);
}

interface FileCase extends Refusal {
  readonly query?: string;
}

const files: Readonly<Record<string, FileCase>> = {
  'ragged-short.csv': { says: 'line 3' },
  'ragged-long.csv': { says: 'line 3' },
  'unclosed-quote.csv': { says: 'line 2' },
  'text-behind-quote.csv': { says: 'line 2' },
  'latin1.csv': { says: /line 3.*not UTF-8/ },
  'utf16-with-mark.csv': { says: 'UTF-16' },
  'utf16-without-mark.csv': { says: 'UTF-16' },
  'half-a-character.csv': { says: /line 3.*not UTF-8/ },
  'nul-byte.csv': { says: /line 2.*NUL/ },
  'zeros.csv': { says: 'binary' },
  'noise.csv': { says: 'binary' },
  'picture.csv': { says: 'binary' },
  'empty.csv': { says: 'the body is empty' },
  'blank-lines.csv': { says: 'empty' },
  'mark-only.csv': { says: 'empty' },
  'number-too-large.csv': { query: 'schema=n+INT', says: /line 3, column "n".*99999999999/ },
  'no-such-day.csv': { query: "schema=day+DATE+'dd.MM.yyyy'", says: /line 3, column "day".*31\.02\.2026/ },
  'not-a-time.csv': { query: 'timestamp=ts', code: 'invalid_parameter', says: '"ts" for timestamp is not a timestamp' },
  'number.json': { says: 'line 1' },
  'string.json': { says: 'line 1' },
  'null.json': { says: 'line 1' },
  'numbers.json': { says: 'object' },
  'no-rows.json': { says: 'column' },
  'no-columns.json': { says: 'column' },
  'cut.json': { says: 'line 1' },
  'garbage-behind.json': { says: 'line 1' },
  'keys-without-quotes.json': { says: 'line 1' },
  'comma-at-the-end.json': { says: 'line 1' },
  'latin1.json': { says: 'UTF-8' },
  'cut-line.ndjson': { says: 'line 3' },
  'number-among-objects.ndjson': { says: 'line 2' },
  'wrong-escape.ndjson': { says: 'line 2' },
  'start-only.parquet': { says: 'Parquet' },
  'text.parquet': { says: 'the body is not a Parquet file' },
  'noise-behind-the-start.parquet': { says: 'Parquet' },
  'length-too-large.parquet': { says: 'Parquet' },
  'start-only.arrow': { says: 'Arrow' },
  'noise-behind-the-start.arrow': { says: 'Arrow' },
  'length-too-large.arrow': { says: 'Arrow' },
  'old.feather': { says: 'Arrow' },
  'archive.csv.zip': { code: 'unsupported_format', says: 'ZIP archive' },
  'document.pdf': { code: 'unsupported_format', says: 'PDF' },
  'packed.csv.xz': { code: 'unsupported_format', says: 'xz' },
  'packed.csv.bz2': { code: 'unsupported_format', says: 'bzip2' },
};

const fine: Readonly<Record<string, { readonly rows: number; readonly names: readonly string[] }>> = {
  'header-only.csv': { rows: 0, names: ['a', 'b', 'c'] },
  'duplicate-names.csv': { rows: 1, names: ['id', 'id', 'Id'] },
  'empty-names.csv': { rows: 1, names: ['a', 'column2', 'c', 'column4'] },
};

const formatOfEnding = (file: string): string => {
  const ending = /\.(csv|json|ndjson|parquet|arrow|feather)$/.exec(file)?.[1];
  return ending === undefined ? '' : `&format=${ending.replace('feather', 'arrow')}`;
};

test('every file of the folder has its case', async () => {
  expect((await readdir(folder)).sort()).toEqual([...Object.keys(files), ...Object.keys(fine)].sort());
});

test.each(Object.entries(files))('%s is refused', async (file, { query = '', ...refusal }) => {
  const bytes = await readFile(join(folder, file));
  expectRefusal(await importRaw(server, `name=bad&${query}${formatOfEnding(file)}`, bytes), refusal);
});

test.each(Object.entries(fine))('%s can be read', async (file, { rows, names }) => {
  const bytes = await readFile(join(folder, file));
  await expectColumns(await importRaw(server, 'name=fine&forceHeader=true', bytes), rows, names);
});

test('with atomicity=skipRow the rows that cannot be read are left out and named', async () => {
  const bytes = await readFile(join(folder, 'ragged-short.csv'));
  const answer = await importRaw(server, 'name=skipped&atomicity=skipRow', bytes);
  expect(answer.json()).toMatchObject({ rowsImported: 2, rowsRejected: 1, rejections: [{ line: 3 }] });
  await ask(`${server.url}/handles/skipped`, { method: 'DELETE' });
});

describe('Parquet', () => {
  async function parquet(sql: string): Promise<Buffer> {
    await putSql(server.frames, 'made', sql);
    const bytes = await readFile(join(server.dataDir, 'cold', 'made.parquet'));
    await ask(`${server.url}/handles/made`, { method: 'DELETE' });
    return bytes;
  }
  const numbers = "select i, i * 2.5 as x, 'text ' || i as t from range(20000) r(i)";

  test('cut anywhere is refused', async () => {
    const bytes = await parquet(numbers);
    for (const end of [5, 100, bytes.length / 2, bytes.length - 8, bytes.length - 1]) {
      expectRefusal(await importRaw(server, 'name=bad', bytes.subarray(0, end)), { says: 'Parquet' });
    }
  });

  test("with another's footer is refused", async () => {
    const [one, other] = [await parquet(numbers), await parquet('select 1 as a')];
    const body = Buffer.concat([other.subarray(0, other.length / 2), one.subarray(one.length - 800)]);
    expectRefusal(await importRaw(server, 'name=bad', body), { says: 'Parquet' });
  });

  test('with pages overwritten is refused', async () => {
    const bytes = await parquet(numbers);
    bytes.fill(0xa5, 100, Math.floor(bytes.length / 2));
    expectRefusal(await importRaw(server, 'name=bad', bytes), { says: 'Parquet' });
  });

  test('sent as something else is refused', async () => {
    const bytes = await parquet('select 1 as a');
    for (const format of ['csv', 'tsv', 'json', 'ndjson']) {
      expectRefusal(await importRaw(server, `name=bad&format=${format}`, bytes), {
        says: `the body is a Parquet file, not ${format}`,
      });
    }
    expectRefusal(await importRaw(server, 'name=bad&format=arrow', bytes), { says: 'Arrow' });
  });
});

describe('Arrow', () => {
  const table = tableFromArrays({ id: Int32Array.from({ length: 5000 }, (_, n) => n), text: Array(5000).fill('text') });
  const stream = Buffer.from(tableToIPC(table, 'stream'));
  const file = Buffer.concat([Buffer.from('ARROW1\0\0'), stream, Buffer.alloc(200), Buffer.from('ARROW1')]);

  test('cut anywhere is refused', async () => {
    for (const [kind, bytes] of Object.entries({ stream, file })) {
      for (const end of [6, 100, bytes.length / 2, bytes.length - 300]) {
        const answer = await importRaw(server, 'name=bad&format=arrow', bytes.subarray(0, end));
        expect([kind, end, answer.status, answer.json().code]).toEqual([kind, end, 400, 'invalid_input']);
      }
    }
  });

  test.each([
    ['beyond the text', [0, 4, 1_000_000]],
    ['that go backwards', [0, 6, 3]],
    ['below zero', [0, -5, 6]],
  ])('with offsets %s is refused', async (_, offsets) => {
    const body = Buffer.concat([
      schemaMessage([{ name: 't', type: [5, {}] }]),
      batchMessage({
        rows: 2,
        nodes: [[2, 0]],
        buffers: [new Uint8Array(0), new Uint8Array(Int32Array.from(offsets).buffer), Buffer.from('abcdef')],
      }),
      endOfStream,
    ]);
    expectRefusal(await importRaw(server, 'name=bad', body), { says: /offset/i });
  });
});

describe('packed', () => {
  const csv = Buffer.from(`a,b\n${'1,2\n'.repeat(5000)}`);
  const zeros = Buffer.alloc(100_000_000);
  const gzipBomb = gzipSync(zeros);
  /** Blocks of 128 KiB of one byte, four bytes each: 16 GB in half a megabyte. */
  const zstdBomb = Buffer.concat([
    Buffer.from('28b52ffd0070', 'hex'),
    ...Array.from({ length: 125_000 }, () => Buffer.from('02001000', 'hex')),
  ]);

  const refused: Readonly<Record<string, readonly [Buffer, OutgoingHttpHeaders, Refusal]>> = {
    'gzip cut short': [gzipSync(csv).subarray(0, 60), { 'content-encoding': 'gzip' }, { says: 'ends too early' }],
    'a .gz file cut short': [gzipSync(csv).subarray(0, 60), {}, { says: 'ends too early' }],
    'gzip with a byte changed': [
      flipped(gzipSync(csv), 30),
      { 'content-encoding': 'gzip' },
      { says: 'gzip of the body' },
    ],
    'gzip with a wrong checksum': [flipped(gzipSync(csv), -6), { 'content-encoding': 'gzip' }, { says: 'is damaged' }],
    'CSV that is said to be gzip': [csv, { 'content-encoding': 'gzip' }, { says: 'gzip of the body is damaged' }],
    'CSV that is said to be deflate': [
      csv,
      { 'content-encoding': 'deflate' },
      { says: 'deflate of the body is damaged' },
    ],
    'CSV that is said to be brotli': [csv, { 'content-encoding': 'br' }, { says: 'br of the body' }],
    'CSV that is said to be zstd': [csv, { 'content-encoding': 'zstd' }, { says: 'zstd of the body is damaged' }],
    'a coding that nobody knows': [csv, { 'content-encoding': 'rot13' }, { code: 'unsupported_format', says: 'rot13' }],
    'a gzip bomb': [gzipBomb, { 'content-encoding': 'gzip' }, { status: 413, code: 'too_large', says: `${maxBody}` }],
    'a gzip bomb as a file': [gzipBomb, {}, { status: 413, code: 'too_large', says: `${maxBody}` }],
    'a gzip bomb in a gzip': [
      gzipSync(gzipBomb),
      { 'content-encoding': 'gzip' },
      { status: 413, code: 'too_large', says: `${maxBody}` },
    ],
    'a deflate bomb': [
      deflateSync(zeros),
      { 'content-encoding': 'deflate' },
      { status: 413, code: 'too_large', says: `${maxBody}` },
    ],
    'a brotli bomb': [
      brotliCompressSync(zeros, quickly),
      { 'content-encoding': 'br' },
      { status: 413, code: 'too_large', says: `${maxBody}` },
    ],
    'a zstd bomb': [zstdBomb, { 'content-encoding': 'zstd' }, { status: 413, code: 'too_large', says: `${maxBody}` }],
    'zstd that needs a window of gigabytes': [
      Buffer.concat([Buffer.from('28b52ffd00a8', 'hex'), Buffer.alloc(100)]),
      {},
      { code: 'unsupported_format', says: '2147483648 bytes of memory' },
    ],
    'zstd cut short': [zstdBomb.subarray(0, 40), { 'content-encoding': 'zstd' }, { says: 'ends too early' }],
  };
  test.each(Object.entries(refused))('%s is refused', async (_, [body, headers, refusal]) => {
    const start = performance.now();
    expectRefusal(await importRaw(server, 'name=bad', body, headers), refusal);
    expect(performance.now() - start).toBeLessThan(3000);
  });

  function flipped(bytes: Buffer, at: number): Buffer {
    const changed = Buffer.from(bytes);
    const place = at < 0 ? changed.length + at : at;
    changed[place] = (changed[place] ?? 0) ^ 0x55;
    return changed;
  }
});

describe('a form', () => {
  const part = (name: string, text: string): string =>
    `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const data = part('data', 'a,b\n1,2\n');
  const end = '--X--\r\n';
  const refused: Readonly<Record<string, readonly [string, Refusal]>> = {
    'without parts': [end, { says: 'no part data' }],
    'without data': [`${part('schema', 'a INT')}${end}`, { says: 'no part data' }],
    'with empty data': [`${part('data', '')}${end}`, { says: 'the part data is empty' }],
    'with an unknown part': [`${part('file', 'a,b\n')}${end}`, { says: 'a part "file", which is not known' }],
    'with an unknown part behind data': [`${data}${part('note', 'x')}${end}`, { says: 'a part "note"' }],
    'with schema behind data': [`${data}${part('schema', 'a INT')}${end}`, { says: 'send schema first' }],
    'with data twice': [`${data}${data}${end}`, { says: 'more than one part data' }],
    'with schema twice': [
      `${part('schema', 'a INT')}${part('schema', 'a INT')}${data}${end}`,
      { says: 'more than one part schema' },
    ],
    'with a schema that is not JSON': [
      `${part('schema', '[{"name":"a",')}${data}${end}`,
      { code: 'invalid_parameter', says: 'schema is not valid: it is not valid JSON' },
    ],
    'with a schema of unknown types': [
      `${part('schema', '[{"name":"a","type":"INTT"}]')}${data}${end}`,
      { code: 'invalid_parameter', says: 'did you mean INT?' },
    ],
    'with a schema of other columns': [
      `${part('schema', '[{"name":"aa","type":"INT"}]')}${data}${end}`,
      { code: 'invalid_parameter', says: '"aa"' },
    ],
    'with a schema without end': [
      `${part('schema', ' '.repeat(1_100_000))}${data}${end}`,
      { status: 413, code: 'too_large', says: 'schema is larger than 1000000 bytes' },
    ],
    'without its closing boundary': [data, { says: 'before its closing boundary' }],
    'of another boundary': [`${data}${end}`.replaceAll('--X', '--Y'), { says: 'before its closing boundary' }],
    'whose part has no name': [`--X\r\nContent-Type: text/csv\r\n\r\na\r\n${end}`, { says: 'has no name' }],
    'whose part has headers without end': [`--X\r\nA: ${'x'.repeat(40_000)}`, { says: 'longer than 16384 bytes' }],
  };
  test.each(Object.entries(refused))('%s is refused', async (_, [body, refusal]) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=X' };
    expectRefusal(await importRaw(server, 'name=bad', body, headers), refusal);
  });
});

describe('a body', () => {
  test('shorter than its Content-Length is refused', async () => {
    const head = 'POST /imp?name=bad HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nConnection: close\r\n\r\n';
    expect(await sendRaw(server.url, `${head}a,b\n1,2\n`)).toMatch(
      /^HTTP\/1.1 400 [\s\S]*nothing of the body came for 2 s/,
    );
  });

  test('with a broken chunk is refused', async () => {
    const head = 'POST /imp?name=bad HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
    await sendRaw(server.url, `${head}8\r\na,b\n1,2\n\r\nzz\r\n`);
  });

  test('with a larger Content-Length than allowed is refused before it is read', async () => {
    const head = `POST /imp?name=bad HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${maxBody + 1}\r\n\r\n`;
    expect(await sendRaw(server.url, head)).toMatch(/^HTTP\/1.1 413 [\s\S]*too_large/);
  });

  test('nested too deep is refused', async () => {
    const depth = 100_000;
    const deep = `[{"a":${'['.repeat(depth)}${']'.repeat(depth)}}]`;
    expectRefusal(await importRaw(server, 'name=bad&format=json', deep), { says: /deep|nested/ });
    expectRefusal(await importRaw(server, 'name=bad&format=json', '['.repeat(depth)), { says: /deep|nested/ });
  });

  test('of one long line is read', async () => {
    const answer = await importRaw(server, 'name=long', `a,b\n1,${'x'.repeat(5_000_000)}\n`);
    await expectColumns(answer, 1, ['a', 'b']);
  });

  test('with an integer that Parquet cannot hold is refused', async () => {
    const answer = await importRaw(server, 'name=wide&schema=d+HUGEINT', `d\n${2n ** 127n - 1n}\n`);
    expectRefusal(answer, { code: 'unsupported_type', says: 'more than 38 digits' });
  });

  test('with 10,000 columns is refused', async () => {
    const names = Array.from({ length: 10_000 }, (_, n) => `c${n}`);
    const answer = await importRaw(server, 'name=wide', `${names.join(',')}\n${names.map((_, n) => n).join(',')}\n`);
    expectRefusal(answer, { status: 413, code: 'too_large', says: '10000 columns' });
  });
});
