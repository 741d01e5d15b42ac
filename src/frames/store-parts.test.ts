import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { codeOf, firstColumn, never, open, put, rowsOf, useStoreBench } from '../../test/support/frame-store.ts';
import { Death, tellOfEnd } from '../../test/support/store-death.ts';
import { anonymous } from '../auth/identify.ts';
import type { Principal, Tenant } from '../core/callers/principal.ts';
import { parseHandle } from '../core/names/handle.ts';
import { parseManifest } from './disk/manifest.ts';
import type { FrameStore } from './store.ts';
import { verifyDirectory } from './upkeep/verify-directory.ts';

const bench = await useStoreBench();
let store: FrameStore;
beforeEach(async () => {
  store = await bench.open();
});
afterEach(() => {
  vi.restoreAllMocks();
});

type Mode = 'create' | 'overwrite' | 'append';

/** Puts a file for each statement. */
async function putParts(to: FrameStore, statements: readonly string[], mode: Mode = 'create') {
  await using folder = await to.incomingFolder(anonymous);
  const paths = statements.map((_, index) => join(folder.path, `part-${index}.parquet`));
  for (const [index, sql] of statements.entries()) await bench.parquet(paths[index] ?? '', sql);
  const handle = parseHandle('x');
  return await to.put(anonymous, { handle, mode, source: { kind: 'parts', paths } }, { signal: never });
}

const values = (...numbers: number[]): string[] => numbers.map((number) => `SELECT ${number}::INTEGER AS a`);

async function publicFiles(): Promise<string[]> {
  const entries = await readdir(bench.cold, { recursive: true });
  return entries.filter((name) => !name.startsWith('.framehold') && name !== 'x').sort();
}

async function nothingIsLeft(): Promise<void> {
  expect(await bench.left('tmp')).toEqual([]);
  expect(await bench.left('pending')).toEqual([]);
}

async function isSound(): Promise<void> {
  for await (const verdict of verifyDirectory(bench.cold, bench.engine, { signal: never })) {
    expect(verdict).toMatchObject({ fault: undefined, isChecksummed: true });
  }
}

