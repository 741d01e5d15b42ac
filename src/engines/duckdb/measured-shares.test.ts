import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SqlLab } from '../../../test/support/sql-lab.ts';
import { memoryShares, spillShares } from './pool/measured-shares.ts';

let lab: SqlLab;
beforeAll(async () => {
  lab = await SqlLab.open();
});
afterAll(() => lab[Symbol.asyncDispose]());

/** Bytes in the folders of all workers. */
async function spilled(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const sizes = names.map(async (name) => {
    const found = await stat(join(directory, name)).catch(() => undefined);
    return found?.isFile() ? found.blocks * 512 : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** An engine on a disk of this size. */
function engineOn(diskBytes: number, name: string) {
  const tempDirectory = join(lab.path, name);
  const freeBytes = async (): Promise<number> => Math.max(0, diskBytes - (await spilled(tempDirectory)));
  const spill = spillShares({ directory: tempDirectory, freeBytes });
  const engine = lab.newEngine({ workers: 2, memoryBytes: 60_000_000, tempDirectory, spill });
  const run = async (lane: string, sql: string): Promise<string> => {
    const job = { signal: new AbortController().signal, lane };
    const statement = await engine.analyze(sql, job);
    if (statement.kind !== 'query') throw new Error('not a query');
    await using result = await engine.run({ query: statement.query, tables: [], form: 'exec-json' }, job);
    let text = '';
    for await (const { bytes } of result.rows()) text += Buffer.from(bytes).toString();
    return text;
  };
  return { engine, spill, run };
}

/** Holds some 100 MB on disk, for as long as it runs. */
const holding = `WITH sorted AS MATERIALIZED (SELECT range AS n, md5(range::VARCHAR) AS t FROM range(3_000_000) ORDER BY t)
  SELECT count(*) FROM sorted, range(10_000_000) WHERE n > 5`;

test('one that spills alone may take nearly all of the disk, and not the last of it', async () => {
  const { engine, run, spill } = engineOn(60_000_000, 'small-disk');
  await using _ = engine;
  const refusal = { code: 'storage_full', message: expect.stringContaining('bytes of disk') };
  await expect(run('a#1', holding)).rejects.toMatchObject(refusal);
  expect(await run('a#1', 'SELECT 1')).toBe('[1],');
  expect(spill.figures.held).toBe(0);
}, 60_000);

/** Jobs whose files the test writes, on a disk of a million bytes. */
function filesOn(name: string) {
  const directory = join(lab.path, name);
  const freeBytes = async (): Promise<number> => Math.max(0, 1_000_000 - (await spilled(directory)));
  const spill = spillShares({ directory, freeBytes });
  const events: string[] = [];
  const begin = (job: string): { spill(bytes: number): Promise<void> } & Disposable => {
    const folder = join(directory, job);
    const end = spill.watch({
      pid: undefined,
      spillDirectory: folder,
      lane: `${job}#1`,
      suspend: () => events.push(`${job} stands still`),
      resume: () => events.push(`${job} goes on`),
      stop: ({ code }) => events.push(`${job} ends: ${code}`),
    });
    return {
      spill: async (bytes) => {
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'spilled'), Buffer.alloc(bytes, 1));
      },
      [Symbol.dispose]: () => end[Symbol.dispose](),
    };
  };
  return { spill, events, begin };
}

const held = (bytes: number): unknown => expect.closeTo(bytes, -5);

test('one that needs disk gets it from another tenant that has most of it, and stands still until then', async () => {
  const { spill, events, begin } = filesOn('taken');
  using first = begin('a');
  await first.spill(750_000);
  await vi.waitFor(() => expect(spill.figures.held).toEqual(held(750_000)));
  using second = begin('b');
  await second.spill(220_000);
  await vi.waitFor(() => expect(events).toContain('b goes on'), { timeout: 5000 });
  expect(events).toEqual(['b stands still', 'a ends: overloaded', 'b goes on']);
  expect(spill.figures.held).toEqual(held(220_000));
});

test('who spills beside one that has little may take most of the rest, and gives back what it needs no more', async () => {
  const { spill, events, begin } = filesOn('given');
  using little = begin('a');
  await little.spill(50_000);
  using much = begin('b');
  await much.spill(600_000);
  await vi.waitFor(() => expect(spill.figures.held).toEqual(held(650_000)));
  await much.spill(4000);
  await vi.waitFor(() => expect(spill.figures.held).toBeLessThan(100_000));
  expect(events).toEqual([]);
});

/** Callers whose statements share so much memory, in two processes. */
function engineWith(memoryBytes: number) {
  const memory = memoryShares(memoryBytes);
  const engine = lab.newEngine({ workers: 2, memory });
  const open = async (lane: string, sql: string) => {
    const job = { signal: new AbortController().signal, lane };
    const statement = await engine.analyze(sql, job);
    if (statement.kind !== 'query') throw new Error('not a query');
    return await engine.run({ query: statement.query, tables: [], form: 'ndjson' }, job);
  };
  const run = async (lane: string, sql: string): Promise<void> => {
    await using result = await open(lane, sql);
    for await (const _ of result.rows());
  };
  return { engine, memory, open, run };
}

/** Holds some 600 MB that DuckDB's own limit of 300 MB does not cover. */
const large = `SELECT count(*) FROM (SELECT repeat('x', 300_000_000) AS t), range(1_000_000_000) WHERE length(t) + range < 0`;

test.runIf(process.platform === 'linux')(
  'a statement that takes more memory than all of them may is ended, and others go on',
  async () => {
    const { engine, memory, run } = engineWith(350_000_000);
    await using _ = engine;
    const refusal = { code: 'sql_out_of_memory', message: expect.stringContaining('bytes of memory of statements') };
    await Promise.all([expect(run('a#1', large)).rejects.toMatchObject(refusal), run('b#1', 'SELECT 1')]);
    await run('a#1', 'SELECT 1');
    expect(memory.figures.held).toBeLessThan(350_000_000);
  },
);

test.runIf(process.platform === 'linux')('a large result that nobody reads leaves memory to others', async () => {
  const { engine, memory, open } = engineWith(2_000_000_000);
  await using _ = engine;
  await using result = await open(
    'a#1',
    "SELECT hash(range) AS h, repeat('x', 100) AS t FROM range(2_000_000) ORDER BY h, t",
  );
  const rows = result.rows()[Symbol.asyncIterator]();
  await rows.next();
  await vi.waitFor(() => expect(memory.figures.held).toBeGreaterThan(120_000_000));
  await vi.waitFor(() => expect(memory.figures.held).toBeLessThan(90_000_000), { timeout: 5000 });
  let bytes = 0;
  for (let step = await rows.next(); step.done !== true; step = await rows.next()) bytes += step.value.bytes.length;
  expect(bytes).toBeGreaterThan(200_000_000);
});
