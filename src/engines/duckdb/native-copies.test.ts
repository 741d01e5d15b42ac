import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rowsOf, SqlLab } from '../../../test/support/sql-lab.ts';
import { recordingLogger } from '../../../test/support/upstream-client.ts';
import { defaultTenant, type Tenant } from '../../core/callers/principal.ts';
import type { FrameTable } from '../../core/sql/sql.ts';
import type { DuckDbSqlEngine } from './duckdb-sql-engine.ts';

const never = new AbortController().signal;
const none = { ms: 0, mostMs: 0 };

let lab: SqlLab;
beforeAll(async () => {
  lab = await SqlLab.open();
});
afterAll(() => lab[Symbol.asyncDispose]());

test('a copy has NULL where a file is older than a column', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: none });
  await using one = lab.newEngine({ workers: 1, nativeCopies: warm });
  const narrow = await lab.frame('narrow', 'SELECT range AS n FROM range(10)');
  const wide = await lab.frame('wide', "SELECT range + 10 AS n, 'v' AS v, [range] AS l FROM range(10)");
  const parts = [...narrow.parts.map((part) => ({ ...part, columnCount: 1 })), ...wide.parts];
  const t = { ...wide, name: 'widened', parts };
  const counts = () => rowsOf(one, 'SELECT count(*), count(v), count(l), sum(n) FROM widened', { tables: [t] });
  for (let n = 0; n < 2; n++) expect(await counts()).toEqual([[20, 10, 10, '190']]);
  await warm.settled();
  for (const { path } of parts) await rm(path);
  expect(await counts()).toEqual([[20, 10, 10, '190']]);
});

test('the second query makes a copy, later ones read it, and a new version replaces it', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: none });
  await using one = lab.newEngine({ workers: 1, nativeCopies: warm });
  const t = await lab.frame('warmed', 'SELECT range AS n FROM range(100_000)');
  const sum = () => rowsOf(one, 'SELECT sum(n) FROM warmed', { tables: [t] });
  await sum();
  expect(await readdir(warm.folderOf(defaultTenant))).toEqual([]);
  await sum();
  await warm.settled();
  expect(await readdir(warm.folderOf(defaultTenant))).toEqual([`${t.versionId}.duckdb`]);
  // Without its Parquet file only the copy can give the answer.
  const [part] = t.parts;
  await writeFile(part?.path ?? '', '');
  expect(await sum()).toEqual([['4999950000']]);
  const next = await lab.frame('warmed', 'SELECT 1 AS n');
  expect(await rowsOf(one, 'SELECT sum(n) FROM warmed', { tables: [next] })).toEqual([['1']]);
  await expect.poll(() => readdir(warm.folderOf(defaultTenant))).toEqual([]);
});

test('a copy of what is small beside the budget is not packed, of what is large it is', async () => {
  const sizeWithin = async (budgetBytes: number): Promise<number> => {
    await using warm = lab.newWarmTables({ budgetBytes, pause: none });
    const t = await lab.frame('sized', 'SELECT (hash(range) % 100_000)::BIGINT AS n FROM range(1_000_000)');
    for (let n = 0; n < 2; n++) warm.use(t);
    await warm.settled();
    return (await stat(warm.find(t) ?? '')).size;
  };
  expect(await sizeWithin(500_000_000)).toBeGreaterThan(8_000_000);
  expect(await sizeWithin(10_000_000)).toBeLessThan(4_000_000);
});

test('a copy waits for queries to leave a pause', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: { ms: 200, mostMs: 60_000 } });
  const t = await lab.frame('waited', 'SELECT 1 AS n');
  for (let n = 0; n < 2; n++) warm.use(t);
  const lastAt = performance.now();
  await expect.poll(() => warm.find(t)).toBeDefined();
  expect(performance.now() - lastAt).toBeGreaterThanOrEqual(190);
});

test('a copy is made in the end where queries leave no pause', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: { ms: 60_000, mostMs: 200 } });
  const t = await lab.frame('pressed', 'SELECT 1 AS n');
  await expect.poll(() => warm.use(t)).toBeDefined();
});

test('to plan a query is not to ask for its frame', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: none });
  await using one = lab.newEngine({ workers: 1, nativeCopies: warm });
  const t = await lab.frame('planned', 'SELECT 1 AS n');
  for (const sql of ['SELECT n FROM planned', 'SELECT n + 1 FROM planned', 'SELECT n + 2 FROM planned']) {
    const statement = await one.analyze(sql, { signal: never });
    if (statement.kind !== 'query') throw new Error('it is a query');
    await one.describe({ query: statement.query, tables: [t] }, { signal: never });
  }
  await warm.settled();
  expect(warm.find(t)).toBeUndefined();
});

