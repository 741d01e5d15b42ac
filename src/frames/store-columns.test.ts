import { rename } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { codeOf, eventually, never, open, put, rowsOf, useStoreBench } from '../../test/support/frame-store.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import type { FrameStore } from './store.ts';

const bench = await useStoreBench();
const x = parseHandle('x');
const lasting = { standstillMs: 600_000 } as const;

function widen(store: FrameStore, sql: string) {
  const request = { handle: x, mode: 'append', addsColumns: true, source: { kind: 'sql', sql } } as const;
  return store.put(anonymous, request, { signal: never });
}

async function rows(store: FrameStore): Promise<unknown[][]> {
  await using reader = await open(store, 'x');
  return rowsOf(reader);
}

/** Three versions of columns: one, then two, then three. */
async function putWidening(store: FrameStore): Promise<void> {
  await put(store, 'x', 'SELECT 1::INTEGER AS a');
  await put(store, 'x', 'SELECT 2::INTEGER AS a', { mode: 'append' });
  await widen(store, "SELECT 3::INTEGER AS a, 'three' AS b");
  await widen(store, "SELECT 4::INTEGER AS a, 'four' AS b, [4] AS c");
  await put(store, 'x', 'SELECT 5::INTEGER AS a, NULL::VARCHAR AS b, [5] AS c', { mode: 'append' });
}
const widened = [
  [1, null, null],
  [2, null, null],
  [3, 'three', null],
  [4, 'four', [4]],
  [5, null, [5]],
];

test('columns are added behind those of the frame, NULL in older rows, under the same lineage', async () => {
  const store = await bench.open({ ...lasting, cacheBytes: 0 });
  const first = await put(store, 'x', 'SELECT range::INTEGER AS a FROM range(3)');
  await using before = await open(store, 'x');
  const wider = await widen(store, "SELECT 3::INTEGER AS a, 'text' AS b, 1.5::DECIMAL(9,2) AS c");
  expect(wider.columns.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(wider).toMatchObject({ version: 2, rows: 4, lineage: first.lineage });
  expect(await rowsOf(before)).toEqual([[0], [1], [2]]);
  expect(await rows(store)).toEqual([
    [0, null, null],
    [1, null, null],
    [2, null, null],
    [3, 'text', expect.anything()],
  ]);
  await using reader = await open(store, 'x');
  expect(await rowsOf(reader, 1, 2)).toEqual([[1, null, null]]);
  expect(await rowsOf(reader, 2, 4)).toHaveLength(2);
});

test('older parts stay narrow through appends and a restart, and become wide when they are merged', async () => {
  let store = await bench.open(lasting);
  await putWidening(store);
  expect(await rows(store)).toEqual(widened);
  await bench.close(store);
  store = await bench.open({ ...lasting, cacheBytes: 0 });
  expect(await rows(store)).toEqual(widened);
  const later = [6, 7, 8, 9].map((n) => [n, 'more', [n]]);
  for (const [n] of later) {
    await put(store, 'x', `SELECT ${n}::INTEGER AS a, 'more' AS b, [${n}] AS c`, { mode: 'append' });
  }
  await bench.close(store);
  store = await bench.open({ standstillMs: 10, cacheBytes: 0 });
  await eventually(async () => {
    await using frame = await store.openParts(anonymous, { handle: x, from: 0, to: 9 }, { signal: never });
    return frame.source.parts.length === 1 && frame.source.parts[0]?.columnCount === undefined;
  }, 15_000);
  expect(await rows(store)).toEqual([...widened, ...later]);
});

test('a frame of narrow and wide parts that was moved by hand is known again', async () => {
  const store = await bench.open(lasting);
  await putWidening(store);
  await bench.close(store);
  await rename(bench.path('x'), bench.path('y'));
  const again = await bench.open(lasting);
  await eventually(
    async () => (await codeOf(open(again, 'y').then(() => Promise.reject({ code: 'held' })))) === 'held',
  );
  await using moved = await open(again, 'y');
  expect(await rowsOf(moved)).toEqual(widened);
  await bench.close(again);
  await rename(bench.path('y'), bench.path('x'));
  const last = await bench.open(lasting);
  await eventually(async () => (await rows(last).catch(() => [])).length === 5);
  expect(await rows(last)).toEqual(widened);
});

test('columns are added to a frame that is not there yet by making it', async () => {
  const store = await bench.open(lasting);
  expect(await widen(store, 'SELECT 1 AS a, 2 AS b')).toMatchObject({ version: 1, rows: 1 });
});

test.each([
  ['other columns first', 'SELECT 1 AS b, 2::INTEGER AS a'],
  ['fewer columns', "SELECT 'text' AS t"],
  ['another type', "SELECT 'text' AS a, 1 AS b"],
  ['a name that differs from another only in case', 'SELECT 1::INTEGER AS a, 2 AS "A"'],
])('rows with %s are refused', async (_, sql) => {
  const store = await bench.open(lasting);
  await put(store, 'x', 'SELECT 1::INTEGER AS a');
  expect(await codeOf(widen(store, sql))).toBe('schema_mismatch');
  expect(await rows(store)).toEqual([[1]]);
});

test('rows of fewer columns than the frame has by now are refused', async () => {
  const store = await bench.open(lasting);
  await put(store, 'x', 'SELECT 1::INTEGER AS a');
  await widen(store, 'SELECT 2::INTEGER AS a, 3 AS b');
  expect(await codeOf(put(store, 'x', 'SELECT 4::INTEGER AS a', { mode: 'append' }))).toBe('schema_mismatch');
});
