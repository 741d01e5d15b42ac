import { readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  counting,
  eventually,
  firstColumn,
  never,
  open,
  put,
  rowsOf,
  useStoreBench,
} from '../../test/support/frame-store.ts';
import { anonymous } from '../auth/identify.ts';
import type { Tenant } from '../core/callers/principal.ts';
import { parseHandle } from '../core/names/handle.ts';
import type { PartSource } from '../core/rows/frame-engine.ts';
import type { FrameStore } from './store.ts';

const bench = await useStoreBench();

const trades = parseHandle('trades');

describe.each([
  ['with a cache', 64_000_000],
  ['without a cache', 0],
])('%s', (_name, cacheBytes) => {
  test.each([
    ['an overwrite', (store) => put(store, 'trades', "SELECT 'new' AS b", { mode: 'overwrite' })],
    ['an append', (store) => put(store, 'trades', 'SELECT 9 AS a', { mode: 'append' })],
    ['a drop', (store) => store.drop(anonymous, trades)],
    [
      'an append and an overwrite',
      async (store) => {
        await put(store, 'trades', 'SELECT 9 AS a', { mode: 'append' });
        await put(store, 'trades', "SELECT 'new' AS b", { mode: 'overwrite' });
      },
    ],
    [
      'a drop and a new frame',
      async (store) => {
        await store.drop(anonymous, trades);
        await put(store, 'trades', "SELECT 'new' AS b");
      },
    ],
  ] as readonly [string, (store: FrameStore) => Promise<unknown>][])(
    'a reader keeps its version through %s, also when it has not read yet',
    async (_what, change) => {
      const store = await bench.open({ cacheBytes });
      await put(store, 'trades', 'SELECT range::INT AS a FROM range(3)');
      const early = await open(store, 'trades');
      expect(await rowsOf(early, 0, 1)).toEqual([[0]]);
      const late = await open(store, 'trades');
      await change(store);
      store.cache.deleteVersion(early.versionId);
      expect(await rowsOf(late)).toEqual([[0], [1], [2]]);
      expect(await rowsOf(early)).toEqual([[0], [1], [2]]);
      await early[Symbol.asyncDispose]();
      await late[Symbol.asyncDispose]();
      await eventually(async () => (await bench.left('pins')).length === 0);
    },
  );
});

test('a reader of a folder keeps its parts when they are overwritten', async () => {
  const store = await bench.open({ cacheBytes: 0 });
  await put(store, 'trades', 'SELECT 1 AS a');
  await put(store, 'trades', 'SELECT 2 AS a', { mode: 'append' });
  const before = await open(store, 'trades');
  await put(store, 'trades', 'SELECT 3 AS a', { mode: 'append' });
  const between = await open(store, 'trades');
  await put(store, 'trades', 'SELECT 4 AS a', { mode: 'overwrite' });
  expect(await rowsOf(before)).toEqual([[1], [2]]);
  expect(await rowsOf(between)).toEqual([[1], [2], [3]]);
  expect(await firstColumn(store, 'trades')).toEqual([4]);
  await before[Symbol.asyncDispose]();
  await between[Symbol.asyncDispose]();
});

test('a reader keeps its version when the file is replaced or removed from outside', async () => {
  const store = await bench.open({ cacheBytes: 0 });
  await put(store, 'trades', 'SELECT 1 AS a');
  await using reader = await open(store, 'trades');
  expect(await rowsOf(reader)).toEqual([[1]]);
  await bench.parquet(bench.path('new.tmp'), 'SELECT 2 AS a');
  await rename(bench.path('new.tmp'), bench.path('trades.parquet'));
  expect(await rowsOf(reader)).toEqual([[1]]);
  await rm(bench.path('trades.parquet'));
  expect(await rowsOf(reader)).toEqual([[1]]);
});

