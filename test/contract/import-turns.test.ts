import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { repeatedParquet } from '../support/repeated-parquet.ts';

/** Four billion zeros, as few bytes: to read them takes far longer than the test. */
const long = repeatedParquet({ groupRows: 40_000_000, groups: 100 });
/** With other work on the machine; alone each takes less than a second. */
const mostMs = 10_000;

let closed: ClosedServer;
beforeAll(async () => {
  // Nothing is in memory, so that each page is cold.
  const settings = { 'sql.workers': '2', 'storage.cache_size_gb': '0' };
  closed = await startClosedServer({ settings });
  const csv = ['a,b', ...Array.from({ length: 200_000 }, (_, n) => `${n},${n * 3}`)].join('\n');
  expect((await closed.as(closed.token('writer'), 'POST', '/imp?name=cold', csv)).status).toBe(200);
});
afterAll(() => closed[Symbol.asyncDispose]());

/** Imports that go on until they are given up. */
function longImports(count: number): { readonly ended: () => number; stop(): Promise<void> } {
  const abort = new AbortController();
  let ended = 0;
  const imports = Array.from({ length: count }, async (_, n) => {
    const headers = { authorization: `Bearer ${closed.token('otherTenant')}` };
    const url = `${closed.server.url}/imp?format=parquet&name=long${n}`;
    await fetch(url, { method: 'POST', headers, body: long, signal: abort.signal }).catch(() => {});
    ended++;
  });
  return {
    ended: () => ended,
    stop: async () => {
      abort.abort();
      await Promise.all(imports);
    },
  };
}

/** Processes that have work, also those that stand still. */
const working = async (): Promise<number> => {
  const text = (await ask(`${closed.server.url}/metrics`, { headers: closed.headers('operator') })).text;
  const [, busy] = /^framehold_duckdb_workers\{pool="frames",state="busy"\} (\d+)/m.exec(text) ?? [];
  return Number(busy);
};

async function timed(work: () => Promise<Answer>): Promise<Answer & { readonly ms: number }> {
  const begunAt = performance.now();
  const answer = await work();
  return { ...answer, ms: performance.now() - begunAt };
}

/** Each is answered though the long work of another tenant goes on. */
async function expectPromptAnswers(name: string): Promise<void> {
  const [writer, reader] = [closed.token('writer'), closed.token('reader')];
  for (let n = 0; n < 3; n++) {
    const put = await timed(() => closed.as(writer, 'POST', `/imp?name=${name}${n}`, 'a,b\n1,2\n'));
    const first = n * 60_000;
    const page = await timed(() => closed.as(reader, 'GET', `/exec?handle=cold&fmt=json&limit=${first},${first + 10}`));
    expect([put.status, page.status]).toEqual([200, 200]);
    expect(Math.max(put.ms, page.ms)).toBeLessThan(mostMs);
  }
}

test('while a tenant imports for long, the small imports and the cold pages of others do not wait for it', async () => {
  const attack = longImports(6);
  try {
    await expect.poll(working, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    await expectPromptAnswers('beside_imports');
    expect(attack.ended()).toBe(0);
  } finally {
    await attack.stop();
  }
  await expect.poll(working, { timeout: 10_000 }).toBe(0);
}, 30_000);

test('the cold pages of a tenant do not wait for its own imports', async () => {
  const small = await closed.as(closed.token('otherTenant'), 'POST', '/imp?name=own', 'a,b\n1,2\n');
  expect(small.status).toBe(200);
  const attack = longImports(3);
  try {
    await expect.poll(working, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    const page = await timed(() => closed.as(closed.token('otherTenant'), 'GET', '/exec?handle=own&fmt=json'));
    expect(page.status).toBe(200);
    expect(page.ms).toBeLessThan(mostMs);
    expect(attack.ended()).toBe(0);
  } finally {
    await attack.stop();
  }
}, 30_000);

test('nor do others wait for pages that take long, of a file that was moved in', async () => {
  const cold = join(closed.server.dataDir, 'cold');
  await writeFile(join(cold, '.long'), repeatedParquet({ groupRows: 2_000_000_000, groups: 2 }));
  await rename(join(cold, '.long'), join(cold, 'long.parquet'));
  const admin = closed.token('admin');
  await expect.poll(async () => (await closed.as(admin, 'GET', '/handles/long')).status, { timeout: 10_000 }).toBe(200);
  const abort = new AbortController();
  let ended = 0;
  const pages = Array.from({ length: 6 }, async (_, n) => {
    const headers = { authorization: `Bearer ${admin}` };
    const url = `${closed.server.url}/exec?handle=long&fmt=json&limit=${1_990_000_000 + n * 100_000},${1_990_000_001 + n * 100_000}`;
    await fetch(url, { headers, signal: abort.signal }).catch(() => {});
    ended++;
  });
  try {
    await expect.poll(working, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    const other = closed.token('otherTenant');
    for (let n = 0; n < 3; n++) {
      const put = await timed(() => closed.as(other, 'POST', `/imp?name=beside_pages${n}`, 'a,b\n1,2\n'));
      const page = await timed(() => closed.as(other, 'GET', `/exec?handle=beside_pages${n}&fmt=json`));
      expect([put.status, page.status]).toEqual([200, 200]);
      expect(Math.max(put.ms, page.ms)).toBeLessThan(mostMs);
    }
    expect(ended).toBe(0);
  } finally {
    abort.abort();
    await Promise.all(pages);
  }
}, 30_000);