describe('files of another engine', () => {
  test('become one version, a part each, in their order', async () => {
    const held = await putParts(store, ['SELECT range::INTEGER AS a FROM range(3)', ...values(7, 5)]);
    expect(held).toMatchObject({ version: 1, rows: 5, rowsPut: 5, report: undefined });
    expect(held.columns).toEqual([{ name: 'a', type: { kind: 'int', bits: 32, signed: true } }]);
    expect(await publicFiles()).toEqual(['x/000001.parquet', 'x/000002.parquet', 'x/000003.parquet']);
    expect(await firstColumn(store, 'x')).toEqual([0, 1, 2, 7, 5]);
    await nothingIsLeft();
    await isSound();
  });

  test('are still that after a restart, without a byte read', async () => {
    const { versionId } = await putParts(store, values(1, 2));
    await bench.close(store);
    store = await bench.open();
    expect(await store.describe(anonymous, parseHandle('x'), { signal: never })).toMatchObject({ versionId, rows: 2 });
    expect(await firstColumn(store, 'x')).toEqual([1, 2]);
  });

  test('are kept as they are, byte for byte, and not compressed again', async () => {
    await bench.close(store);
    store = await bench.open({ compression: { algorithm: 'zstd', level: 19 }, quietMs: 0 });
    await using folder = await store.incomingFolder(anonymous);
    const paths = [join(folder.path, '1.parquet'), join(folder.path, '2.parquet')];
    for (const path of paths) await bench.parquet(path, 'SELECT 1 AS a');
    const bytes = await readFile(paths[0] ?? '');
    const handle = parseHandle('x');
    await store.put(anonymous, { handle, mode: 'create', source: { kind: 'parts', paths } }, { signal: never });
    expect(await readFile(bench.path('x', '000001.parquet'))).toEqual(bytes);
    const text = await readFile(bench.path('.framehold', 'manifests', 'x.json'), 'utf8');
    expect(parseManifest(text, handle)?.parts.map((part) => part.final)).toEqual([true, true]);
  });

  test('that have no rows are left out, unless none has', async () => {
    const none = 'SELECT 1::INTEGER AS a WHERE false';
    await putParts(store, [none, ...values(1), none, ...values(2), none]);
    expect(await publicFiles()).toEqual(['x/000001.parquet', 'x/000002.parquet']);
    expect(await putParts(store, [none, none], 'overwrite')).toMatchObject({ rows: 0, version: 2 });
    expect(await publicFiles()).toEqual(['x.parquet']);
    expect(await firstColumn(store, 'x')).toEqual([]);
  });

  test('of one file are a frame of one file', async () => {
    await putParts(store, values(1));
    expect(await publicFiles()).toEqual(['x.parquet']);
  });

  test('are refused where there are none', async () => {
    await expect(putParts(store, [])).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('are refused all together when one has other columns, is damaged or is missing', async () => {
    await expect(putParts(store, [...values(1), 'SELECT 2::BIGINT AS a'])).rejects.toMatchObject({
      code: 'schema_mismatch',
      message: 'file 2 does not fit the first one: column "a" is int32 in the frame and int64 here',
    });
    await using folder = await store.incomingFolder(anonymous);
    const paths = ['1.parquet', '2.parquet', '3.parquet'].map((name) => join(folder.path, name));
    for (const path of paths) await bench.parquet(path, 'SELECT range AS a FROM range(1000)');
    await truncate(paths[1] ?? '', 700);
    const source = { kind: 'parts', paths } as const;
    const request = { handle: parseHandle('x'), mode: 'create', source } as const;
    expect(await codeOf(store.put(anonymous, request, { signal: never }))).toBe('invalid_input');
    const gone = {
      ...request,
      source: { ...source, paths: [...paths.slice(0, 1), join(folder.path, 'gone.parquet')] },
    };
    await expect(store.put(anonymous, gone, { signal: never })).rejects.toThrow();
    expect(await publicFiles()).toEqual([]);
    await folder[Symbol.asyncDispose]();
    await nothingIsLeft();
  });

  test('refuse a taken handle, and columns that the caller does not want', async () => {
    await put(store, 'x', 'SELECT 1::INTEGER AS a');
    expect(await codeOf(putParts(store, values(2, 3)))).toBe('handle_exists');
    expect(await codeOf(putParts(store, ["SELECT 'b' AS a", "SELECT 'c' AS a"], 'append'))).toBe('schema_mismatch');
    expect(await firstColumn(store, 'x')).toEqual([1]);
  });

  test('of which one aborts leave nothing', async () => {
    await using folder = await store.incomingFolder(anonymous);
    const paths = ['1.parquet', '2.parquet', '3.parquet', '4.parquet'].map((name) => join(folder.path, name));
    for (const path of paths) await bench.parquet(path, 'SELECT range AS a FROM range(200000)');
    const controller = new AbortController();
    const source = { kind: 'parts', paths } as const;
    const request = { handle: parseHandle('x'), mode: 'create', source } as const;
    const putting = store.put(anonymous, request, { signal: controller.signal });
    controller.abort();
    await expect(putting).rejects.toThrow();
    await folder[Symbol.asyncDispose]();
    expect(await publicFiles()).toEqual([]);
    await nothingIsLeft();
  });
});

/** The state before, and the new rows. */
const befores = {
  nothing: async () => (await store.incomingFolder(anonymous))[Symbol.asyncDispose](),
  'a file': () => put(store, 'x', 'SELECT 1::INTEGER AS a'),
  'a folder': () => putParts(store, values(1, 2)),
} as const;
const heldBefore = { nothing: undefined, 'a file': [1], 'a folder': [1, 2] } as const;
type Before = keyof typeof befores;

const cases: readonly (readonly [Mode, Before])[] = [
  ['create', 'nothing'],
  ['append', 'nothing'],
  ['overwrite', 'a file'],
  ['append', 'a file'],
  ['overwrite', 'a folder'],
  ['append', 'a folder'],
];

function expected(mode: Mode, before: Before): number[] {
  return [...(mode === 'append' ? (heldBefore[before] ?? []) : []), 8, 9];
}

describe.each(cases)('%s where %s is', (mode, before) => {
  test('shows all of the new version, and readers of the old one keep it', async () => {
    await befores[before]();
    const reader = before === 'nothing' ? undefined : await open(store, 'x');
    await putParts(store, values(8, 9), mode);
    expect(await firstColumn(store, 'x')).toEqual(expected(mode, before));
    if (reader !== undefined) expect((await rowsOf(reader)).flat()).toEqual(heldBefore[before]);
    await reader?.[Symbol.asyncDispose]();
    expect(await publicFiles()).toHaveLength(expected(mode, before).length);
    await nothingIsLeft();
    await isSound();
    expect(await put(store, 'x', 'SELECT 10::INTEGER AS a', { mode: 'append' })).toMatchObject({
      rows: expected(mode, before).length + 1,
    });
  });

  test('cut off at any step leaves the old version or the new one, and nothing else', {
    timeout: 120_000,
  }, async () => {
    for (let step = 1; ; step++) {
      bench.fresh();
      store = await bench.open();
      await befores[before]();
      const old = heldBefore[before];
      using death = new Death();
      const putting = putParts(store, values(8, 9), mode);
      death.after(step);
      const outcome = await Promise.race([putting.then(() => 'acknowledged'), death.died]);
      await tellOfEnd(bench.cold);
      const next = await bench.open();
      for await (const _ of next.list(anonymous));
      const held = await firstColumn(next, 'x').catch((error) =>
        error.code === 'handle_not_found' ? undefined : error,
      );
      const isNew = JSON.stringify(held) === JSON.stringify(expected(mode, before));
      if (outcome === 'acknowledged' || !isNew) {
        expect([outcome, step, held]).toEqual([
          outcome,
          step,
          outcome === 'acknowledged' ? expected(mode, before) : old,
        ]);
      }
      await nothingIsLeft();
      expect(await publicFiles()).toHaveLength(held?.length ?? 0);
      await isSound();
      death.release();
      await putting.catch(() => {});
      if (outcome === 'acknowledged') {
        expect(step).toBeGreaterThan(5);
        return;
      }
    }
  });
});

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
