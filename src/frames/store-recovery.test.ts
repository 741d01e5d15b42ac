import { copyFile, link, mkdir, open as openFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { codeOf, firstColumn, never, open, put, rowsOf, useStoreBench } from '../../test/support/frame-store.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import { DurableFiles } from './disk/durable-file.ts';
import { TenantDirectory } from './disk/tenant-directory.ts';
import type { FrameStore } from './store.ts';

const bench = await useStoreBench();
let store: FrameStore;
beforeEach(async () => {
  store = await bench.open();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const manifest = (): string => bench.path('.framehold', 'manifests', 'x.json');
const pending = (): string => bench.path('.framehold', 'pending', 'x.json');
const tombstone = (): string => bench.path('.framehold', 'tombstones', 'x.json');

/** Does `step`, then puts back the manifest of before: as if the process had died just before the manifest was moved. */
async function cutOffBeforeManifest(step: () => Promise<unknown>): Promise<void> {
  const before = await readFile(manifest());
  await step();
  await bench.close(store);
  await rename(manifest(), pending());
  await writeFile(manifest(), before);
}

async function reopened(): Promise<FrameStore> {
  store = await bench.open();
  for await (const _ of store.list(anonymous));
  return store;
}

/** Repairs on the disk for each finding; `reconcile/assess-handle.test.ts` has the finding after each crash. */
describe('a crash', () => {
  test('in the middle of writing leaves nothing: what is in tmp and partLinks is swept', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await bench.close(store);
    await writeFile(bench.path('.framehold', 'tmp', 'OLD-1.parquet'), 'half');
    await mkdir(bench.path('.framehold', 'tmp', 'OLD-2'));
    await writeFile(bench.path('.framehold', 'tmp', 'OLD-2', '000001.parquet'), 'half');
    await link(bench.path('x.parquet'), bench.path('.framehold', 'pins', 'OLD-3.parquet'));
    await reopened();
    expect(await bench.left('tmp')).toEqual([]);
    expect(await bench.left('pins')).toEqual([]);
    expect(await firstColumn(store, 'x')).toEqual([1]);
  });

  test('in the middle of dropping a frame of several parts leaves none of them', async () => {
    for (const value of [1, 2, 3]) await put(store, 'x', `SELECT ${value} AS a`, { mode: 'append' });
    await bench.close(store);
    const described = await readFile(manifest());
    await link(bench.path('x', '000002.parquet'), bench.path('.second'));
    store = await bench.open();
    await store.drop(anonymous, parseHandle('x'));
    await bench.close(store);
    await writeFile(manifest(), described);
    await mkdir(bench.path('x'), { recursive: true });
    await rename(bench.path('.second'), bench.path('x', '000002.parquet'));
    await reopened();
    expect(await codeOf(open(store, 'x'))).toBe('handle_gone');
    expect(await readdir(bench.cold)).not.toContain('x');
    expect(await bench.left('manifests')).toEqual([]);
  });

  test('before a pending create was moved into place undoes it', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await bench.close(store);
    await rename(manifest(), pending());
    await rm(bench.path('x.parquet'));
    await reopened();
    expect(await codeOf(open(store, 'x'))).toBe('handle_not_found');
    expect(await bench.left('pending')).toEqual([]);
    expect(await put(store, 'x', 'SELECT 2 AS a')).toMatchObject({ version: 1 });
  });

  test('after a create was moved into place finishes it, checksum and all', async () => {
    await put(store, 'x', 'SELECT 1 AS a', { ttlMs: 60_000 });
    await bench.close(store);
    await rename(manifest(), pending());
    await reopened();
    expect(await store.describe(anonymous, parseHandle('x'), { signal: never })).toMatchObject({
      version: 1,
      expiresAt: expect.any(Number),
    });
    expect(await bench.left('pending')).toEqual([]);
    expect(await bench.left('manifests')).toEqual(['x.json']);
  });

  test('in the first append, before the manifest, its record lost, undoes it: the file is still the frame', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await bench.close(store);
    await mkdir(bench.path('x'));
    await link(bench.path('x.parquet'), bench.path('x', '000001.parquet'));
    await bench.parquet(bench.path('x', '000002.parquet'), 'SELECT 2 AS a');
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([1]);
    expect(await readdir(bench.cold)).toEqual(['.framehold', 'x.parquet']);
  });

  test('in the first append, before the manifest, finishes it', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await link(bench.path('x.parquet'), bench.path('.kept'));
    await cutOffBeforeManifest(() => put(store, 'x', 'SELECT 2 AS a', { mode: 'append' }));
    await rename(bench.path('.kept'), bench.path('x.parquet'));
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([1, 2]);
    expect(await readdir(bench.cold)).toEqual(['.framehold', 'x']);
  });

  test('in a put after a drop, before the tombstone went, keeps the frame', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await store.drop(anonymous, parseHandle('x'));
    const old = await readFile(tombstone());
    await put(store, 'x', 'SELECT 2 AS a');
    await bench.close(store);
    await writeFile(tombstone(), old);
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([2]);
    expect(await bench.left('tombstones')).toEqual([]);
  });
});

