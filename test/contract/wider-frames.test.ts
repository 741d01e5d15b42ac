import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Session } from '@framehold/duckdb';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anonymous } from '../../src/auth/identify.ts';
import { parseHandle } from '../../src/core/names/handle.ts';
import { FlightClient, ipcOf } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let directory: TemporaryDirectory;
let server: Framehold;

/** 1,000 rows with one column, then 1,000 with another one behind it. */
beforeAll(async () => {
  directory = await temporaryDirectory();
  server = await startFramehold({ dataDir: directory.path });
  await putSql(server.frames, 'x', 'SELECT range AS n FROM range(1000)');
  const source = { kind: 'sql', sql: "SELECT range + 1000 AS n, 'v' || range % 3 AS v FROM range(1000)" } as const;
  const request = { handle: parseHandle('x'), mode: 'append', addsColumns: true, source } as const;
  await server.frames.put(anonymous, request, { signal: new AbortController().signal });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const around = [
  [998, null],
  [999, null],
  [1000, 'v0'],
  [1001, 'v1'],
];

async function page(): Promise<unknown> {
  return (await ask(`${server.url}/exec?handle=x&limit=999,1002&fmt=json`)).json().dataset;
}

async function rowsOf(query: string): Promise<unknown> {
  const answer = await ask(`${server.url}/exec?${new URLSearchParams({ query, engine: 'local', fmt: 'json' })}`);
  return answer.json().dataset ?? answer.text;
}

test('a page shows NULL where the rows are older than the column', async () => {
  expect(await page()).toEqual(around);
});

test('SQL filters and counts by the new column', async () => {
  for (let time = 0; time < 3; time++) {
    expect(await rowsOf("select n from x where v = 'v1' order by n limit 2")).toEqual([[1001], [1004]]);
    expect(await rowsOf('select count(*), count(v), max(n) from x')).toEqual([[2000, 1000, 1999]]);
    expect(await rowsOf('select n, v from x where n between 998 and 1001 order by n')).toEqual(around);
  }
});

test('Flight gives all rows', async () => {
  using client = new FlightClient(server.grpcAddress.port);
  const { messages } = await client.get('x');
  const table = tableFromIPC(ipcOf(messages));
  expect(table.numRows).toBe(2000);
  expect([999, 1000].map((row) => table.getChild('v')?.get(row))).toEqual([null, 'v0']);
});

test('an export as CSV and as Parquet has the column in all rows', async () => {
  const csv = (await ask(`${server.url}/exp?handle=x`)).text.split('\r\n');
  expect([csv[0], csv[1000], csv[1001]]).toEqual(['n,v', '999,', '1000,v0']);
  for (const parameters of ['', '&limit=0,1000']) {
    const { body } = await ask(`${server.url}/exp?handle=x&fmt=parquet${parameters}`);
    const path = join(directory.path, 'exported.parquet');
    await writeFile(path, body);
    const session = new Session({ threads: 1, memoryBytes: 5e8, tempDirectory: directory.path, maxTempBytes: 1e9 });
    using connection = session.connect();
    const [found] = await connection.rows(`SELECT count(*)::INTEGER AS n, count(v)::INTEGER AS v FROM '${path}'`);
    expect(found).toEqual(parameters === '' ? { n: 2000, v: 1000 } : { n: 1000, v: 0 });
  }
});

test('an append of CSV brings the columns that the frame has now', async () => {
  const narrow = await ask(`${server.url}/imp?name=x&append=true`, { method: 'POST', body: 'n\n1\n' });
  expect(narrow.status).toBe(409);
  const wide = await ask(`${server.url}/imp?name=x&append=true`, { method: 'POST', body: 'n,v\n2000,last\n' });
  expect(wide.status).toBe(200);
  expect(await rowsOf('select v from x where n = 2000')).toEqual([['last']]);
});

test('a restart changes nothing of it', async () => {
  await server[Symbol.asyncDispose]();
  server = await startFramehold({ dataDir: directory.path });
  expect(await page()).toEqual(around);
  expect(await rowsOf('select count(*), count(v) from x')).toEqual([[2001, 1001]]);
});
