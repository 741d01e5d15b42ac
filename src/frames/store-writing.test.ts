import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  eventually,
  firstColumn,
  never,
  open,
  put,
  rowsOf,
  useStoreBench,
} from '../../test/support/frame-store.ts';
import { principalOf } from '../../test/support/principals.ts';
import { vectorOf } from '../../test/support/vector-of.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import { definitionOf } from './disk/manifest.ts';

const bench = await useStoreBench();

const trades = parseHandle('trades');

describe('put', () => {
  test('holds rows as one file that carries the handle', async () => {
    const store = await bench.open();
    const held = await put(store, 'trades', 'SELECT range AS n FROM range(5)');
    expect(held).toMatchObject({ handle: 'trades', version: 1, rows: 5, expiresAt: undefined });
    expect(held.columns).toEqual([{ name: 'n', type: { kind: 'int', bits: 64, signed: true } }]);
    expect(await readdir(bench.cold)).toEqual(['.framehold', 'trades.parquet']);
    expect(await firstColumn(store, 'trades')).toEqual([0, 1, 2, 3, 4]);
  });

  test('makes a handle when none is given', async () => {
    const store = await bench.open();
    const source = { kind: 'sql', sql: 'SELECT 1 AS a' } as const;
    const { handle } = await store.put(anonymous, { mode: 'create', source }, { signal: never });
    expect(handle).toMatch(/^f_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(await firstColumn(store, handle)).toEqual([1]);
  });

  test('refuses a taken handle and leaves nothing behind', async () => {
    const store = await bench.open();
    await put(store, 'trades', 'SELECT 1 AS a');
    expect(await codeOf(put(store, 'trades', 'SELECT 2 AS a'))).toBe('handle_exists');
    expect(await firstColumn(store, 'trades')).toEqual([1]);
    expect(await bench.left('tmp')).toEqual([]);
  });

  test('of two creates at once one wins', async () => {
    const store = await bench.open();
    const puts = await Promise.allSettled([put(store, 'x', 'SELECT 1 AS a'), put(store, 'x', 'SELECT 1 AS a')]);
    expect(puts.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await bench.left('tmp')).toEqual([]);
    expect(await bench.left('pending')).toEqual([]);
  });

  test('overwrite by rows that were made of another version is refused, and leaves nothing behind', async () => {
    const store = await bench.open();
    const { versionId } = await put(store, 'trades', 'SELECT 1 AS a');
    const replace = (sql: string) => put(store, 'trades', sql, { mode: 'overwrite', replaces: versionId });
    await put(store, 'trades', 'SELECT 2 AS a', { mode: 'append' });
    expect(await codeOf(replace('SELECT 3 AS a'))).toBe('frame_changed');
    expect(await firstColumn(store, 'trades')).toEqual([1, 2]);
    await store.drop(anonymous, trades);
    expect(await codeOf(replace('SELECT 3 AS a'))).toBe('frame_changed');
    expect(await bench.left('tmp')).toEqual([]);
  });

  test('rows that were made for another definition of the frame are refused', async () => {
    const store = await bench.open();
    const frame = await put(store, 'trades', 'SELECT 1 AS a');
    const { columns, versionId } = frame;
    const before = { columns, declared: undefined, constraints: undefined };
    const constraints = { notNull: ['a'], defaults: [], generated: [], checks: [], unique: [], foreignKeys: [] };
    await store.redefine(anonymous, { handle: trades, before, after: { ...before, constraints } });
    const definition = definitionOf(frame);
    const more = { handle: trades, definition, source: { kind: 'sql', sql: 'SELECT 2 AS a' } } as const;
    const stop = { signal: never };
    const alter = store.put(anonymous, { ...more, mode: 'overwrite', replaces: versionId }, stop);
    expect(await codeOf(alter)).toBe('frame_changed');
    expect(await codeOf(store.put(anonymous, { ...more, mode: 'append' }, stop))).toBe('frame_changed');
    const batch = { columns, rows: 1, vectors: [vectorOf(columns[0]?.type ?? { kind: 'null' }, [2])] };
    const small = { ...more, source: { kind: 'batch', batch }, mode: 'append' } as const;
    expect(await codeOf(store.put(anonymous, small, stop))).toBe('frame_changed');
    expect(await firstColumn(store, 'trades')).toEqual([1]);
    const now = await store.describe(anonymous, trades, stop);
    expect(now).toMatchObject({ constraints });
  });

  test('append of rows that were made for another frame is refused, also where there is none by then', async () => {
    const store = await bench.open();
    const { columns, constraints } = await put(store, 'trades', 'SELECT 1 AS a');
    const definition = definitionOf({ columns, constraints });
    const append = () => put(store, 'trades', 'SELECT 3 AS a', { mode: 'append', definition });
    await append();
    await put(store, 'trades', 'SELECT 2 AS a, 3 AS b', { mode: 'overwrite' });
    expect(await codeOf(append())).toBe('frame_changed');
    await store.drop(anonymous, trades);
    expect(await codeOf(append())).toBe('frame_changed');
    expect(await codeOf(store.describe(anonymous, trades, { signal: never }))).toBe('handle_gone');
    expect(await bench.left('tmp')).toEqual([]);
  });

  test('overwrite makes the next version', async () => {
    const store = await bench.open();
    const first = await put(store, 'trades', 'SELECT 1 AS a');
    const second = await put(store, 'trades', "SELECT 'two' AS b", { mode: 'overwrite' });
    expect(second.version).toBe(2);
    expect(second.versionId).not.toBe(first.versionId);
    expect(await firstColumn(store, 'trades')).toEqual(['two']);
    expect(await bench.left('tmp')).toEqual([]);
  });

  test('append turns the file into a folder of parts and adds to it', async () => {
    const store = await bench.open();
    await put(store, 'trades', 'SELECT 1 AS a');
    await put(store, 'trades', 'SELECT 2 AS a', { mode: 'append' });
    expect(await readdir(bench.path('trades'))).toEqual(['000001.parquet', '000002.parquet']);
    const held = await put(store, 'trades', 'SELECT 3 AS a', { mode: 'append' });
    expect(held).toMatchObject({ version: 3, rows: 3 });
    expect(await readdir(bench.cold)).toEqual(['.framehold', 'trades']);
    expect(await firstColumn(store, 'trades')).toEqual([1, 2, 3]);
  });

  test('appends at the same time all count, each once', async () => {
    const store = await bench.open();
    await put(store, 'trades', 'SELECT 0 AS a');
    await Promise.all([1, 2, 3, 4, 5].map((n) => put(store, 'trades', `SELECT ${n} AS a`, { mode: 'append' })));
    expect((await firstColumn(store, 'trades')).toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('append to nothing makes the frame', async () => {
    const store = await bench.open();
    expect(await put(store, 'trades', 'SELECT 1 AS a', { mode: 'append' })).toMatchObject({ version: 1 });
  });

  test.each([
    ['SELECT 1 AS b', 'column 1 is "a" in the frame and "b" here'],
    ["SELECT 'x' AS a", 'column "a" is int32 in the frame and utf8 here'],
    ['SELECT 1 AS a, 2 AS b', 'column "b" is not in the frame'],
  ])('append refuses other columns: %s', async (sql, message) => {
    const store = await bench.open();
    await put(store, 'trades', 'SELECT 1 AS a');
    await expect(put(store, 'trades', sql, { mode: 'append' })).rejects.toMatchObject({
      code: 'schema_mismatch',
      message: expect.stringContaining(message),
    });
    expect(await firstColumn(store, 'trades')).toEqual([1]);
    expect(await bench.left('tmp')).toEqual([]);
  });

  test('overwrite turns a folder back into a file', async () => {
    const store = await bench.open();
    await put(store, 'trades', 'SELECT 1 AS a');
    await put(store, 'trades', 'SELECT 2 AS a', { mode: 'append' });
    await put(store, 'trades', 'SELECT 3 AS a', { mode: 'overwrite' });
    expect(await readdir(bench.cold)).toEqual(['.framehold', 'trades.parquet']);
    expect(await firstColumn(store, 'trades')).toEqual([3]);
  });

  test('a frame without rows is a frame', async () => {
    const store = await bench.open();
    expect(await put(store, 'none', 'SELECT 1 AS a LIMIT 0')).toMatchObject({ rows: 0 });
    expect(await firstColumn(store, 'none')).toEqual([]);
  });

  test('a failed or aborted put leaves nothing behind', async () => {
    const store = await bench.open();
    expect(await codeOf(put(store, 'x', "SELECT error('no')"))).toBe('invalid_input');
    const controller = new AbortController();
    const sql = 'SELECT sum(a.range * b.range) AS s FROM range(10_000_000) a, range(10_000_000) b';
    const slow = store.put(
      anonymous,
      { handle: parseHandle('x'), mode: 'create', source: { kind: 'sql', sql } },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(new Error('left')), 50);
    await expect(slow).rejects.toThrow();
    expect(await bench.left('tmp')).toEqual([]);
    expect(await codeOf(open(store, 'x'))).toBe('handle_not_found');
  });

  test('the folder of tenants cannot be a frame', async () => {
    const store = await bench.open();
    expect(await codeOf(put(store, 'tenants', 'SELECT 1 AS a'))).toBe('invalid_handle');
  });

  test('tenants have handles of their own, in folders of their own', async () => {
    const store = await bench.open();
    const acme = principalOf('acme');
    await put(store, 'trades', 'SELECT 1 AS a');
    await put(store, 'trades', 'SELECT 2 AS a', { principal: acme });
    await put(store, 'secret', 'SELECT 3 AS a', { principal: acme });
    expect(await codeOf(open(store, 'secret'))).toBe('handle_not_found');
    expect(await firstColumn(store, 'trades', acme)).toEqual([2]);
    expect(await readdir(bench.path('tenants', 'acme'))).toEqual(['.framehold', 'secret.parquet', 'trades.parquet']);
    await bench.close(store);
    const again = await bench.open();
    expect(await again.count()).toBe(3);
  });
});

describe('after a restart', () => {
  test('frames, versions and order of rows are as before, and data files are not opened to know them', async () => {
    const store = await bench.open();
    await put(store, 'a', 'SELECT range AS n FROM range(3)');
    await put(store, 'b', 'SELECT 1 AS n');
    const b = await put(store, 'b', 'SELECT 2 AS n', { mode: 'append' });
    await bench.close(store);
    const again = await bench.open();
    const listed = [];
    for await (const frame of again.list(anonymous)) listed.push(frame);
    expect(listed).toMatchObject([
      { handle: 'a', version: 1, rows: 3 },
      { handle: 'b', version: 2, rows: 2, versionId: b.versionId },
    ]);
    expect(await firstColumn(again, 'a')).toEqual([0, 1, 2]);
    expect(await firstColumn(again, 'b')).toEqual([1, 2]);
  });

  test('a dropped handle is still gone, and its versions go on', async () => {
    const store = await bench.open();
    await put(store, 'trades', 'SELECT 1 AS a');
    await store.drop(anonymous, trades);
    expect(await codeOf(open(store, 'trades'))).toBe('handle_gone');
    expect(await codeOf(store.drop(anonymous, trades))).toBe('handle_gone');
    expect(await readdir(bench.cold)).toEqual(['.framehold']);
    await bench.close(store);
    const again = await bench.open();
    expect(await codeOf(open(again, 'trades'))).toBe('handle_gone');
    expect(await codeOf(open(again, 'never'))).toBe('handle_not_found');
    expect(await put(again, 'trades', 'SELECT 2 AS a')).toMatchObject({ version: 2 });
    expect(await bench.left('tombstones')).toEqual([]);
  });

  test('a frame with a time to live has all of it ahead again', async () => {
    let now = 1_000_000;
    const clock = { now: () => now };
    const store = await bench.open(clock);
    await put(store, 'brief', 'SELECT 1 AS a', { ttlMs: 1000 });
    now += 900;
    await bench.close(store);
    const again = await bench.open(clock);
    now += 900;
    expect(await firstColumn(again, 'brief')).toEqual([1]);
  });

  test('a store is open in a moment and finds a frame before all are loaded', async () => {
    let store = await bench.open();
    await put(store, 'a', 'SELECT 1 AS n');
    const openMs: number[] = [];
    // One of them has the processor for itself.
    while (openMs.length < 20 && Math.min(...openMs) >= 20) {
      await bench.close(store);
      const begun = performance.now();
      store = await bench.open();
      openMs.push(performance.now() - begun);
    }
    expect(Math.min(...openMs)).toBeLessThan(20);
    expect(await firstColumn(store, 'a')).toEqual([1]);
  });
});

describe('drop', () => {
  test('only of the version that the caller means', async () => {
    const store = await bench.open();
    await put(store, 'trades', 'SELECT 1 AS a');
    expect(await codeOf(store.drop(anonymous, trades, { ifVersion: 7 }))).toBe('handle_gone');
    await store.drop(anonymous, trades, { ifVersion: 1 });
    expect(await codeOf(store.describe(anonymous, trades, { signal: never }))).toBe('handle_gone');
  });

  test('a tombstone is forgotten after its time', async () => {
    let now = 1_000_000;
    const options = { now: () => now, tombstoneTtlMs: 1000 };
    const store = await bench.open(options);
    await put(store, 'trades', 'SELECT 1 AS a');
    await store.drop(anonymous, trades);
    await bench.close(store);
    now += 2000;
    await bench.open(options);
    await eventually(async () => (await bench.left('tombstones')).length === 0);
  });
});

describe('time to live', () => {
  test('slides on reads, then the handle is gone with its file', async () => {
    let now = 1_000_000;
    const store = await bench.open({ now: () => now, defaultTtlMs: 1000 });
    expect(await put(store, 'brief', 'SELECT 1 AS a')).toMatchObject({ expiresAt: 1_001_000 });
    now += 900;
    expect(await firstColumn(store, 'brief')).toEqual([1]);
    now += 900;
    expect(await firstColumn(store, 'brief')).toEqual([1]);
    now += 1001;
    await expect(open(store, 'brief')).rejects.toMatchObject({ code: 'handle_gone', message: 'brief has expired' });
    await eventually(async () => !(await readdir(bench.cold)).includes('brief.parquet'));
    expect(await codeOf(open(store, 'brief'))).toBe('handle_gone');
    expect(await put(store, 'brief', 'SELECT 2 AS a')).toMatchObject({ version: 2 });
  });

  test('a frame that somebody was told to be gone does not come back with a restart', async () => {
    let now = 1_000_000;
    const store = await bench.open({ now: () => now, defaultTtlMs: 1000 });
    await put(store, 'brief', 'SELECT 1 AS a');
    now += 1001;
    expect(await codeOf(open(store, 'brief'))).toBe('handle_gone');
    expect(await readdir(bench.cold)).not.toContain('brief.parquet');
    await bench.close(store);
    expect(await codeOf(open(await bench.open({ now: () => now }), 'brief'))).toBe('handle_gone');
  });

  test('a clock set back expires nothing, and an open reader keeps a frame alive', async () => {
    let now = 1_000_000;
    const store = await bench.open({ now: () => now });
    await put(store, 'brief', 'SELECT 1 AS a', { ttlMs: 1000 });
    now -= 500_000;
    expect(await firstColumn(store, 'brief')).toEqual([1]);
    const reader = await open(store, 'brief');
    now += 5000;
    expect(await rowsOf(reader)).toEqual([[1]]);
    await reader[Symbol.asyncDispose]();
    expect(await firstColumn(store, 'brief')).toEqual([1]);
  });

  test('renew starts it again, also with another length, and survives a restart', async () => {
    let now = 1_000_000;
    const clock = { now: () => now };
    const store = await bench.open(clock);
    const brief = parseHandle('brief');
    await put(store, 'brief', 'SELECT 1 AS a', { ttlMs: 1000 });
    now += 900;
    expect(await store.renew(anonymous, brief)).toMatchObject({ expiresAt: now + 1000, version: 1 });
    expect(await store.renew(anonymous, brief, null)).toMatchObject({ expiresAt: undefined });
    now += 1_000_000;
    await bench.close(store);
    const again = await bench.open(clock);
    now += 1_000_000;
    expect(await firstColumn(again, 'brief')).toEqual([1]);
    expect(await again.renew(anonymous, brief, 500)).toMatchObject({ expiresAt: now + 500 });
  });
});

test('a manifest says what it describes and ends with its own checksum', async () => {
  const store = await bench.open();
  await put(store, 'trades', 'SELECT 1 AS a');
  const [body, sum] = (await readFile(bench.path('.framehold', 'manifests', 'trades.json'), 'utf8')).split('\n');
  expect(JSON.parse(body ?? '')).toMatchObject({ format: 2, handle: 'trades', parts: [{ file: 'trades.parquet' }] });
  expect(sum).toMatch(/^[0-9a-f]{64}$/);
});
