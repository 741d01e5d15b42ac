import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { computedMs } from '../faults/load/process-time.ts';
import { startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { childrenOf } from '../support/process-facts.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const files = 100;
const names = Array.from({ length: files }, (_, number) => `f${number}`);

const put = (url: string, name: string) =>
  ask(`${url}/imp?name=${name}`, { method: 'POST', body: 'id,text,v\n1,a,0.5\n2,b,1.5\n' });

async function jobs(url: string): Promise<number> {
  const { text } = await ask(`${url}/metrics`);
  return Number(/^framehold_duckdb_jobs_total\{pool="frames"\} (\d+)$/m.exec(text)?.[1]);
}

test('small files from outside take few milliseconds of processor time each', { timeout: 60_000 }, async () => {
  await using directory = await temporaryDirectory();
  await using made = await temporaryDirectory();
  {
    await using server = await startFramehold({ dataDir: made.path });
    await put(server.url, 'one');
  }
  await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--sql-workers', '1'] });
  const cold = join(directory.path, 'cold');
  await mkdir(cold, { recursive: true });
  const adopt = async (handles: readonly string[]): Promise<void> => {
    for (const handle of handles)
      await copyFile(join(made.path, 'cold', 'one.parquet'), join(cold, `${handle}.parquet`));
    const held = async () => (await ask(`${server.url}/handles?state=held&limit=1000`)).json();
    await expect.poll(async () => JSON.stringify(await held()), { timeout: 30_000 }).toContain(`"${handles.at(-1)}"`);
    await expect.poll(async () => (await held()).handles, { timeout: 30_000 }).toHaveLength(handles.length);
  };
  await adopt(names.slice(0, 1));
  const workers = childrenOf(server.pid);
  const before = workers.map((pid) => computedMs(pid));
  await adopt(names);
  const spent = workers.reduce((sum, pid, at) => sum + computedMs(pid) - (before[at] ?? 0), 0);
  expect(spent / files).toBeLessThan(5);
});

test('after a restart small frames are verified without a job of their own', { timeout: 60_000 }, async () => {
  await using directory = await temporaryDirectory();
  const settings = { 'compression.level': '1' };
  const some = names.slice(0, 10);
  {
    await using server = await startFramehold({ dataDir: directory.path, settings });
    for (const name of some) expect((await put(server.url, name)).status).toBe(200);
  }
  await using server = await startFramehold({ dataDir: directory.path, settings });
  const before = await jobs(server.url);
  for (const name of some) expect((await ask(`${server.url}/exp?handle=${name}`)).text).toContain('2,b,1.5');
  expect((await jobs(server.url)) - before).toBe(some.length);
});
