import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { StoreBench } from '../../test/support/frame-store.ts';
import { anonymous, type Principal, type Tenant } from '../core/principal.ts';
import type { FrameStore } from './store.ts';

let bench: StoreBench;
let store: FrameStore;
beforeAll(async () => {
  bench = await StoreBench.start();
});
beforeEach(async () => {
  bench.fresh();
  store = await bench.open();
});
afterEach(() => bench.closeAll());
afterAll(() => bench[Symbol.asyncDispose]());

describe('a folder for files that others write', () => {
  test('is empty, below the cold directory, another one each time', async () => {
    await using first = await store.incomingFolder(anonymous);
    await using second = await store.incomingFolder(anonymous);
    expect(first.path.startsWith(`${bench.cold}/`)).toBe(true);
    expect(second.path).not.toBe(first.path);
    expect(await readdir(first.path)).toEqual([]);
  });

  test('lies in the directory of its tenant', async () => {
    const other: Principal = { ...anonymous, tenant: 'other' as Tenant };
    await using folder = await store.incomingFolder(other);
    expect(folder.path.startsWith(bench.path('tenants', 'other'))).toBe(true);
  });

  test('goes with all that is in it', async () => {
    const folder = await store.incomingFolder(anonymous);
    await mkdir(join(folder.path, '_temporary'));
    await writeFile(join(folder.path, '_temporary', 'half'), 'half');
    await folder[Symbol.asyncDispose]();
    await expect(stat(folder.path)).rejects.toThrow('ENOENT');
  });

  test('that nobody disposed of goes with the next start', async () => {
    const { path } = await store.incomingFolder(anonymous);
    await writeFile(join(path, 'part.parquet'), 'half');
    await bench.close(store);
    store = await bench.open();
    for await (const _ of store.list(anonymous));
    expect(await bench.left('tmp')).toEqual([]);
  });
});
