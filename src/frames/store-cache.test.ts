import { describe, expect, test } from 'vitest';
import {
  codeOf,
  counting,
  eventually,
  never,
  open,
  put,
  rowsOf,
  useStoreBench,
} from '../../test/support/frame-store.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { FrameEngine } from '../core/rows/frame-engine.ts';

const bench = await useStoreBench();

const rows = 140_000;
const many = `SELECT range AS n, 'text ' || range AS t FROM range(${rows})`;

function expected(from: number, to: number): unknown[][] {
  return Array.from({ length: to - from }, (_, index) => [from + index, `text ${from + index}`]);
}

describe.each([
  ['with a cache', 64_000_000],
  ['with a cache smaller than a chunk', 500_000],
  ['without a cache', 0],
])('%s', (_name, cacheBytes) => {
  test('any range gives exactly its rows, cold and hot', async () => {
    const store = await bench.open({ cacheBytes });
    await put(store, 'many', many);
    await using reader = await open(store, 'many');
    const ranges = [
      [0, 10],
      [0, 0],
      [rows - 1, rows],
      [rows - 5, rows + 5],
      [16_380, 16_390],
      [1, rows - 1],
      [65_535, 65_537],
      [0, rows],
    ] as const;
    for (const [from, to] of [...ranges, ...ranges]) {
      const got = await rowsOf(reader, from, to);
      expect(got.length).toBe(Math.min(to, rows) - from);
      expect(JSON.stringify(got) === JSON.stringify(expected(from, Math.min(to, rows)))).toBe(true);
    }
    expect(store.cache.usedBytes).toBeLessThanOrEqual(cacheBytes);
  });
});

test('a page makes its peers hot', async () => {
  const { engine, calls } = counting(bench.engine);
  const store = await bench.open({ engine });
  await put(store, 'many', many);
  await using reader = await open(store, 'many');
  await rowsOf(reader, 0, 10);
  await eventually(async () => store.cache.entries === 1);
  await rowsOf(reader, 10, 20);
  await rowsOf(reader, 500, 1000);
  expect(calls.read).toBe(1);
});

test('without a cache only the rows that were asked for are read', async () => {
  const asked: number[] = [];
  const engine: FrameEngine = {
    probe: (...args) => bench.engine.probe(...args),
    write: (...args) => bench.engine.write(...args),
    hasChecksum: (...args) => bench.engine.hasChecksum(...args),
    countChanges: (...args) => bench.engine.countChanges(...args),
    read: (job, options) => {
      asked.push(job.toRow - job.fromRow);
      return bench.engine.read(job, options);
    },
  };
  const store = await bench.open({ engine, cacheBytes: 0 });
  await put(store, 'many', many);
  await using reader = await open(store, 'many');
  await rowsOf(reader, 100, 110);
  expect(asked).toEqual([10]);
});

test('readers of the same cold chunk share one load', async () => {
  const { engine, calls } = counting(bench.engine);
  const store = await bench.open({ engine });
  await put(store, 'many', many);
  const readers = await Promise.all(Array.from({ length: 20 }, () => open(store, 'many')));
  const answers = await Promise.all(readers.map((reader, index) => rowsOf(reader, index, index + 10)));
  answers.forEach((answer, index) => {
    expect(answer).toEqual(expected(index, index + 10));
  });
  expect(calls.read).toBe(1);
  for (const reader of readers) await reader[Symbol.asyncDispose]();
});

test('one who leaves does not disturb another who reads the same chunk', async () => {
  const store = await bench.open();
  await put(store, 'many', many);
  await using first = await open(store, 'many');
  await using second = await open(store, 'many');
  const controller = new AbortController();
  const leaving = first.rowsEncoded('exec-json', 0, rows, { signal: controller.signal }).next();
  const staying = rowsOf(second, 0, 100);
  controller.abort(new Error('left'));
  await expect(leaving).rejects.toThrow('left');
  expect(await staying).toEqual(expected(0, 100));
});

/** An engine with counted reads. */
function watched(): { readonly engine: FrameEngine; readonly running: () => number; readonly most: () => number } {
  let running = 0;
  let most = 0;
  return {
    running: () => running,
    most: () => most,
    engine: {
      probe: (...args) => bench.engine.probe(...args),
      write: (...args) => bench.engine.write(...args),
      hasChecksum: (...args) => bench.engine.hasChecksum(...args),
      countChanges: (...args) => bench.engine.countChanges(...args),
      async *read(job, options) {
        most = Math.max(most, ++running);
        try {
          yield* bench.engine.read(job, options);
        } finally {
          running--;
        }
      },
    },
  };
}