test('nothing is left in the private folders when the store closes, readers or not', async () => {
  const store = await bench.open();
  await put(store, 'trades', 'SELECT 1 AS a');
  const reader = await open(store, 'trades');
  await rowsOf(reader);
  await put(store, 'trades', 'SELECT 2 AS a', { mode: 'overwrite' });
  expect((await bench.left('pins')).length).toBeGreaterThan(0);
  await bench.close(store);
  expect(await bench.left('pins')).toEqual([]);
  expect(await bench.left('tmp')).toEqual([]);
  expect(await bench.left('pending')).toEqual([]);
});

describe('what we wrote', () => {
  test('is verified once before its first use after a start, for all who wait for it', async () => {
    const store = await bench.open();
    // Larger than files that are hashed without the engine.
    await put(store, 'trades', 'SELECT random() AS a FROM range(40_000)');
    expect(await firstColumn(store, 'trades')).toHaveLength(40_000);
    await bench.close(store);
    const { engine, calls } = counting(bench.engine);
    const again = await bench.open({ engine });
    await Promise.all([1, 2, 3].map(() => firstColumn(again, 'trades')));
    await firstColumn(again, 'trades');
    expect(calls).toMatchObject({ hasChecksum: 1, probe: 0 });
  });

  test('is not verified again while the process that wrote it lives', async () => {
    const { engine, calls } = counting(bench.engine);
    const store = await bench.open({ engine });
    await put(store, 'trades', 'SELECT 1 AS a');
    await put(store, 'trades', 'SELECT 2 AS a', { mode: 'append' });
    await firstColumn(store, 'trades');
    expect(calls.hasChecksum).toBe(0);
  });
});

test('opening a hot frame makes no call to the engine', async () => {
  const { engine, calls } = counting(bench.engine);
  const store = await bench.open({ engine });
  await put(store, 'trades', 'SELECT range AS a FROM range(1000)');
  await firstColumn(store, 'trades');
  const before = { ...calls };
  await using reader = await open(store, 'trades');
  for await (const _ of reader.rowsEncoded('exec-json', 0, 10, { signal: never }));
  expect(calls).toEqual(before);
});

test('a closed reader reads nothing more', async () => {
  const store = await bench.open();
  await put(store, 'trades', 'SELECT 1 AS a');
  const reader = await open(store, 'trades');
  await reader[Symbol.asyncDispose]();
  await reader[Symbol.asyncDispose]();
  expect(await codeOf(rowsOf(reader))).toBe('internal');
});

describe('a frame that another tenant reads', () => {
  const reader = 'reader' as Tenant;

  test('is linked into the folder of that tenant, for as long as it is read', async () => {
    const { engine, calls } = counting(bench.engine);
    const store = await bench.open({ engine });
    await put(store, 'trades', 'SELECT 1 AS a');
    await put(store, 'trades', 'SELECT 2 AS a', { mode: 'append' });
    const folder = (await store.linksFolder(reader)) ?? '';
    expect(folder.startsWith(bench.path('tenants', 'reader'))).toBe(true);
    const frame = await open(store, 'trades');
    const [own, linked] = [await frame.sources(), await frame.sources(reader)];
    expect(linked.map(({ path }) => dirname(path))).toEqual([folder, folder]);
    const inodes = async (parts: readonly PartSource[]) =>
      Promise.all(parts.map(async ({ path }) => (await stat(path)).ino));
    expect(await inodes(linked)).toEqual(await inodes(own));
    expect(await frame.sources(reader)).toEqual(linked);
    await frame[Symbol.asyncDispose]();
    await eventually(async () => (await readdir(folder)).length === 0);
    // The links have not made the bytes doubtful.
    await using again = await open(store, 'trades');
    await again.sources();
    expect(calls.hasChecksum).toBe(0);
  });

  test('stays as it was when its owner drops it', async () => {
    const store = await bench.open();
    await put(store, 'trades', 'SELECT 1 AS a');
    const frame = await open(store, 'trades');
    const [part] = await frame.sources(reader);
    await store.drop(anonymous, trades);
    expect((await stat(part?.path ?? '')).size).toBeGreaterThan(0);
    await frame[Symbol.asyncDispose]();
    await expect
      .poll(() =>
        stat(part?.path ?? '').then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone');
  });
});
