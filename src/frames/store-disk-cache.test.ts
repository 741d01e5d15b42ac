import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { counting, open, put, rowsOf, useStoreBench } from '../../test/support/frame-store.ts';
import { DiskCache } from '../cache/disk-cache.ts';
import { silentLogger } from '../core/logs/logger.ts';
import type { FrameStore } from './store.ts';

const bench = await useStoreBench();

const rows = 700_000;
const many = `SELECT range AS n, 'text ' || range AS t FROM range(${rows})`;
/** Memory: less than the rows take, and enough to cache chunks at all. */
const cacheBytes = 17_000_000;

let diskCaches: DiskCache[] = [];

afterEach(async () => {
  await bench.closeAll();
  for (const diskCache of diskCaches) await diskCache[Symbol.asyncDispose]();
  diskCaches = [];
});

async function openStore() {
  const { engine, calls } = counting(bench.engine);
  const folder = `${bench.cold}-cache`;
  const diskCache = await DiskCache.open({ folder, budgetBytes: 500_000_000, logger: silentLogger });
  diskCaches.push(diskCache);
  const store = await bench.open({ engine, cacheBytes, diskCache, quietMs: 3_600_000 });
  return { store, calls, diskCache, folder };
}

async function closeStore({ store, diskCache }: { readonly store: FrameStore; readonly diskCache: DiskCache }) {
  await bench.close(store);
  await diskCache[Symbol.asyncDispose]();
}

async function expectPages(store: FrameStore, handle: string, value = (n: number): unknown[] => [n, `text ${n}`]) {
  await using reader = await open(store, handle);
  for (const from of [0, 1, 99_999, 350_000, rows - 1000]) {
    const page = await rowsOf(reader, from, from + 1000);
    expect(page).toEqual(Array.from({ length: 1000 }, (_, i) => value(from + i)));
  }
}

/** Reads all of it once. */
async function warm(store: FrameStore, handle: string, diskCache: DiskCache): Promise<void> {
  await using reader = await open(store, handle);
  // Not faster than the disk cache can store it.
  for (let row = 0; row < rows; row += 50_000) {
    await rowsOf(reader, row, Math.min(rows, row + 50_000));
    await diskCache.idle();
  }
}

test('rows that memory has no room for are read from disk, and found there after a restart', async () => {
  const first = await openStore();
  await put(first.store, 'many', many);
  await warm(first.store, 'many', first.diskCache);
  expect(first.store.cache.usedBytes).toBeLessThan(cacheBytes);
  expect(first.diskCache.usedBytes).toBeGreaterThan(cacheBytes);
  const before = first.calls.read;
  await expectPages(first.store, 'many');
  expect(first.calls.read).toBe(before);
  await closeStore(first);

  const second = await openStore();
  await expectPages(second.store, 'many');
  expect(second.calls.read).toBe(0);
});

test('after two pages from different places the rows between them are on disk as well', async () => {
  const { store, calls, diskCache } = await openStore();
  await put(store, 'many', many);
  await using reader = await open(store, 'many');
  await rowsOf(reader, 0, 10);
  await rowsOf(reader, 300_000, 300_010);
  await expect.poll(() => diskCache.entries).toBeGreaterThan(10);
  let before: number;
  do {
    before = diskCache.entries;
    await diskCache.idle();
  } while (diskCache.entries !== before);
  const reads = calls.read;
  expect(await rowsOf(reader, 150_000, 150_001)).toEqual([[150_000, 'text 150000']]);
  expect(calls.read).toBe(reads);
});

test('what was kept of a frame that was replaced or dropped meanwhile is not given, and its disk is given back', async () => {
  const first = await openStore();
  await put(first.store, 'replaced', many);
  await put(first.store, 'dropped', many);
  await warm(first.store, 'replaced', first.diskCache);
  await warm(first.store, 'dropped', first.diskCache);
  await closeStore(first);
  const without = await bench.open();
  await put(without, 'replaced', `SELECT -range AS n, 'other' AS t FROM range(${rows})`, { mode: 'overwrite' });
  await without.drop({ tenant: 'default' } as never, 'dropped' as never);
  await bench.close(without);

  const second = await openStore();
  await expectPages(second.store, 'replaced', (n) => [n === 0 ? 0 : -n, 'other']);
  await second.store.count();
  await second.diskCache.idle();
  await warm(second.store, 'replaced', second.diskCache);
  expect(readdirSync(second.folder)).toHaveLength(1);
});

test('a damaged file gives the rows of the frame, once more read from it', async () => {
  const first = await openStore();
  await put(first.store, 'many', many);
  await warm(first.store, 'many', first.diskCache);
  await closeStore(first);
  const [content = ''] = readdirSync(first.folder);
  for (const name of readdirSync(join(first.folder, content))) {
    const path = join(first.folder, content, name);
    const bytes = readFileSync(path);
    for (let at = 40; at < bytes.length; at += 20_000) bytes[at] = (bytes[at] ?? 0) ^ 0x20;
    if (name !== 'state') writeFileSync(path, bytes);
  }
  const second = await openStore();
  await expectPages(second.store, 'many');
  expect([second.calls.read > 0, second.diskCache.damaged > 0]).toEqual([true, true]);
});