test('a copy that is gone when a query comes to it is no loss: the frame is read instead', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: none });
  await using one = lab.newEngine({ workers: 1, nativeCopies: warm });
  const t = await lab.frame('vanishing', 'SELECT range AS n FROM range(1000)');
  const sum = () => rowsOf(one, 'SELECT sum(n) FROM vanishing', { tables: [t] });
  await sum();
  await sum();
  await warm.settled();
  for (const name of await readdir(warm.folderOf(defaultTenant))) await rm(join(warm.folderOf(defaultTenant), name));
  expect(await sum()).toEqual([['499500']]);
});

test('a copy that is damaged is given up, and the frame is read instead', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: none });
  await using one = lab.newEngine({ workers: 1, nativeCopies: warm });
  const t = await lab.frame('rotting', 'SELECT hash(range) AS n FROM range(200_000)');
  const sum = (engine: DuckDbSqlEngine) => rowsOf(engine, 'SELECT sum(n) FROM rotting', { tables: [t] });
  const expected = await sum(one);
  await sum(one);
  await warm.settled();
  const path = join(warm.folderOf(defaultTenant), `${t.versionId}.duckdb`);
  const bytes = await readFile(path);
  // In the first block of rows: DuckDB keeps the blocks that it reads when it opens a database.
  await writeFile(path, bytes.fill(0x55, 3 * 4096 + 1000, 3 * 4096 + 1100));
  // An engine that has read none of it yet.
  await using other = lab.newEngine({ workers: 1, nativeCopies: warm });
  expect(await sum(other)).toEqual(expected);
  await expect.poll(() => readdir(warm.folderOf(defaultTenant))).toEqual([]);
});

test('copies stay within their budget: the one that was not used for longest goes', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 3_000_000, pause: none });
  await using one = lab.newEngine({ workers: 1, nativeCopies: warm });
  const tables = await Promise.all(
    ['a', 'b', 'c'].map((name) => lab.frame(name, 'SELECT hash(range) AS h FROM range(150_000)')),
  );
  for (const t of tables) {
    for (let n = 0; n < 2; n++) await rowsOf(one, `SELECT count(*) FROM ${t.name}`, { tables: [t] });
    await warm.settled();
  }
  await expect.poll(async () => (await readdir(warm.folderOf(defaultTenant))).length).toBeLessThan(3);
  const sizes = await Promise.all(
    (await readdir(warm.folderOf(defaultTenant))).map(
      async (name) => (await stat(join(warm.folderOf(defaultTenant), name))).size,
    ),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(3_000_000);
  expect(await readdir(warm.folderOf(defaultTenant))).toContain(`${tables[2]?.versionId}.duckdb`);
});

test('leave nothing when the server stops', async () => {
  const warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: none });
  await using one = lab.newEngine({ workers: 1, nativeCopies: warm });
  const t = await lab.frame('leftover', 'SELECT 1 AS n');
  for (let n = 0; n < 2; n++) await rowsOf(one, 'SELECT n FROM leftover', { tables: [t] });
  await warm[Symbol.asyncDispose]();
  await expect(readdir(warm.folderOf(defaultTenant))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a query that opens one copy too many keeps the others that it reads', { timeout: 180_000 }, async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 500_000_000, pause: none });
  await using one = lab.newEngine({ workers: 1, nativeCopies: warm });
  const frames: FrameTable[] = [];
  for (let n = 0; n <= 100; n++) {
    const frame = await lab.frame(`many_${n}`, `SELECT ${n} AS n`);
    frames.push(frame);
    for (let times = 0; times < 2; times++) warm.use(frame);
    await warm.settled();
    // All but the last one are open in the worker then.
    if (n < 100) await rowsOf(one, `SELECT n FROM many_${n}`, { tables: [frame] });
  }
  const tables = [frames[0], frames[100]] as FrameTable[];
  const sum = await rowsOf(one, 'SELECT many_0.n + many_100.n AS sum FROM many_0, many_100', { tables });
  expect(sum).toEqual([[100]]);
});

let long: Promise<FrameTable> | undefined;
/** Takes DuckDB seconds to copy, and longer to make: it is made once. */
function longFrame(): Promise<FrameTable> {
  const rows = 'SELECT md5(range::VARCHAR) AS a, md5((range + 1)::VARCHAR) AS b FROM range(1_500_000)';
  long ??= lab.frame('long', rows);
  return long;
}