test('a consumer that stops early ends the engine jobs', async () => {
  const { engine, running } = watched();
  const store = await bench.open({ engine });
  await put(store, 'many', many);
  await using reader = await open(store, 'many');
  let pieces = 0;
  for await (const _ of reader.rowsEncoded('exec-json', 0, rows, { signal: never })) if (++pieces === 3) break;
  await eventually(async () => running() === 0, 1000);
});

test('a consumer that keeps up has two jobs at work, a slow one none while it is slow', async () => {
  const { engine, running, most } = watched();
  const store = await bench.open({ engine, cacheBytes: 0 });
  await put(store, 'many', many);
  await using reader = await open(store, 'many');
  await rowsOf(reader);
  expect(most()).toBeGreaterThanOrEqual(2);
  // The read that has just given its last row may not have ended yet.
  expect(most()).toBeLessThanOrEqual(3);
  for await (const _ of reader.rowsEncoded('exec-json', 0, 100_000, { signal: never })) {
    await eventually(async () => running() === 0);
  }
});

test('rows too heavy to keep are streamed, in order, and nothing of them is kept', async () => {
  const store = await bench.open({ cacheBytes: 16_000_000 });
  await put(store, 'heavy', "SELECT range AS n, repeat('x', 200_000) AS t FROM range(100)");
  await using reader = await open(store, 'heavy');
  for (let round = 0; round < 2; round++) {
    expect((await rowsOf(reader)).map(([n]) => n)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  }
  expect((await rowsOf(reader, 90, 91)).map(([n]) => n)).toEqual([90]);
  expect(store.cache.usedBytes).toBeLessThan(16_000_000);
});

/** An engine whose reads fail, now and then, after their first piece or before it. */
function failing(code: 'overloaded' | 'engine_crashed', isDue: (read: number) => boolean): FrameEngine {
  let reads = 0;
  return {
    probe: (...args) => bench.engine.probe(...args),
    write: (...args) => bench.engine.write(...args),
    hasChecksum: (...args) => bench.engine.hasChecksum(...args),
    countChanges: (...args) => bench.engine.countChanges(...args),
    async *read(job, options) {
      const due = isDue(reads++);
      if (due && code === 'overloaded') throw new AppError(code, 'busy');
      for await (const piece of bench.engine.read(job, options)) {
        yield piece;
        if (due) throw new AppError(code, 'died');
      }
    },
  };
}

test('a read that has begun waits while the engine is busy, one that has not is told so', async () => {
  const store = await bench.open({ engine: failing('overloaded', (read) => read === 2 || read === 3), cacheBytes: 0 });
  await put(store, 'many', many);
  await using reader = await open(store, 'many');
  expect(await rowsOf(reader)).toHaveLength(rows);
  const busy = await bench.open({ engine: failing('overloaded', () => true) });
  await using other = await open(busy, 'many');
  expect(await codeOf(rowsOf(other, 0, 10))).toBe('overloaded');
});

test('a read goes on where an engine process died, once', async () => {
  const store = await bench.open({ engine: failing('engine_crashed', (read) => read === 1), cacheBytes: 0 });
  await put(store, 'many', many);
  await using reader = await open(store, 'many');
  expect(JSON.stringify(await rowsOf(reader)) === JSON.stringify(expected(0, rows))).toBe(true);
  const dying = await bench.open({ engine: failing('engine_crashed', () => true), cacheBytes: 0 });
  await using other = await open(dying, 'many');
  expect(await codeOf(rowsOf(other))).toBe('engine_crashed');
});

test('what was kept of a version goes with it', async () => {
  const store = await bench.open();
  const { contentId } = await put(store, 'many', many);
  await using reader = await open(store, 'many');
  await rowsOf(reader);
  expect(store.cache.hasVersion(contentId)).toBe(true);
  await put(store, 'many', 'SELECT 1 AS a', { mode: 'overwrite' });
  expect(store.cache.hasVersion(contentId)).toBe(false);
  expect(await rowsOf(reader, 5, 10)).toEqual(expected(5, 10));
  expect(store.cache.hasVersion(contentId)).toBe(false);
});
