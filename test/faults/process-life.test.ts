import { expect, test, vi } from 'vitest';
import { ask } from '../support/http-client.ts';
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
