import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { ask, sendRaw } from '../support/http-client.ts';
import { childrenOf, isAlive } from '../support/process-facts.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('no worker process outlives a server that was killed with SIGKILL', async () => {
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] });
  const workers = childrenOf(server.pid);
  expect(workers.length).toBeGreaterThanOrEqual(2);
  server.kill('SIGKILL');
  await server.exited;
  await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), { timeout: 5000 });
});

test('SIGTERM lets an answer under way finish and ends with 0', async () => {
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] });
  const [response] = (await once(get(`${server.url}/exec?handle=trades&fmt=json&limit=1,`), 'response')) as [
    IncomingMessage,
  ];
  server.kill('SIGTERM');
  const { count } = JSON.parse(await text(response)) as { count: number };
  expect(count).toBe(1_000_000);
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(childrenOf(server.pid)).toEqual([]);
});

test('the demo frames survive a restart, and a second start does not make them anew', async () => {
  await using directory = await temporaryDirectory();
  let first: string;
  {
    await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] });
    expect(server.banner).toMatch(/frames\s+3\n/);
    first = (await ask(`${server.url}/exec?handle=trades&fmt=json&limit=5`)).text;
    server.kill('SIGINT');
    expect((await server.exited).code).toBe(0);
  }
  await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] });
  expect((await ask(`${server.url}/exec?handle=trades&fmt=json&limit=5`)).text).toBe(first);
  expect(server.stderr()).not.toContain('made a demo frame');
});

test('bytes that are no HTTP get a 400 or a closed connection, and the server serves on', async () => {
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: directory.path });
  for (const bytes of [
    '\0\0\0\0',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'x'.repeat(70_000),
  ]) {
    expect(await sendRaw(server.url, bytes)).toMatch(/^$|^HTTP\/1\.1 4\d\d /);
  }
  expect((await ask(`${server.url}/ping`)).text).toBe('ok');
});

test('silent connections and slow headers are cut off', async () => {
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--http-header-timeout', '1s'] });
  const { hostname, port } = new URL(server.url);
  const closed = ['', 'GET /ping HTTP/1.1\r\nhost: x\r\n'].map(
    (begin) =>
      new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(begin));
        socket.on('error', () => {}).on('close', () => resolve());
        socket.resume();
      }),
  );
  await Promise.all(closed);
  expect((await ask(`${server.url}/ping`)).text).toBe('ok');
});
