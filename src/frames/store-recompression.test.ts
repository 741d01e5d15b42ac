import { readFile, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { counting, eventually, firstColumn, open, put, rowsOf, useStoreBench } from '../../test/support/frame-store.ts';
import { recordingLogger } from '../../test/support/upstream-client.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import type { FrameEngine } from '../core/rows/frame-engine.ts';
import { encodeManifest, type Manifest } from './disk/manifest.ts';

const bench = await useStoreBench();

const slow = { compression: { algorithm: 'zstd', level: 12 }, quietMs: 50 } as const;
const rows = "SELECT range AS n, 'text ' || (range % 1000) AS t FROM range(20_000)";

async function manifest(handle: string): Promise<Manifest> {
  const [body] = (await readFile(bench.path('.framehold', 'manifests', `${handle}.json`), 'utf8')).split('\n');
  return JSON.parse(body ?? '') as Manifest;
}

async function isFinal(handle: string): Promise<boolean> {
  return (await manifest(handle)).parts.every((part) => part.final);
}

test('a frame is written cheaply first and compressed as configured later, as the same version', async () => {
  const store = await bench.open(slow);
  const held = await put(store, 'x', rows);
  expect(await isFinal('x')).toBe(false);
  const before = await stat(bench.path('x.parquet'));
  await using reader = await open(store, 'x');
  await eventually(() => isFinal('x'));
  const after = await stat(bench.path('x.parquet'));
  expect(after.ino).not.toBe(before.ino);
  expect(await open(store, 'x')).toMatchObject({ version: 1, versionId: held.versionId });
  store.cache.deleteVersion(held.versionId);
  expect(await rowsOf(reader)).toHaveLength(20_000);
  expect(await firstColumn(store, 'x')).toHaveLength(20_000);
  await bench.close(store);
  expect(await bench.left('pins')).toEqual([]);
  expect(await bench.left('tmp')).toEqual([]);
  const again = await bench.open(slow);
  expect(await open(again, 'x')).toMatchObject({ versionId: held.versionId });
  expect(await firstColumn(again, 'x')).toHaveLength(20_000);
});

test('every part of a folder is compressed, and what was left undone is done after a restart', async () => {
  const store = await bench.open({ ...slow, quietMs: 60_000 });
  await put(store, 'x', 'SELECT 1 AS a');
  await put(store, 'x', 'SELECT 2 AS a', { mode: 'append' });
  await bench.close(store);
  expect(await isFinal('x')).toBe(false);
  const again = await bench.open(slow);
  await eventually(() => isFinal('x'));
  expect(await firstColumn(again, 'x')).toEqual([1, 2]);
});

test('files from outside stay as they are', async () => {
  const store = await bench.open(slow);
  await bench.parquet(bench.path('x.parquet'), rows);
  expect(await firstColumn(store, 'x')).toHaveLength(20_000);
  expect(await isFinal('x')).toBe(true);
});

test('a fast compression is used at once', async () => {
  const { engine, calls } = counting(bench.engine);
  const store = await bench.open({
    compression: { algorithm: 'snappy', level: undefined },
    quietMs: 10,
    backgroundEngine: engine,
  });
  await put(store, 'x', rows);
  expect(await isFinal('x')).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(calls.write).toBe(0);
});

/** An engine whose writes wait for a release. */
function held(): { readonly engine: FrameEngine; readonly begun: Promise<void>; readonly letGo: () => void } {
  let letGo = (): void => {};
  let begin = (): void => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  return {
    begun,
    letGo,
    engine: {
      probe: (...args) => bench.engine.probe(...args),
      read: (...args) => bench.engine.read(...args),
      hasChecksum: (...args) => bench.engine.hasChecksum(...args),
      countChanges: (...args) => bench.engine.countChanges(...args),
      write: async (...args) => {
        const written = await bench.engine.write(...args);
        begin();
        await Promise.race([gate, new Promise((_, reject) => args[1].signal.addEventListener('abort', reject))]);
        return written;
      },
    },
  };
}

test('a recompression that an overwrite overtook changes nothing', async () => {
  const { engine, begun, letGo } = held();
  const store = await bench.open({ ...slow, backgroundEngine: engine });
  await put(store, 'x', rows);
  await begun;
  await put(store, 'x', 'SELECT 1 AS a', { mode: 'overwrite' });
  letGo();
  await eventually(() => isFinal('x'));
  expect(await firstColumn(store, 'x')).toEqual([1]);
});

test('a part that was appended to meanwhile is still swapped in', async () => {
  const { engine, begun, letGo } = held();
  const store = await bench.open({ ...slow, backgroundEngine: engine });
  await put(store, 'x', 'SELECT 1 AS a');
  await begun;
  await put(store, 'x', 'SELECT 2 AS a', { mode: 'append' });
  letGo();
  await eventually(() => isFinal('x'));
  expect(await open(store, 'x')).toMatchObject({ version: 2 });
  expect(await firstColumn(store, 'x')).toEqual([1, 2]);
});

test('closing ends a recompression under way and leaves nothing of it', async () => {
  const { engine, begun } = held();
  const store = await bench.open({ ...slow, backgroundEngine: engine });
  await put(store, 'x', rows);
  await begun;
  await bench.close(store);
  expect(await bench.left('tmp')).toEqual([]);
  expect(await bench.left('pins')).toEqual([]);
  expect(await isFinal('x')).toBe(false);
});

test('a dropped frame is not recompressed', async () => {
  const { engine, begun, letGo } = held();
  const store = await bench.open({ ...slow, backgroundEngine: engine });
  await put(store, 'x', rows);
  await begun;
  await store.drop(anonymous, parseHandle('x'));
  letGo();
  await eventually(async () => (await bench.left('tmp')).length === 0);
  await expect(open(store, 'x')).rejects.toMatchObject({ code: 'handle_gone' });
});

/** Takes DuckDB seconds to compress. */
const long = { compression: { algorithm: 'zstd', level: 15 }, quietMs: 10 } as const;
const longRows = 'SELECT md5(range::VARCHAR) AS t FROM range(2_000_000)';

/** An engine with recorded begins and ends of writes. */
function watched(): { readonly engine: FrameEngine; readonly begun: () => number; readonly failures: unknown[] } {
  let begun = 0;
  const failures: unknown[] = [];
  const engine: FrameEngine = {
    probe: (...args) => bench.engine.probe(...args),
    read: (...args) => bench.engine.read(...args),
    hasChecksum: (...args) => bench.engine.hasChecksum(...args),
    countChanges: (...args) => bench.engine.countChanges(...args),
    write: async (...args) => {
      begun++;
      return await bench.engine.write(...args).catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
    },
  };
  return { engine, begun: () => begun, failures };
}

test.each(['drop', 'overwrite'] as const)(
  'a recompression is interrupted at once by a %s, leaves no file, and the next one is done',
  async (how) => {
    const { engine, begun, failures } = watched();
    const store = await bench.open({ ...long, backgroundEngine: engine });
    await put(store, 'x', longRows);
    await eventually(async () => begun() === 1 && (await bench.left('tmp')).length > 0);
    if (how === 'drop') await store.drop(anonymous, parseHandle('x'));
    else await put(store, 'x', 'SELECT 1 AS a', { mode: 'overwrite' });
    await eventually(async () => failures.length === 1);
    await eventually(async () => (await bench.left('tmp')).length === 0);
    if (how === 'drop') await put(store, 'x', 'SELECT 1 AS a');
    await eventually(() => isFinal('x'));
    expect(await firstColumn(store, 'x')).toEqual([1]);
  },
  60_000,
);

test('a recompression that takes too long is stopped, told once, and not begun again', async () => {
  const { engine, begun, failures } = watched();
  const { logger, lines } = recordingLogger();
  const store = await bench.open({ ...long, backgroundEngine: engine, logger, recompressionTimeoutMs: 1500 });
  await put(store, 'x', longRows);
  await eventually(async () => failures.length === 1);
  await eventually(async () => (await bench.left('tmp')).length === 0);
  // A part that is small is still compressed behind it, and the long one is left alone.
  await put(store, 'x', "SELECT 'a' AS t", { mode: 'append' });
  await eventually(async () => (await manifest('x')).parts[1]?.final === true);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await manifest('x')).parts[0]?.final).toBe(false);
  expect(begun()).toBe(2);
  const told = lines.filter(([message]) => message === 'parts of a frame could not be rewritten');
  expect(told).toEqual([[expect.anything(), { key: 'default/x', error: expect.stringContaining('1.5 s') }]]);
}, 60_000);

