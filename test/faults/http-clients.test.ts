import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';

const bigSql = "SELECT range AS id, repeat('x', 100) AS text FROM range(600_000)";
const whole = '/exec?handle=big&fmt=json&limit=1,';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A client that asks and then takes nothing. */
async function silentReader(server: Framehold, target: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  return socket;
}

async function answersBegin(socket: Socket): Promise<void> {
  await once(socket, 'readable');
}

test('a reader that takes nothing is cut off', async () => {
  await using server = await startFramehold({ settings: { 'http.stall_timeout': '300ms' } });
  await putSql(server.frames, 'big', bigSql);
  const reader = await silentReader(server, whole);
  await answersBegin(reader);
  await vi.waitFor(() => expect(server.log()).toContain('took nothing for 300 ms'), { timeout: 5000 });
  expect((await ask(`${server.url}/exec?handle=big&fmt=json&limit=1`)).status).toBe(200);
});

test('beyond http.max_concurrent_requests others are refused at once, and health checks are not', async () => {
  await using server = await startFramehold({ settings: { 'http.max_concurrent_requests': '1' } });
  await putSql(server.frames, 'big', bigSql);
  const reader = await silentReader(server, whole);
  await answersBegin(reader);
  const refused = await ask(`${server.url}/exec?handle=big&fmt=json&limit=1`);
  expect([refused.status, refused.headers['retry-after'], refused.json().code]).toEqual([503, '1', 'overloaded']);
  expect((await ask(`${server.url}/ping`)).text).toBe('ok');
  reader.destroy();
  await vi.waitFor(async () => expect((await ask(`${server.url}/exec?handle=big&fmt=json&limit=1`)).status).toBe(200), {
    timeout: 5000,
  });
});

test('one address cannot take all of http.max_concurrent_requests from the others', async () => {
  await using server = await startFramehold({ settings: { 'http.max_concurrent_requests': '10' } });
  await putSql(server.frames, 'big', bigSql);
  const readers = await Promise.all(Array.from({ length: 9 }, () => silentReader(server, whole)));
  await Promise.all(readers.map(answersBegin));
  const page = `${server.url}/exec?handle=big&fmt=json&limit=1`;
  const refused = await ask(page);
  expect([refused.status, refused.json().error]).toEqual([
    503,
    '9 of 10 places for requests are taken, 9 of them by you',
  ]);
  expect((await ask(page, { localAddress: '127.0.0.2' })).status).toBe(200);
});

test('a client that leaves cancels its read, and the workers are free for others', async () => {
  await using server = await startFramehold({ settings: { 'storage.cache_size_gb': '0', 'sql.workers': '1' } });
  await putSql(server.frames, 'big', bigSql);
  for (let n = 0; n < 5; n++) {
    const reader = await silentReader(server, whole);
    await answersBegin(reader);
    reader.destroy();
  }
  expect((await ask(`${server.url}/exec?handle=big&fmt=json&limit=1`)).json().count).toBe(1);
  await vi.waitFor(() => expect(server.log().match(/the client left/g)?.length).toBe(5), { timeout: 5000 });
});

test('an answer that fails half-way is cut off, never ended', async () => {
  await using server = await startFramehold({ settings: { 'storage.cache_size_gb': '0', 'sql.timeout': '1s' } });
  await putSql(server.frames, 'big', bigSql);
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => {});
  socket.write(`GET ${whole} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    if (received === '') void server.frames[Symbol.asyncDispose]();
    received = (received + text).slice(-20);
  });
  await once(socket, 'close');
  expect(received.endsWith('0\r\n\r\n')).toBe(false);
});

test('a client that pipelines and leaves gives back every place it took', async () => {
  await using server = await startFramehold({ settings: { 'http.max_concurrent_requests': '20' } });
  await putSql(server.frames, 'big', bigSql);
  for (let n = 0; n < 3; n++) {
    const reader = await silentReader(server, whole);
    const request = `GET ${whole} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
    reader.write(request.repeat(24));
    await answersBegin(reader);
    reader.destroy();
  }
  await vi.waitFor(async () => expect((await ask(`${server.url}/exec?handle=big&fmt=json&limit=1`)).status).toBe(200), {
    timeout: 5000,
  });
});

test('a reader that is slow but takes something all the time is served to the end', async () => {
  // The kernel's own buffers let the sender go on in steps of megabytes, so the time must not be too short.
  await using server = await startFramehold({ settings: { 'http.stall_timeout': '2s' } });
  await putSql(server.frames, 'big', bigSql);
  const reader = await silentReader(server, '/exec?handle=big&fmt=json&limit=60000');
  let received = '';
  reader.setEncoding('latin1');
  const tick = setInterval(() => {
    received = (received + (reader.read() ?? '')).slice(-40);
  }, 50);
  await vi.waitFor(() => expect(received).toMatch(/"count":60000\}\r\n0\r\n\r\n$/), { timeout: 15_000 });
  clearInterval(tick);
});

test('what no HTTP client would send in the middle of an answer cuts that answer and adds nothing to it', async () => {
  await using server = await startFramehold();
  await putSql(server.frames, 'big', bigSql);
  const reader = await silentReader(server, whole);
  await answersBegin(reader);
  reader.write('\0 this is no request \r\n\r\n');
  let received = '';
  reader.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  await once(reader, 'close');
  expect(received.match(/HTTP\/1\.1/g)?.length).toBe(1);
  expect(received).not.toMatch(/0\r\n\r\n$/);
});

test('a stop waits for what was answered but not yet taken', async () => {
  await using server = await startFramehold({ settings: { 'server.shutdown_grace': '10s' } });
  await putSql(server.frames, 'page', "SELECT repeat('x', 1000) AS text FROM range(1000)");
  const target = '/exec?handle=page&fmt=json&limit=1000';
  await ask(`${server.url}${target}`);
  const reader = await silentReader(server, target);
  reader.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(7));
  await answersBegin(reader);
  const stopped = server[Symbol.asyncDispose]();
  let bytes = 0;
  reader.on('data', (piece: Buffer) => {
    bytes += piece.length;
  });
  await Promise.all([stopped, once(reader, 'close')]);
  expect(bytes % 1_000_000).toBeGreaterThan(0);
  expect(bytes).toBeGreaterThan(1_000_000);
});
