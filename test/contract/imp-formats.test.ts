import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { importForm, importRaw, leftBehind } from '../support/import-client.ts';

let server: Framehold;
beforeAll(async () => {
  // At this level nothing is compressed anew later, which would need files of its own.
  server = await startFramehold({ settings: { 'compression.level': '1' } });
});
afterAll(async () => {
  await vi.waitFor(async () => expect((await leftBehind(server)).files).toEqual([]));
  await server[Symbol.asyncDispose]();
});

async function read(handle: string): Promise<{ types: string[]; dataset: unknown[][] }> {
  const answer = await ask(`${server.url}/exec?handle=${handle}&fmt=json`);
  const { columns, dataset } = answer.json() as { columns: { name: string; type: string }[]; dataset: unknown[][] };
  return { types: columns.map(({ name, type }) => `${name} ${type}`), dataset };
}

const csv = 'ts,symbol,price,n,ok\n2026-01-02T03:04:05Z,BTC,1.5,7,true\n2026-01-02T03:04:06Z,ETH,2.5,8,false\n';
const types = ['ts TIMESTAMP', 'symbol VARCHAR', 'price DOUBLE', 'n LONG', 'ok BOOLEAN'];
const dataset = [
  ['2026-01-02T03:04:05.000000Z', 'BTC', 1.5, 7, true],
  ['2026-01-02T03:04:06.000000Z', 'ETH', 2.5, 8, false],
];
const json =
  '[{"ts":"2026-01-02T03:04:05Z","symbol":"BTC","price":1.5,"n":7,"ok":true},{"ts":"2026-01-02T03:04:06Z","symbol":"ETH","price":2.5,"n":8,"ok":false}]';
const ndjson = json.slice(1, -1).replace('},{', '}\n{');

describe('the same rows come out, sent as', () => {
  const bodies: Readonly<Record<string, readonly [string, string | Uint8Array, Record<string, string>]>> = {
    'CSV by its bytes': ['csv', csv, {}],
    'CSV by Content-Type': ['csv', csv, { 'content-type': 'text/csv; charset=utf-8' }],
    'CSV as curl sends it': ['csv', csv, { 'content-type': 'application/x-www-form-urlencoded' }],
    'CSV with a byte order mark': ['csv', `\ufeff${csv}`, {}],
    'CSV with CRLF': ['csv', csv.replaceAll('\n', '\r\n'), {}],
    'CSV with semicolons': ['csv', csv.replaceAll(',', ';'), {}],
    'CSV in gzip': ['csv', gzipSync(csv), { 'content-encoding': 'gzip' }],
    'a .csv.gz file': ['csv', gzipSync(csv), {}],
    TSV: ['tsv', csv.replaceAll(',', '\t'), { 'content-type': 'text/tab-separated-values' }],
    'a JSON array': ['json', json, {}],
    'a JSON array by Content-Type': ['json', json, { 'content-type': 'application/json' }],
    'JSON lines': ['ndjson', ndjson, { 'content-type': 'application/x-ndjson' }],
    'JSON lines by their bytes': ['json', ndjson, {}],
  };
  test.each(Object.entries(bodies))('%s', async (name, [format, body, headers]) => {
    const handle = name.replaceAll(/\W/g, '_');
    const answer = await importRaw(server, `name=${handle}`, body, headers);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json()).toMatchObject({
      handle,
      rowsImported: 2,
      rowsRejected: 0,
      format,
      header: !/json/.test(format),
    });
    expect(await read(handle)).toEqual({ types, dataset });
  });

  test('Parquet, which is kept as it is', async () => {
    await importRaw(server, 'name=source', csv);
    const bytes = await readFile(join(server.dataDir, 'cold', 'source.parquet'));
    for (const [handle, headers] of [
      ['parquet1', {}],
      ['parquet2', { 'content-type': 'application/vnd.apache.parquet' }],
    ] as const) {
      const answer = await importRaw(server, `name=${handle}`, bytes, headers);
      expect(answer.json()).toMatchObject({ rowsImported: 2, format: 'parquet', bytes: bytes.length });
      expect(await read(handle)).toEqual({ types, dataset });
      expect(await readFile(join(server.dataDir, 'cold', `${handle}.parquet`))).toEqual(bytes);
    }
  });

  test('an Arrow file, and an Arrow stream', async () => {
    const stream = tableToIPC(tableFromArrays({ n: Int32Array.of(1, 2, 3) }), 'stream');
    // The file format of apache-arrow lacks the schema that others have before the rows.
    const file = Buffer.concat([Buffer.from('ARROW1\0\0'), stream, Buffer.from('index'), Buffer.from('ARROW1')]);
    for (const [kind, bytes] of Object.entries({ file, stream })) {
      const answer = await importRaw(server, `name=arrow-${kind}`, bytes);
      expect(answer.json(), answer.text).toMatchObject({ rowsImported: 3, format: 'arrow' });
      expect(await read(`arrow-${kind}`)).toEqual({ types: ['n INT'], dataset: [[1], [2], [3]] });
    }
  });
});

test('what was found out is told', async () => {
  const answer = await importRaw(server, 'name=told', csv.replaceAll(',', '|'));
  expect(answer.json()).toMatchObject({
    header: true,
    delimiter: '|',
    columns: [
      { name: 'ts', type: 'TIMESTAMP', size: 8, errors: 0 },
      { name: 'symbol', type: 'VARCHAR', size: 0, errors: 0 },
      { name: 'price', type: 'DOUBLE', size: 8, errors: 0 },
      { name: 'n', type: 'LONG', size: 8, errors: 0 },
      { name: 'ok', type: 'BOOLEAN', size: 1, errors: 0 },
    ],
  });
});

