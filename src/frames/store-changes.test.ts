import { expect, test } from 'vitest';
import { codeOf, never, put, useStoreBench } from '../../test/support/frame-store.ts';
import { soon } from '../../test/support/soon.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import { type FrameChange, FrameChanges } from './catalog/frame-changes.ts';
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
  await soon(() => expect(changes).toMatchObject([{ kind: 'put', handle: 'trades', rows: 3, rowsAdded: 3 }]));
  await put(store, 'trades', 'SELECT range AS a FROM range(2)', { mode: 'append' });
  await soon(() => expect(changes[1]).toMatchObject({ kind: 'append', rows: 5, rowsAdded: 2 }));
  await put(store, 'trades', 'SELECT range AS a FROM range(4)', { mode: 'overwrite' });
  await soon(() => expect(changes[2]).toMatchObject({ kind: 'put', rows: 4, rowsAdded: 4 }));
  await store.renew(anonymous, trades, 60_000);
  await store.drop(anonymous, trades);
  await soon(() => expect(changes.slice(3)).toEqual([{ kind: 'drop', handle: 'trades' }]));
});

test('changes that come at once wake a listener once, and one that is disposed of never', async () => {
  using changes = new FrameChanges();
  const gone = { kind: 'gone', tombstone: { handle: trades, version: 1, at: 0, reason: 'dropped' } } as const;
  const wakes = { first: 0, second: 0 };
  const first = changes.watch(trades, () => wakes.first++);
  const second = changes.watch(trades, () => wakes.second++);
  for (let n = 0; n < 1000; n++) changes.changed(trades, gone, undefined);
  await soon(() => expect(wakes).toEqual({ first: 1, second: 1 }));
  second[Symbol.dispose]();
  changes.changed(trades, undefined, gone);
  await soon(() => expect(wakes).toEqual({ first: 2, second: 1 }));
  expect(changes.isWatched(trades)).toBe(true);
  first[Symbol.dispose]();
  expect(changes.isWatched(trades)).toBe(false);
});

test('a frame does not expire while somebody watches it, and has its whole time to live afterwards', async () => {
  let now = 1_000_000;
  const store = await bench.open({ now: () => now });
  await put(store, 'trades', 'SELECT 1 AS a', { ttlMs: 1000 });
  const watch = await store.watch(anonymous, trades, () => {}, { signal: never });
  now += 5000;
  expect(await store.describe(anonymous, trades, { signal: never })).toMatchObject({ state: 'held' });
  watch[Symbol.dispose]();
  now += 900;
  expect(await store.describe(anonymous, trades, { signal: never })).toMatchObject({ state: 'held' });
  now += 200;
  expect(await codeOf(store.describe(anonymous, trades, { signal: never }))).toBe('handle_gone');
});
