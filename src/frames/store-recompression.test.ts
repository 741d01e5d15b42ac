import { readFile, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { counting, eventually, firstColumn, open, put, rowsOf, useStoreBench } from '../../test/support/frame-store.ts';
import { anonymous } from '../auth/identify.ts';
import type { FrameEngine } from '../core/frame-engine.ts';
import { parseHandle } from '../core/handle.ts';
import type { Manifest } from './disk/manifest.ts';

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

/** An engine whose writes wait until they are let go. */
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
