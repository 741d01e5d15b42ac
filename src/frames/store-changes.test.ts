import { expect, test, vi } from 'vitest';
import { codeOf, never, put, useStoreBench } from '../../test/support/frame-store.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/handle.ts';
import type { FrameChange } from './catalog/frame-changes.ts';
import type { FrameStore } from './store.ts';

const bench = await useStoreBench();
const trades = parseHandle('trades');

async function changesOf(store: FrameStore): Promise<FrameChange[]> {
  const changes: FrameChange[] = [];
  await store.watchAll(anonymous, (change) => changes.push(change), { signal: never });
  return changes;
}

test('a listener hears of puts, appends, overwrites and drops, and of nothing that was there before', async () => {
  const store = await bench.open();
  await put(store, 'before', 'SELECT 1 AS a');
  const changes = await changesOf(store);
  await put(store, 'trades', 'SELECT range AS a FROM range(3)');
  await vi.waitFor(() => expect(changes).toMatchObject([{ kind: 'put', handle: 'trades', rows: 3, rowsAdded: 3 }]));
  await put(store, 'trades', 'SELECT range AS a FROM range(2)', { mode: 'append' });
  await vi.waitFor(() => expect(changes[1]).toMatchObject({ kind: 'append', rows: 5, rowsAdded: 2 }));
  await put(store, 'trades', 'SELECT range AS a FROM range(4)', { mode: 'overwrite' });
  await vi.waitFor(() => expect(changes[2]).toMatchObject({ kind: 'put', rows: 4, rowsAdded: 4 }));
  await store.renew(anonymous, trades, 60_000);
  await store.drop(anonymous, trades);
  await vi.waitFor(() => expect(changes.slice(3)).toEqual([{ kind: 'drop', handle: 'trades' }]));
});

test('changes that come at once wake a listener once, and one that is disposed of never', async () => {
  const store = await bench.open();
  await put(store, 'trades', 'SELECT 1 AS a');
  let wakes = 0;
  const watch = await store.watch(anonymous, trades, () => wakes++);
  const renewals = Array.from({ length: 50 }, (_, n) => store.renew(anonymous, trades, 60_000 + n));
  await Promise.all(renewals);
  await vi.waitFor(() => expect(wakes).toBeGreaterThan(0));
  expect(wakes).toBeLessThan(50);
  watch[Symbol.dispose]();
  const before = wakes;
  const other = await changesOf(store);
  await put(store, 'trades', 'SELECT 2 AS a', { mode: 'append' });
  await vi.waitFor(() => expect(other).toHaveLength(1));
  expect(wakes).toBe(before);
});

test('a frame does not expire while somebody watches it, and has its whole time to live afterwards', async () => {
  let now = 1_000_000;
  const store = await bench.open({ now: () => now });
  await put(store, 'trades', 'SELECT 1 AS a', { ttlMs: 1000 });
  const watch = await store.watch(anonymous, trades, () => {});
  now += 5000;
  expect(await store.describe(anonymous, trades, { signal: never })).toMatchObject({ state: 'held' });
  watch[Symbol.dispose]();
  now += 900;
  expect(await store.describe(anonymous, trades, { signal: never })).toMatchObject({ state: 'held' });
  now += 200;
  expect(await codeOf(store.describe(anonymous, trades, { signal: never }))).toBe('handle_gone');
});
