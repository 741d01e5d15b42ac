import { gzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { importForm, importRaw, leftBehind } from '../support/import-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
  const answer = await importRaw(server, 'name=held', 'id,price\n1,1.5\n');
  expect(answer.status, answer.text).toBe(200);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const preview = (query: string, body: string | Uint8Array) => importRaw(server, `preview=true&${query}`, body);

test('the beginning of a file is read as an import would, and nothing is kept', async () => {
  const answer = await preview('name=trades', 'id;day;note\n9007199254740993;2026-01-02;a\n2;2026-01-03;\n');
  expect(answer.json()).toEqual({
    status: 'OK',
    preview: true,
    format: 'csv',
    header: true,
    delimiter: ';',
    complete: true,
    rows: 2,
    columns: [
      { name: 'id', type: 'LONG' },
      { name: 'day', type: 'DATE' },
      { name: 'note', type: 'VARCHAR' },
    ],
    rowsRejected: 0,
    rejections: [],
    dataset: [
      ['9007199254740993', '2026-01-02T00:00:00.000Z', 'a'],
      ['2', '2026-01-03T00:00:00.000Z', null],
    ],
  });
  expect((await ask(`${server.url}/handles/trades`)).status).toBe(404);
});

test('a frame of that name stays as it is, whatever is to become of it', async () => {
  const before = (await ask(`${server.url}/handles/held`)).text;
  for (const mode of ['', '&overwrite=true']) {
    expect((await preview(`name=held${mode}`, 'other\nx\n')).json().columns).toEqual([
      { name: 'other', type: 'VARCHAR' },
    ]);
  }
  expect((await ask(`${server.url}/handles/held`)).text).toBe(before);
});

test('an append is read as the types of its frame', async () => {
  const answer = (await preview('name=held&append=true', 'id,price\n2,3\nx,4\n')).json();
  expect(answer).toMatchObject({ columns: [{ type: 'LONG' }, { type: 'DOUBLE' }], rowsRejected: 1 });
  expect((await preview('name=held&append=true', 'id\n2\n')).json().code).toBe('schema_mismatch');
  expect((await preview('name=nothing&append=true', 'id\n2\n')).json().rows).toBe(1);
});

test('types that are named are taken, and rows that do not fit are listed', async () => {
  const schema = encodeURIComponent('id INT, day DATE');
  const answer = (await preview(`schema=${schema}`, 'id,day\n1,2026-01-02\n2,never\n')).json();
  expect(answer).toMatchObject({
    rows: 1,
    rowsRejected: 1,
    columns: [
      { name: 'id', type: 'INT' },
      { name: 'day', type: 'DATE' },
    ],
    rejections: [{ line: 3, column: 'day', reason: '"never" is not of the type DATE' }],
  });
});

test('of a large file only whole rows of its beginning are read', async () => {
  const csv = `id,text\n${Array.from({ length: 40_000 }, (_, id) => `${id},"line ${id}\nand more"\n`).join('')}`;
  const json = `[${Array.from({ length: 40_000 }, (_, id) => `{"id":${id},\n"text":"}{"}`).join(',\n')}]`;
  for (const body of [csv, json, gzipSync(csv)]) {
    const answer = (await preview('', body)).json();
    expect(answer).toMatchObject({
      complete: false,
      rowsRejected: 0,
      columns: [{ type: 'LONG' }, { type: 'VARCHAR' }],
    });
    expect(answer.rows).toBeGreaterThan(5000);
    expect(answer.dataset).toHaveLength(20);
  }
});

test('a form is read as well', async () => {
  const answer = await importForm(server, 'preview=true', { data: { bytes: '{"a":1}', fileName: 'x.ndjson' } });
  expect(answer.json()).toMatchObject({ format: 'ndjson', dataset: [['1']] });
});

test('a file that cannot be read is refused as an import refuses it', async () => {
  const latin = Buffer.from('name\nMüller\n', 'latin1');
  expect((await preview('', latin)).json()).toMatchObject({ rows: 0, rowsRejected: 1 });
  expect((await preview('', '')).json()).toMatchObject({ code: 'invalid_input', error: 'the body is empty' });
});

test('formats that have types of their own have no preview', async () => {
  const arrow = tableToIPC(tableFromArrays({ id: Int32Array.of(1) }), 'stream');
  expect((await preview('', arrow)).json()).toMatchObject({
    code: 'invalid_parameter',
    error: 'preview is given, but arrow has types of its own',
  });
});

test('nothing is left behind of all these', async () => {
  // The frame that is held may be compressed anew meanwhile.
  await expect.poll(() => leftBehind(server), { timeout: 20_000 }).toEqual({ handles: ['held'], files: [] });
});
