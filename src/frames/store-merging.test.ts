import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  counting,
  eventually,
  firstColumn,
  never,
  open,
  put,
  rowsOf,
  useStoreBench,
} from '../../test/support/frame-store.ts';
import { Death, tellOfEnd } from '../../test/support/store-death.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import type { FrameEngine } from '../core/rows/frame-engine.ts';
import { type Manifest, parseManifest } from './disk/manifest.ts';
import { TenantDirectory } from './disk/tenant-directory.ts';
import type { FrameStore } from './store.ts';
import { verifyDirectory } from './upkeep/verify-directory.ts';

const bench = await useStoreBench();
afterEach(() => {
  vi.restoreAllMocks();
});

const x = parseHandle('x');
const busy = { quietMs: 10, standstillMs: 600_000 } as const;
const still = { quietMs: 10, standstillMs: 10 } as const;

const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, n) => first + n);

/** A part for each number. */
async function putNumbers(store: FrameStore, numbers: readonly number[], mode: 'create' | 'append' = 'create') {
  await using folder = await store.incomingFolder(anonymous);
  const paths = numbers.map((n) => join(folder.path, `${n}.parquet`));
  await Promise.all(numbers.map((n, at) => bench.parquet(paths[at] ?? '', `SELECT ${n} AS n, 'text ${n}' AS t`)));
  return await store.put(anonymous, { handle: x, mode, source: { kind: 'parts', paths } }, { signal: never });
}

async function files(): Promise<string[]> {
  return (await readdir(bench.path('x')).catch(() => [])).sort();
}

async function manifest(): Promise<Manifest | undefined> {
  return parseManifest(await readFile(bench.path('.framehold', 'manifests', 'x.json'), 'utf8'), x);
}

const merged = (count: number) => eventually(async () => (await files()).length === count, 20_000);

async function isSound(): Promise<void> {
  for await (const verdict of verifyDirectory(bench.cold, bench.engine, { signal: never })) {
    expect(verdict).toMatchObject({ fault: undefined, isChecksummed: true });
  }
}

test('what SQL declared stays when parts are merged, and goes with an overwrite', async () => {
  const store = await bench.open(still);
  const constraints = {
    notNull: ['n'],
    defaults: [{ column: 't', sql: "'x'" }],
    generated: [],
    checks: [],
    primaryKey: { columns: ['n'] },
    unique: [],
    foreignKeys: [],
  };
  const declared = [null, { kind: 'enum', values: ['text 1'] }] as const;
  await using folder = await store.incomingFolder(anonymous);
  const paths = from(0, 5).map((n) => join(folder.path, `${n}.parquet`));
  await Promise.all(paths.map((path, n) => bench.parquet(path, `SELECT ${n} AS n, 'text ${n}' AS t`)));
  const source = { kind: 'parts', paths } as const;
  await store.put(anonymous, { handle: x, mode: 'create', source, constraints, declared }, { signal: never });
  await merged(1);
  expect(await manifest()).toMatchObject({ constraints, declared });
  expect(await store.describe(anonymous, x, { signal: never })).toMatchObject({ constraints, declared });
  await put(store, 'x', 'SELECT 1 AS n', { mode: 'overwrite' });
  expect(await manifest()).not.toHaveProperty('constraints');
});

test('many small parts become one file; version, row numbers and readers stay', async () => {
  const store = await bench.open({ ...busy, cacheBytes: 0 });
  const held = await putNumbers(store, from(0, 30));
  await using reader = await open(store, 'x');
  await putNumbers(store, from(30, 15), 'append');
  await merged(1);
  expect((await rowsOf(reader)).map(([n]) => n)).toEqual(from(0, 30));
  expect(await firstColumn(store, 'x')).toEqual(from(0, 45));
  expect(await open(store, 'x')).toMatchObject({ version: held.version + 1, rows: 45 });
  const { parts } = (await manifest()) ?? {};
  expect(parts).toMatchObject([{ file: 'x/000001.parquet', rows: 45, final: true }]);
  await put(store, 'x', "SELECT 45 AS n, 'text 45' AS t", { mode: 'append' });
  expect((await manifest())?.replaces).toEqual([]);
  await isSound();
  await bench.close(store);
  expect(await bench.left('pins')).toEqual([]);
  expect(await bench.left('tmp')).toEqual([]);
  expect(await firstColumn(await bench.open(busy), 'x')).toEqual(from(0, 46));
});