/** As an earlier version left it: nothing says that its files are read rightly. */
async function forgetExactness(handle: string): Promise<void> {
  const path = bench.path('.framehold', 'manifests', `${handle}.json`);
  const { format: _, ...known } = (await manifest(handle)) as Manifest & { readonly format: number };
  await writeFile(path, encodeManifest({ ...known, parts: known.parts.map(({ exact: __, ...part }) => part) }));
}

test('files of an earlier version that DuckDB misreads are written anew, and the others noted as they are', async () => {
  const isExamined = async (): Promise<boolean> =>
    (await manifest('x')).parts.every((part) => part.exact === true && part.final);
  const first = await bench.open(slow);
  await put(first, 'x', rows);
  await eventually(() => isFinal('x'));
  await bench.close(first);
  const before = await stat(bench.path('x.parquet'));
  for (const isMisread of [false, true]) {
    await forgetExactness('x');
    const { engine } = counting(bench.engine);
    const probe: FrameEngine['probe'] = async (...args) => ({ ...(await engine.probe(...args)), isMisread });
    const store = await bench.open({ ...slow, backgroundEngine: { ...engine, probe } });
    await eventually(isExamined);
    expect((await stat(bench.path('x.parquet'))).ino === before.ino).toBe(!isMisread);
    expect(await firstColumn(store, 'x')).toHaveLength(20_000);
    await bench.close(store);
  }
});
