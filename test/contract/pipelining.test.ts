import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { longTurnsIn } from '../support/long-turns.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

let directory: TemporaryDirectory;
let server: SpawnedFramehold;

beforeAll(async () => {
  directory = await temporaryDirectory();
  server = await spawnFramehold({ dataDir: directory.path });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const ping = 'GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n';

async function open() {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

test('a hundred requests of a connection are answered in order', async () => {
  const socket = await open();
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const paths = Array.from({ length: 100 }, (_, n) => `/handles/frame${n}`);
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  await expect.poll(() => text.match(/frame\d+/g)?.filter((name, at, all) => name !== all[at - 1]).length).toBe(100);
  expect([...new Set(text.match(/frame\d+/g))]).toEqual(paths.map((path) => path.slice('/handles/'.length)));
  socket.destroy();
});

test('a connection that sends thousands of requests before it has their answers is cut, and holds up nobody', async () => {
  let isOver = false;
  const others = (async (): Promise<number> => {
    let count = 0;
    for (; !isOver; count++) expect((await fetch(`${server.url}/ping`)).status).toBe(200);
    return count;
  })();
  for (let n = 0; n < 5; n++) {
    const socket = await open();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume().write(ping.repeat(20_000));
    await closed;
  }
  isOver = true;
  expect(await others).toBeGreaterThan(0);
  expect(longTurnsIn(server.stderr())).toEqual([]);
});

test('a body in thousands of chunks of one byte is refused', async () => {
  const socket = await open();
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  socket.write('POST /write HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  socket.write(`${'1\r\na\r\n'.repeat(50_000)}`);
  await expect.poll(() => text).toContain('send chunks of at least 16 bytes');
  expect(text).toContain('400 Bad Request');
  socket.destroy();
});

test('chunks of one byte on many connections, which no route reads, hold up nobody', async () => {
  const before = longTurnsIn(server.stderr()).length;
  const sockets = await Promise.all(Array.from({ length: 150 }, open));
  const answered = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
  for (const socket of sockets)
    socket.write('GET /ping HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  await Promise.all(answered);
  for (const socket of sockets) socket.write('1\r\nx\r\n'.repeat(10_800));
  const begunMs = performance.now();
  expect((await fetch(`${server.url}/ping`)).status).toBe(200);
  expect(performance.now() - begunMs).toBeLessThan(5000);
  for (const socket of sockets) socket.destroy();
  expect(longTurnsIn(server.stderr())).toHaveLength(before);
});

test('a connection goes on behind a body with short chunks, and so do its other bodies', async () => {
  const socket = await open();
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const head = (target: string) => `${target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const line = 'short x=1\n';
  const chunked = `${line.length.toString(16)}\r\n${line}\r\n0\r\n\r\n`;
  socket.write(`${head('GET /ping')}${'1\r\nx\r\n'.repeat(2000)}0\r\n\r\n${head('POST /write')}${chunked}`);
  await expect.poll(() => text.match(/HTTP\/1\.1 20/g)).toHaveLength(2);
  const rows = await fetch(`${server.url}/exec?handle=short&fmt=json`);
  expect(((await rows.json()) as { dataset: unknown[] }).dataset).toHaveLength(1);
  socket.destroy();
});