test('what a type would destroy stays text', async () => {
  const text = 'zip,id,mixed\n00501,12345678901234567890,1\n10001,98765432109876543210,x\n';
  expect((await importRaw(server, 'name=careful', text)).status).toBe(200);
  expect(await read('careful')).toEqual({
    types: ['zip VARCHAR', 'id VARCHAR', 'mixed VARCHAR'],
    dataset: [
      ['00501', '12345678901234567890', '1'],
      ['10001', '98765432109876543210', 'x'],
    ],
  });
});

describe('a schema', () => {
  const text = 'day,at,amount,code\n31/01/2026,31.01.2026 14:05,12.30,7\n';
  const asJson = JSON.stringify([
    { name: 'day', type: 'DATE', pattern: 'dd/MM/yyyy' },
    { name: 'at', type: 'TIMESTAMP', pattern: 'dd.MM.yyyy HH:mm' },
    { name: 'amount', type: 'DECIMAL(10,2)' },
    { name: 'code', type: 'SYMBOL' },
  ]);
  const expected = {
    types: ['day DATE', 'at TIMESTAMP', 'amount DECIMAL(10,2)', 'code VARCHAR'],
    dataset: [['2026-01-31T00:00:00.000Z', '2026-01-31T14:05:00.000000Z', '12.30', '7']],
  };

  test('of a form counts, as QuestDB has it', async () => {
    const answer = await importForm(server, 'name=quest&timestamp=at', {
      schema: asJson,
      data: { bytes: text, fileName: 'a.csv' },
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toMatch(/Location: {2}\| +quest {2}\|/);
    expect(await read('quest')).toEqual(expected);
  });

  test('of the query counts, in either form', async () => {
    const asText = "day DATE '%d/%m/%Y', at TIMESTAMP 'dd.MM.yyyy HH:mm', amount DECIMAL(10,2), code TEXT";
    for (const [handle, schema] of Object.entries({ byjson: asJson, bytext: asText })) {
      const answer = await importRaw(server, `name=${handle}&schema=${encodeURIComponent(schema)}`, text);
      expect(answer.status, answer.text).toBe(200);
      expect(await read(handle)).toEqual(expected);
    }
  });

  test('given twice is refused', async () => {
    const answer = await importForm(server, 'name=twice&schema=code+INT', {
      schema: asJson,
      data: { bytes: text, fileName: 'a' },
    });
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_parameter']);
  });
});

test('the name of a file tells its format', async () => {
  const answer = await importForm(server, 'name=byname&fmt=json', {
    data: { bytes: 'a;b\tc;d\n1;2\t3;4\n', fileName: 'x.TSV' },
  });
  expect(answer.json()).toMatchObject({ format: 'tsv', delimiter: '\t', rowsImported: 1 });
});

test('rows are appended as the types of the frame', async () => {
  await importRaw(server, 'name=more', 'id,code\n1,a\n2,b\n');
  const answer = await importRaw(server, 'name=more&append=true', 'id,code\n3,4\n');
  expect(answer.json(), answer.text).toMatchObject({ version: 2, rowsImported: 1 });
  expect(await read('more')).toEqual({
    types: ['id LONG', 'code VARCHAR'],
    dataset: [
      [1, 'a'],
      [2, 'b'],
      [3, '4'],
    ],
  });
});

test('rows that cannot be read are left out on request, and named', async () => {
  const text = 'id,n\n1,5\n2,many\n3,7\n4\n';
  const answer = await importRaw(server, 'name=skip&atomicity=skipRow&schema=n+INT', text);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json()).toMatchObject({
    rowsImported: 2,
    rowsRejected: 2,
    rejections: [
      { line: 3, column: 'n', reason: expect.stringContaining('many') },
      { line: 5, column: null, reason: expect.any(String) },
    ],
    columns: [
      { name: 'id', errors: 0 },
      { name: 'n', type: 'INT', errors: 1 },
    ],
  });
  expect(await read('skip')).toEqual({
    types: ['id LONG', 'n INT'],
    dataset: [
      [1, 5],
      [3, 7],
    ],
  });
});

test('without a header, columns are counted, unless one is said to be there', async () => {
  expect((await importRaw(server, 'name=plain', '1,2\n3,4\n')).json()).toMatchObject({
    header: false,
    rowsImported: 2,
  });
  const years = await importRaw(server, 'name=years', '1990,1991\n5,6\n');
  expect(years.json()).toMatchObject({ header: false, rowsImported: 2 });
  const forced = await importRaw(server, 'name=forced&forceHeader=true', '1,2\n3,4\n');
  expect(forced.json()).toMatchObject({ header: true, rowsImported: 1, columns: [{ name: '1' }, { name: '2' }] });
});

test.each([
  ['header=false', {}],
  ['', { 'content-type': 'text/csv; header=absent' }],
])('a file of names alone is read as rows where the sender says so (%s %j)', async (query, headers) => {
  const answer = await importRaw(server, `overwrite=true&name=places&${query}`, 'Oslo,Norway\nRome,Italy\n', headers);
  expect(answer.json()).toMatchObject({
    header: false,
    rowsImported: 2,
    columns: [{ name: 'column1' }, { name: 'column2' }],
  });
});