const begun = async (directory: string): Promise<void> => {
  await expect.poll(async () => (await readdir(directory)).length).toBeGreaterThan(0);
};

test.each(['dropped or replaced', 'read in another version'])(
  'a copy of a frame that is %s is stopped, and the next is made',
  async (how) => {
    const outcomes: string[] = [];
    const copy: typeof lab.copy = async (...args) => {
      const made = lab.copy(...args);
      outcomes.push(
        await made.then(
          () => 'made',
          () => 'stopped',
        ),
      );
      return await made;
    };
    await using warm = lab.newWarmTables({ budgetBytes: 1_000_000_000, pause: none, copy });
    const retired = new AbortController();
    const t = { ...(await longFrame()), retired: retired.signal };
    const next = await lab.frame('long', 'SELECT 1 AS n');
    for (let n = 0; n < 2; n++) warm.use(t);
    await begun(warm.folderOf(defaultTenant));
    if (how === 'dropped or replaced') retired.abort();
    else warm.use(next);
    await warm.settled();
    expect(outcomes).toEqual(['stopped']);
    expect(await readdir(warm.folderOf(defaultTenant))).toEqual([]);
    expect(warm.find(t)).toBeUndefined();
    for (let n = 0; n < 2; n++) warm.use(next);
    await warm.settled();
    expect(warm.find(next)).toBeDefined();
  },
  120_000,
);

test('a copy is removed when its frame is dropped or replaced', async () => {
  await using warm = lab.newWarmTables({ budgetBytes: 100_000_000, pause: none });
  const retired = new AbortController();
  const t = { ...(await lab.frame('gone', 'SELECT 1 AS n')), retired: retired.signal };
  for (let n = 0; n < 2; n++) warm.use(t);
  await warm.settled();
  expect(warm.find(t)).toBeDefined();
  retired.abort();
  expect(warm.find(t)).toBeUndefined();
  await expect.poll(() => readdir(warm.folderOf(defaultTenant))).toEqual([]);
});

test('a copy that takes too long is stopped, told once, and not begun again', async () => {
  const { logger, lines } = recordingLogger();
  const t = await longFrame();
  const next = await lab.frame('short', 'SELECT 1 AS n');
  // A long time limit, so that short work is in time on a busy machine.
  const copy: typeof lab.copy = (frame, job) =>
    frame.parts === next.parts ? writeFile(frame.path, 'copied') : lab.copy(frame, job);
  await using warm = lab.newWarmTables({ budgetBytes: 1_000_000_000, pause: none, timeoutMs: 200, logger, copy });
  for (let n = 0; n < 4; n++) {
    warm.use(t);
    await warm.settled();
  }
  expect(warm.find(t)).toBeUndefined();
  expect(await readdir(warm.folderOf(defaultTenant))).toEqual([]);
  expect(lines).toEqual([['a frame was not warmed', { frame: 'long', error: expect.stringContaining('0.2 s') }]]);
  for (let n = 0; n < 2; n++) warm.use(next);
  await warm.settled();
  expect(warm.find(next)).toBeDefined();
}, 120_000);

test('closing stops a copy under way', async () => {
  const warm = lab.newWarmTables({ budgetBytes: 1_000_000_000, pause: none });
  const t = await longFrame();
  for (let n = 0; n < 2; n++) warm.use(t);
  await begun(warm.folderOf(defaultTenant));
  await warm[Symbol.asyncDispose]();
  await expect(readdir(warm.folderOf(defaultTenant))).rejects.toMatchObject({ code: 'ENOENT' });
}, 120_000);

test('a copy that takes long holds up only those of its own tenant', async () => {
  const lanes: string[] = [];
  const copy: typeof lab.copy = async ({ path }, { lane, signal }) => {
    lanes.push(lane);
    if (lane.startsWith('slow')) await new Promise((_, reject) => signal.addEventListener('abort', reject));
    else await writeFile(path, 'copied');
  };
  const [first, second] = [await lab.frame('first', 'SELECT 1 AS n'), await lab.frame('second', 'SELECT 2 AS n')];
  await using warm = lab.newWarmTables({ budgetBytes: 1_000_000_000, pause: none, copy });
  for (const [table, tenant] of [
    [first, 'slow'],
    [second, 'slow'],
    [first, 'other'],
  ] as const) {
    for (let uses = 0; uses < 2; uses++) warm.use(table, tenant as Tenant);
  }
  await vi.waitFor(() => expect(warm.find(first, 'other' as Tenant)).toBeDefined());
  expect(lanes).toEqual(['slow#copy', 'other#copy']);
});