describe('a manifest', () => {
  test.each([
    ['edited', (text: string) => text.replace('"rows":1', '"rows":7')],
    ['torn', (text: string) => text.slice(0, 100)],
    ['empty', () => ''],
  ])('that was %s is not believed: the file counts as one from outside', async (_how, change) => {
    await put(store, 'x', 'SELECT 1 AS a');
    await bench.close(store);
    await writeFile(manifest(), change(await readFile(manifest(), 'utf8')));
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([1]);
  });

  test('of another handle is not believed', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await put(store, 'y', 'SELECT 2 AS a');
    await bench.close(store);
    await copyFile(bench.path('.framehold', 'manifests', 'y.json'), manifest());
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([1]);
    expect(await firstColumn(store, 'y')).toEqual([2]);
  });
});

test('where a file and a folder have the same name the file wins', async () => {
  await bench.parquet(bench.path('x.parquet'), 'SELECT 1 AS a');
  await mkdir(bench.path('x'));
  await bench.parquet(bench.path('x', 'a.parquet'), 'SELECT 2 AS a');
  expect(await firstColumn(store, 'x')).toEqual([1]);
});

describe('a failing disk', () => {
  async function failSyncOnce(after: number, code: string, { always = false } = {}): Promise<void> {
    const file = await openFile(bench.cold, 'r');
    await file.close();
    const prototype = Object.getPrototypeOf(file) as { sync(): Promise<void> };
    const real = prototype.sync;
    let calls = 0;
    vi.spyOn(prototype, 'sync').mockImplementation(function (this: unknown) {
      const nth = calls++;
      if (nth === after || (always && nth > after))
        return Promise.reject(Object.assign(new Error(code), { code, syscall: 'fsync' }));
      return real.call(this);
    });
  }

  test.each([0, 1, 2])(
    'fsync %i of a put fails: it is not acked, and nothing is written until a restart',
    async (nth) => {
      await put(store, 'x', 'SELECT 1 AS a');
      await failSyncOnce(nth, 'EIO');
      expect(await codeOf(put(store, 'y', 'SELECT 2 AS a'))).toBe('storage_read_only');
      vi.restoreAllMocks();
      expect(await codeOf(put(store, 'z', 'SELECT 3 AS a'))).toBe('storage_read_only');
      expect(await codeOf(store.drop(anonymous, parseHandle('x')))).toBe('storage_read_only');
      expect(await firstColumn(store, 'x')).toEqual([1]);
      expect(await bench.left('tmp')).toEqual([]);
      await bench.close(store);
      await reopened();
      await put(store, 'z', 'SELECT 3 AS a');
      expect(await firstColumn(store, 'x')).toEqual([1]);
    },
  );

  test('an append whose record could not be synced is shown before a restart if it is shown after it', async () => {
    for (const mode of ['create', 'append'] as const) await put(store, 'x', 'SELECT 1 AS a', { mode });
    await failSyncOnce(2, 'EIO');
    expect(await codeOf(put(store, 'x', 'SELECT 2 AS a', { mode: 'append' }))).toBe('storage_read_only');
    vi.restoreAllMocks();
    const shown = await firstColumn(store, 'x');
    await bench.close(store);
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual(shown);
  });

  describe('that cannot keep the record of a first append', () => {
    const lastSync = 3;
    const append = () => put(store, 'x', 'SELECT 2 AS a', { mode: 'append' });

    test.each(['EIO', 'ENOSPC'])(
      '%s leaves the file that it replaces as long as the record may be lost',
      async (code) => {
        await put(store, 'x', 'SELECT 1 AS a', { ttlMs: 3_600_000 });
        const before = await readFile(manifest());
        const { versionId } = await open(store, 'x');
        const dropped = vi.spyOn(TenantDirectory.prototype, 'discard');
        await failSyncOnce(lastSync, code, { always: true });
        await expect(append()).rejects.toThrow();
        for await (const _ of store.list(anonymous));
        expect(dropped).not.toHaveBeenCalledWith(bench.path('x.parquet'));
        await bench.close(store);
        vi.restoreAllMocks();
        expect((await readdir(bench.cold)).sort()).toEqual(['.framehold', 'x', 'x.parquet']);
        // The state after a power cut.
        await writeFile(manifest(), before);
        await reopened();
        expect(await firstColumn(store, 'x')).toEqual([1]);
        expect(await open(store, 'x')).toMatchObject({ version: 1, versionId });
        expect(await store.describe(anonymous, parseHandle('x'), { signal: never })).toMatchObject({
          ttlMs: 3_600_000,
        });
        expect(await readdir(bench.cold)).toEqual(['.framehold', 'x.parquet']);
      },
    );

    test('the next start removes the file once the record is safe', async () => {
      await put(store, 'x', 'SELECT 1 AS a');
      await failSyncOnce(lastSync, 'EIO');
      expect(await codeOf(append())).toBe('storage_read_only');
      vi.restoreAllMocks();
      expect(await firstColumn(store, 'x')).toEqual([1, 2]);
      await bench.close(store);
      expect(await readdir(bench.cold)).toContain('x.parquet');
      await reopened();
      expect(await firstColumn(store, 'x')).toEqual([1, 2]);
      expect(await readdir(bench.cold)).toEqual(['.framehold', 'x']);
    });

    test('a disk that has room again keeps the record first, and the file goes then', async () => {
      await put(store, 'x', 'SELECT 1 AS a');
      await failSyncOnce(lastSync, 'ENOSPC');
      expect(await codeOf(append())).toBe('storage_full');
      expect(await firstColumn(store, 'x')).toEqual([1, 2]);
      expect(await readdir(bench.cold)).toEqual(['.framehold', 'x']);
    });
  });

  test('the tombstone stays as long as the record of the frame after it may be lost', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await store.drop(anonymous, parseHandle('x'));
    await failSyncOnce(2, 'EIO');
    expect(await codeOf(put(store, 'x', 'SELECT 2 AS a'))).toBe('storage_read_only');
    vi.restoreAllMocks();
    expect(await bench.left('tombstones')).toEqual(['x.json']);
    await bench.close(store);
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([2]);
    expect(await bench.left('tombstones')).toEqual([]);
  });

  test('a first append that can neither be finished nor taken back does not stand in the way later', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    vi.spyOn(DurableFiles.prototype, 'rename')
      .mockImplementationOnce((from, to) => rename(from, to))
      .mockRejectedValue(Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'rename' }));
    await expect(put(store, 'x', 'SELECT 2 AS a', { mode: 'append' })).rejects.toThrow();
    expect((await readdir(bench.cold)).sort()).toEqual(['.framehold', 'x', 'x.parquet']);
    vi.restoreAllMocks();
    await store.drop(anonymous, parseHandle('x'));
    expect(await readdir(bench.cold)).toEqual(['.framehold']);
    await put(store, 'x', 'SELECT 3 AS a');
    expect(await firstColumn(store, 'x')).toEqual([3]);
  });

  test.each([0, 1])('fsync %i of a drop fails: the frame stays, also after a restart', async (nth) => {
    await put(store, 'x', 'SELECT 1 AS a');
    await failSyncOnce(nth, 'EIO');
    expect(await codeOf(store.drop(anonymous, parseHandle('x')))).toBe('storage_read_only');
    vi.restoreAllMocks();
    expect(await firstColumn(store, 'x')).toEqual([1]);
    await bench.close(store);
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([1]);
  });

  test.each([0, 1])('a full disk at fsync %i of an overwrite: the frame stays as it was', async (nth) => {
    await put(store, 'x', 'SELECT 1 AS a');
    await failSyncOnce(nth, 'ENOSPC');
    expect(await codeOf(put(store, 'x', 'SELECT 2 AS a', { mode: 'overwrite' }))).toBe('storage_full');
    expect(await firstColumn(store, 'x')).toEqual([1]);
    expect(await open(store, 'x')).toMatchObject({ version: 1 });
    expect(await bench.left('tmp')).toEqual([]);
    expect(await bench.left('pending')).toEqual([]);
    await put(store, 'x', 'SELECT 3 AS a', { mode: 'overwrite' });
    expect(await firstColumn(store, 'x')).toEqual([3]);
  });

  test('a full disk in the first append: the frame stays as it was', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await failSyncOnce(2, 'ENOSPC');
    expect(await codeOf(put(store, 'x', 'SELECT 2 AS a', { mode: 'append' }))).toBe('storage_full');
    expect(await readdir(bench.cold)).toEqual(['.framehold', 'x.parquet']);
    expect(await firstColumn(store, 'x')).toEqual([1]);
    expect(await bench.left('tmp')).toEqual([]);
  });

  test('a full disk does not keep a frame from being dropped', async () => {
    await put(store, 'x', 'SELECT 1 AS a');
    await failSyncOnce(0, 'ENOSPC');
    await store.drop(anonymous, parseHandle('x'));
    expect(await codeOf(open(store, 'x'))).toBe('handle_gone');
    expect(await readdir(bench.cold)).toEqual(['.framehold']);
    await bench.close(store);
    await reopened();
    expect(await codeOf(open(store, 'x'))).toBe('handle_gone');
  });
});

test('a store that is closed refuses everything, and its open readers too', async () => {
  await put(store, 'x', 'SELECT range AS a FROM range(10)');
  const reader = await open(store, 'x');
  await bench.close(store);
  expect(await codeOf(put(store, 'y', 'SELECT 1 AS a'))).toBe('overloaded');
  expect(await codeOf(open(store, 'x'))).toBe('overloaded');
  expect(await codeOf(rowsOf(reader))).toBe('overloaded');
  expect(await bench.left('pins')).toEqual([]);
});
