import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../core/logs/logger.ts';
import type { Chunk } from './chunk-file.ts';
import { DiskCache } from './disk-cache.ts';

let folder: string;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'framehold-disk-cache-')), 'cache');
});

afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

function openCache(budgetBytes = 10_000_000): Promise<DiskCache> {
  return DiskCache.open({ folder, budgetBytes, logger: silentLogger });
}

/** Rows of 100 bytes. */
function chunkOf(fromRow: number, rows: number): Chunk {
  const bytes = Buffer.concat(Array.from({ length: rows }, (_, i) => Buffer.from(`${fromRow + i}`.padStart(100))));
  return { fromRow, pieces: [{ rows, bytes, rowEnds: Uint32Array.from({ length: rows }, (_, i) => (i + 1) * 100) }] };
}

async function rowsOf(cache: DiskCache, contentId: string, key: string, fromRow: number, toRow: number) {
  const read = await cache.read({ contentId, key }, fromRow, toRow);
  if (read === undefined) return undefined;
  const text = Buffer.concat(read.pieces.map(({ bytes }) => bytes)).toString();
  return text
    .slice((fromRow - read.fromRow) * 100, (toRow - read.fromRow) * 100)
    .match(/.{100}/g)
    ?.map(Number);
}

async function write(cache: DiskCache, contentId: string, fromRow: number, rows = 1000) {
  const key = `exec-json:${fromRow}:${fromRow + rows}`;
  await cache.write({ contentId, key }, chunkOf(fromRow, rows));
  return key;
}

describe('rows on disk', () => {
  test('are given as they were written, also parts of them', async () => {
    await using cache = await openCache();
    cache.hold('a', 'a1');
    const key = await write(cache, 'a', 5000);
    expect(await rowsOf(cache, 'a', key, 0, 1000)).toEqual(Array.from({ length: 1000 }, (_, i) => 5000 + i));
    expect(await rowsOf(cache, 'a', key, 998, 1000)).toEqual([5998, 5999]);
    expect(await rowsOf(cache, 'b', key, 0, 1)).toBeUndefined();
  });

  test('are found again by those who hold the same version, and removed where it is another', async () => {
    let key = '';
    {
      await using cache = await openCache();
      for (const contentId of ['same', 'other', 'gone']) {
        cache.hold(contentId, 'v1');
        key = await write(cache, contentId, 0);
      }
    }
    await using cache = await openCache();
    expect(await rowsOf(cache, 'same', key, 0, 1)).toBeUndefined();
    cache.hold('same', 'v1');
    cache.hold('other', 'v2');
    cache.sweep();
    await cache.idle();
    expect(await rowsOf(cache, 'same', key, 7, 8)).toEqual([7]);
    expect(await rowsOf(cache, 'other', key, 7, 8)).toBeUndefined();
    expect(readdirSync(folder)).toEqual(['same']);
  });

  test('of a frame that grows are of its last state', async () => {
    let key = '';
    {
      await using cache = await openCache();
      cache.hold('a', 'v1');
      key = await write(cache, 'a', 0);
      cache.hold('a', 'v2');
    }
    {
      await using cache = await openCache();
      cache.hold('a', 'v2');
      expect(await rowsOf(cache, 'a', key, 7, 8)).toEqual([7]);
    }
    {
      await using cache = await openCache();
      cache.hold('a', 'v1');
      expect(await rowsOf(cache, 'a', key, 0, 1)).toBeUndefined();
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  test('that somebody has removed are a miss, and no damage', async () => {
    await using cache = await openCache();
    cache.hold('a', 'a1');
    const key = await write(cache, 'a', 0);
    await rm(folder, { recursive: true });
    expect(await rowsOf(cache, 'a', key, 0, 1)).toBeUndefined();
    expect([cache.damaged, cache.entries]).toEqual([0, 0]);
    expect(await rowsOf(cache, 'a', await write(cache, 'a', 0), 7, 8)).toEqual([7]);
  });

  test('that an earlier process left and that have no room now are removed', async () => {
    {
      await using cache = await openCache();
      cache.hold('a', 'a1');
      await write(cache, 'a', 0);
    }
    await using cache = await openCache(100_000);
    cache.hold('a', 'a1');
    await cache.idle();
    expect([cache.entries, readdirSync(join(folder, 'a'))]).toEqual([0, ['state']]);
  });

  test('that are damaged are a miss, and are removed', async () => {
    await using cache = await openCache();
    cache.hold('a', 'a1');
    const key = await write(cache, 'a', 0);
    const file = readdirSync(join(folder, 'a')).find((name) => name !== 'state') as string;
    const bytes = readFileSync(join(folder, 'a', file));
    bytes[bytes.length - 50] = 0;
    writeFileSync(join(folder, 'a', file), bytes);
    expect(await rowsOf(cache, 'a', key, 999, 1000)).toBeUndefined();
    await cache.idle();
    expect([cache.damaged, cache.usedBytes, readdirSync(join(folder, 'a'))]).toEqual([1, 0, ['state']]);
  });

  test.each([
    ['cut', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 60_000))],
    ['empty', (path: string) => writeFileSync(path, '')],
    ['of something else', (path: string) => writeFileSync(path, 'PAR1'.repeat(30_000))],
  ])('whose file is %s are a miss after a restart', async (_, harm) => {
    let key = '';
    {
      await using cache = await openCache();
      cache.hold('a', 'a1');
      key = await write(cache, 'a', 0);
    }
    const file = readdirSync(join(folder, 'a')).find((name) => name !== 'state') as string;
    harm(join(folder, 'a', file));
    await using cache = await openCache();
    cache.hold('a', 'a1');
    expect(await rowsOf(cache, 'a', key, 999, 1000)).toBeUndefined();
  });

  test('never take more than their budget, and give it back', async () => {
    await using cache = await openCache(1_000_000);
    cache.hold('a', 'a1');
    for (let chunk = 0; chunk < 30; chunk++) await write(cache, 'a', chunk * 1000);
    await cache.idle();
    expect(cache.usedBytes).toBeLessThanOrEqual(1_000_000);
    expect(cache.entries).toBeGreaterThan(3);
    expect(readdirSync(join(folder, 'a')).length).toBe(cache.entries + 1);
    cache.deleteVersion('a');
    await cache.idle();
    expect([cache.usedBytes, readdirSync(folder)]).toEqual([0, []]);
  });

  test('that cannot be written are not there, and nobody hears of it', async () => {
    await writeFile(folder, 'a file where the folder should be');
    await using cache = await openCache();
    cache.hold('a', 'a1');
    const key = await write(cache, 'a', 0);
    expect(await rowsOf(cache, 'a', key, 0, 1)).toBeUndefined();
  });

  test('of a version that goes while they are written go with it', async () => {
    await using cache = await openCache();
    cache.hold('a', 'a1');
    const key = 'exec-json:0:1000';
    void cache.write({ contentId: 'a', key }, chunkOf(0, 1000));
    cache.deleteVersion('a');
    await cache.idle();
    expect(await rowsOf(cache, 'a', key, 0, 1)).toBeUndefined();
    expect(existsSync(join(folder, 'a'))).toBe(false);
  });
});
