import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { ask } from '../support/http-client.ts';
import { longTurnsIn } from '../support/long-turns.ts';
import { postSql } from '../support/post-sql.ts';
import { residentBytesOf } from '../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const views = 8;
const columns = 3500;
const text = '"🦆'.repeat(200_000);

let directory: TemporaryDirectory;
let server: SpawnedFramehold;

beforeAll(async () => {
  directory = await temporaryDirectory();
  server = await spawnFramehold({ dataDir: directory.path });
  for (let n = 0; n < views; n++) {
    expect((await postSql(server.url, `CREATE VIEW large_${n} AS SELECT '${text}' AS a`)).status).toBe(200);
  }
  const names = Array.from({ length: columns }, (_, n) => `c${n}`.padEnd(300, '_'));
  const body = `${names.join()}\n${names.map(() => '1').join()}\n`;
  const headers = { 'content-type': 'text/csv' };
  expect((await ask(`${server.url}/imp?name=wide`, { method: 'POST', headers, body })).status).toBe(200);
});

afterAll(async () => {
  // No listing took a long turn: the server's end asserts it.
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

test.each(['large', 'wide'])(
  'a listing of many megabytes (%s) arrives whole, as its frames one by one',
  async (prefix) => {
    const { text: listed, headers } = await ask(`${server.url}/handles?prefix=${prefix}`);
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
    const { handles } = JSON.parse(listed) as { handles: { handle: string }[] };
    const single = await Promise.all(
      handles.map(async ({ handle }) => (await ask(`${server.url}/handles/${handle}`)).text),
    );
    expect(handles).toHaveLength(prefix === 'large' ? views : 1);
    expect(listed === `{"handles":[${single.join()}],"next":null}`).toBe(true);
  },
);

test('a listing that nobody reads is not held by the server', async () => {
  const readers = 40;
  const before = residentBytesOf(server.pid);
  const sockets = await Promise.all(Array.from({ length: readers }, unread));
  const after = residentBytesOf(server.pid);
  for (const socket of sockets) socket.destroy();
  // Whole they are many more bytes each.
  expect((after - before) / readers).toBeLessThan(5_000_000);
});

/** The listing is on its way, and no more of it is read. */
async function unread(): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write('GET /handles?prefix=large HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'readable');
  return socket;
}

test('the schemas of wide frames are made in turns that others share', async () => {
  using sql = new FlightSqlClient(server.grpcPort);
  const listed = await sql.flight.list('wide');
  expect(listed.messages).toHaveLength(1);
  expect(tableFromIPC(listed.messages[0]?.schema).schema.fields).toHaveLength(columns);
  const tables = await sql.ask('CommandGetTables', [3, 'wide%'], [5, true]);
  expect(tables).toHaveLength(1);
  for (const table of tables) {
    expect(tableFromIPC(table.table_schema as Uint8Array).schema.fields).toHaveLength(columns);
  }
  expect(longTurnsIn(server.stderr())).toEqual([]);
});
