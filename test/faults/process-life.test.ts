import { expect, test, vi } from 'vitest';
import { ask } from '../support/http-client.ts';
import { childrenOf, commandOf, isAlive } from '../support/process-facts.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { upload } from './load/under-way.ts';

test('no worker process outlives a server that was killed with SIGKILL', async () => {
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--demo'] });
  const workers = childrenOf(server.pid);
  expect(workers.length).toBeGreaterThanOrEqual(2);
  server.kill('SIGKILL');
  await server.exited;
  await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), { timeout: 5000 });
});

test('a worker that has only just been started does not outlive a server that ends at once', async () => {
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: directory.path });
  const underWay = await upload(server.url, { handle: 'h', verb: 'overwrite', n: 1 }, () => {});
  const before = childrenOf(server.pid);
  process.kill(before[0] as number, 'SIGKILL');
  // Only once it is a program of its own: until then the server waits for it.
  const isNew = (pid: number): boolean => !before.includes(pid) && commandOf(pid).includes('worker');
  const started = await vi.waitUntil(() => childrenOf(server.pid).find(isNew), { interval: 1, timeout: 5000 });
  // From here on it cannot do anything for its own end.
  process.kill(started, 'SIGSTOP');
  server.kill('SIGTERM');
  await vi.waitUntil(() => server.stderr().includes('stopping'), { timeout: 5000 });
  server.kill('SIGINT');
  expect((await server.exited).code).toBe(1);
  await expect(underWay.finish()).rejects.toThrow();
  await vi.waitFor(() => expect([...before, started].filter(isAlive)).toEqual([]), { timeout: 5000 });
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