test('a few parts are merged when nothing has come for a while, also those of an earlier server', async () => {
  const store = await bench.open(busy);
  await putNumbers(store, from(0, 5));
  await bench.close(store);
  expect(await files()).toHaveLength(5);
  const { engine, calls } = counting(bench.engine);
  const again = await bench.open({ ...still, backgroundEngine: engine });
  await merged(1);
  expect(await firstColumn(again, 'x')).toEqual(from(0, 5));
  await put(again, 'x', "SELECT 5 AS n, 'text 5' AS t", { mode: 'append' });
  await put(again, 'y', 'SELECT 1 AS a');
  expect(await firstColumn(again, 'x')).toEqual(from(0, 6));
  expect(calls.write).toBe(1);
});

test('parts from outside stay as they are', async () => {
  const store = await bench.open(busy);
  await putNumbers(store, [0, 1]);
  await bench.parquet(bench.path('x', '000003.parquet'), "SELECT 2 AS n, 'text 2' AS t");
  await eventually(async () => (await firstColumn(store, 'x').catch(() => [])).length === 3);
  await putNumbers(store, from(3, 5), 'append');
  await bench.close(store);
  const again = await bench.open(still);
  await merged(3);
  expect(await files()).toEqual(['000001.parquet', '000003.parquet', '000004.parquet']);
  expect(await firstColumn(again, 'x')).toEqual(from(0, 8));
  expect((await manifest())?.parts.map(({ checksum }) => checksum !== null)).toEqual([true, false, true]);
});

/** An engine whose first write waits for a release. */
function held(): { readonly engine: FrameEngine; readonly begun: Promise<void>; readonly letGo: () => void } {
  let [letGo, begin] = [(): void => {}, (): void => {}];
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { engine } = counting(bench.engine);
  const write: FrameEngine['write'] = async (job, options) => {
    const written = await engine.write(job, options);
    begin();
    await Promise.race([gate, new Promise((_, reject) => options.signal.addEventListener('abort', reject))]);
    return written;
  };
  return { begun, letGo, engine: { ...engine, write } };
}

test('what is appended during a merge stays behind the merged rows', async () => {
  const { engine, begun, letGo } = held();
  const store = await bench.open({ ...busy, backgroundEngine: engine });
  await putNumbers(store, from(0, 45));
  await begun;
  await put(store, 'x', "SELECT 45 AS n, 'text 45' AS t", { mode: 'append' });
  letGo();
  await merged(2);
  expect(await firstColumn(store, 'x')).toEqual(from(0, 46));
  expect(await open(store, 'x')).toMatchObject({ version: 2 });
});

test.each(['overwrite', 'drop'] as const)('a merge that %s overtook changes nothing', async (how) => {
  const { engine, begun, letGo } = held();
  const store = await bench.open({ ...busy, backgroundEngine: engine });
  await putNumbers(store, from(0, 45));
  await begun;
  await store.drop(anonymous, x);
  if (how === 'overwrite') await put(store, 'x', "SELECT 7 AS n, 'other' AS t");
  letGo();
  await eventually(async () => (await bench.left('tmp')).length === 0);
  if (how === 'overwrite') expect(await firstColumn(store, 'x')).toEqual([7]);
  else await expect(open(store, 'x')).rejects.toMatchObject({ code: 'handle_gone' });
});

test('a merge by one server leaves the readers of another their rows, and only the one that wrote merges', async () => {
  const { engine, begun, letGo } = held();
  const writer = await bench.open({ ...still, backgroundEngine: engine });
  await putNumbers(writer, from(0, 5));
  await begun;
  const { engine: idle, calls } = counting(bench.engine);
  const other = await bench.open({ ...still, cacheBytes: 0, backgroundEngine: idle });
  await using reader = await open(other, 'x');
  letGo();
  await merged(1);
  expect((await rowsOf(reader)).map(([n]) => n)).toEqual(from(0, 5));
  expect(await firstColumn(other, 'x')).toEqual(from(0, 5));
  expect(await open(other, 'x')).toMatchObject({ version: 1, versionId: reader.versionId });
  expect(calls.write).toBe(0);
});

test('a tenant that is full still has its parts merged, and holds no more than before', async () => {
  const { engine, begun, letGo } = held();
  const limitsOf = async () => ({ maxBytes: 3500, maxFrames: undefined });
  const store = await bench.open({ ...still, limitsOf, backgroundEngine: engine });
  await putNumbers(store, from(0, 5));
  await begun;
  const { bytes } = await store.use(anonymous);
  letGo();
  await eventually(async () => (await store.use(anonymous)).bytes < bytes);
  expect(await files()).toHaveLength(1);
});

test('a merge that is cut off at any step leaves every row once', { timeout: 120_000 }, async () => {
  for (let step = 1; ; step++) {
    bench.fresh();
    const { engine, begun, letGo } = held();
    const store = await bench.open({ ...still, backgroundEngine: engine });
    using death = new Death();
    await putNumbers(store, from(0, 4));
    await begun;
    death.after(step);
    letGo();
    const ending = merged(1).then(() => 'merged');
    const outcome = await Promise.race([ending, death.died]);
    if (outcome === 'merged') return expect(step).toBeGreaterThan(5);
    ending.catch(() => {});
    await tellOfEnd(bench.cold);
    const next = await bench.open(busy);
    for await (const _ of next.list(anonymous));
    expect([step, await firstColumn(next, 'x')]).toEqual([step, from(0, 4)]);
    expect(await bench.left('tmp')).toEqual([]);
    expect(await bench.left('pending')).toEqual([]);
    expect([1, 4]).toContain((await files()).length);
    await isSound();
    death.release();
    await bench.closeAll();
  }
});

describe('merged files that cannot be removed', () => {
  const blocked = (): void => {
    const { discard } = TenantDirectory.prototype;
    vi.spyOn(TenantDirectory.prototype, 'discard').mockImplementation(function (this: TenantDirectory, path) {
      if (/x\/00000[1-5]\.parquet$/.test(path)) return Promise.reject(new Error('not now'));
      return discard.call(this, path);
    });
  };
  const isMerged = () => eventually(async () => (await manifest())?.parts.length === 1);

  test('are no data, and go later', async () => {
    blocked();
    const store = await bench.open(still);
    await putNumbers(store, from(0, 5));
    await isMerged();
    expect(await firstColumn(store, 'x')).toEqual(from(0, 5));
    await put(store, 'x', "SELECT 5 AS n, 'text 5' AS t", { mode: 'append' });
    expect(await files()).toContain('000006.parquet');
    expect((await manifest())?.replaces).toHaveLength(4);
    await isSound();
    await bench.close(store);
    const again = await bench.open(busy);
    expect(await firstColumn(again, 'x')).toEqual(from(0, 6));
    await bench.close(again);
    vi.restoreAllMocks();
    expect(await firstColumn(await bench.open(busy), 'x')).toEqual(from(0, 6));
    expect(await files()).toEqual(['000001.parquet', '000006.parquet']);
  });

  test.each(['drop', 'overwrite'] as const)('do not come back with a %s', async (how) => {
    blocked();
    const store = await bench.open(still);
    await putNumbers(store, from(0, 5));
    await isMerged();
    if (how === 'drop') await store.drop(anonymous, x);
    else await put(store, 'x', "SELECT 7 AS n, 'other' AS t", { mode: 'overwrite' });
    for (const unblocked of [false, true]) {
      if (unblocked) vi.restoreAllMocks();
      const next = await bench.open(busy);
      for await (const _ of next.list(anonymous));
      if (how === 'drop') await expect(open(next, 'x')).rejects.toMatchObject({ code: 'handle_gone' });
      else expect(await firstColumn(next, 'x')).toEqual([7]);
      await bench.close(next);
    }
    expect(await files()).toEqual([]);
  });
});
