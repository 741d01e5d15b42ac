import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  counting,
  eventually,
  firstColumn,
  never,
  open,
  put,
  rowsOf,
  useStoreBench,
} from '../../test/support/frame-store.ts';
import { principalOf } from '../../test/support/principals.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import type { FrameStore } from './store.ts';

const bench = await useStoreBench();

const x = parseHandle('x');
const withinMs = 5000;

describe('two stores of one directory', () => {
  test('hold what the other has put, at once', async () => {
    const [one, other] = [await bench.open(), await bench.open()];
    await put(one, 'x', 'SELECT 1 AS a');
    expect(await firstColumn(other, 'x')).toEqual([1]);
    const acme = principalOf('acme');
    await put(one, 'x', 'SELECT 2 AS a', { principal: acme });
    expect(await firstColumn(other, 'x', acme)).toEqual([2]);
  });

  test('show within a second what the other overwrote, appended, renewed and dropped', async () => {
    const [one, other] = [await bench.open(), await bench.open()];
    await put(one, 'x', 'SELECT 1 AS a');
    await firstColumn(other, 'x');
    expect(other.peek(anonymous, x)).toBeDefined();

    await put(one, 'x', 'SELECT 2 AS a', { mode: 'overwrite' });
    await eventually(async () => (await firstColumn(other, 'x')).join() === '2', withinMs);
    await put(one, 'x', 'SELECT 3 AS a', { mode: 'append' });
    await eventually(async () => (await firstColumn(other, 'x')).join() === '2,3', withinMs);
    const { versionId } = await put(one, 'x', 'SELECT 4 AS a', { mode: 'append' });
    await eventually(async () => {
      const known = other.peek(anonymous, x);
      return known === undefined || known === versionId;
    }, withinMs);
    await one.renew(anonymous, x, 60_000);
    await eventually(async () => {
      const summary = await other.describe(anonymous, x, { signal: never });
      return summary.state === 'held' && summary.ttlMs === 60_000;
    }, withinMs);
    await one.drop(anonymous, x);
    await eventually(async () => other.peek(anonymous, x) === undefined, withinMs);
    expect(await codeOf(open(other, 'x'))).toBe('handle_gone');
  });

  test('give a handle to one of those who create it, and let all appends land, under versions that go up', async () => {
    const stores = [await bench.open(), await bench.open(), await bench.open()];
    const made = await Promise.allSettled(stores.map((store, at) => put(store, 'x', `SELECT ${at} AS a`)));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of made) if (one.status === 'rejected') expect(one.reason.code).toBe('handle_exists');
    const appends = Array.from({ length: 12 }, (_, at) => {
      return put(stores[at % 3] as (typeof stores)[0], 'x', `SELECT ${10 + at} AS a`, { mode: 'append' });
    });
    const versions = (await Promise.all(appends)).map(({ version }) => version);
    expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, at) => 2 + at));
    const rows = async () => (await firstColumn(stores[0] as (typeof stores)[0], 'x')).slice(1);
    await eventually(async () => (await rows()).length === 12, withinMs);
    expect((await rows()).sort()).toEqual(Array.from({ length: 12 }, (_, at) => 10 + at));
  });

  test('go on with a version across drops at either', async () => {
    const [one, other] = [await bench.open(), await bench.open()];
    await put(one, 'x', 'SELECT 1 AS a');
    await other.drop(anonymous, x);
    expect((await put(one, 'x', 'SELECT 2 AS a')).version).toBe(2);
    expect(await other.drop(anonymous, x)).toBe(2);
    expect((await put(other, 'x', 'SELECT 3 AS a')).version).toBe(3);
  });

  test.each([
    ['overwrites', (store) => put(store, 'x', 'SELECT 9 AS a', { mode: 'overwrite' })],
    ['appends', (store) => put(store, 'x', 'SELECT 9 AS a', { mode: 'append' })],
    ['drops', (store) => store.drop(anonymous, x)],
  ] as readonly [string, (store: FrameStore) => Promise<unknown>][])(
    'let a reader end its version while the other %s',
    async (_what, change) => {
      const [one, other] = [await bench.open(), await bench.open()];
      await put(one, 'x', 'SELECT range::INT AS a FROM range(3)');
      await firstColumn(other, 'x');
      await using reader = await open(other, 'x');
      await change(one);
      await bench.close(one);
      other.cache.deleteVersion(reader.versionId);
      expect(await rowsOf(reader)).toEqual([[0], [1], [2]]);
    },
  );

  test('leave the files alone that the other is writing or reading', async () => {
    const one = await bench.open();
    await put(one, 'x', 'SELECT 1 AS a');
    await using reader = await open(one, 'x');
    await using file = await one.temporaryFile(anonymous);
    await writeFile(file.path, 'half');
    const before = [await bench.left('tmp'), await bench.left('pins')];
    const other = await bench.open();
    expect(await other.count()).toBe(1);
    for await (const _ of other.list(anonymous));
    expect([await bench.left('tmp'), await bench.left('pins')]).toEqual(before);
    expect(await rowsOf(reader)).toEqual([[1]]);
  });

  test('keep a frame alive that is read at either', async () => {
    const [one, other] = [await bench.open(), await bench.open()];
    await put(one, 'x', 'SELECT 1 AS a', { ttlMs: 1500 });
    const end = performance.now() + 5000;
    while (performance.now() < end) {
      expect(await firstColumn(other, 'x')).toEqual([1]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await eventually(async () => (await bench.left('tombstones')).length === 1);
    expect(await codeOf(open(other, 'x'))).toBe('handle_gone');
  });

  test('do not read whole files again because the other reads them', async () => {
    const { engine, calls } = counting(bench.engine);
    const [one, other] = [await bench.open({ engine, cacheBytes: 0 }), await bench.open()];
    // Larger than files that are hashed without the engine.
    await put(one, 'x', 'SELECT random() AS a FROM range(40_000)');
    const readAtBoth = async (): Promise<void> => {
      expect(await firstColumn(other, 'x')).toHaveLength(40_000);
      expect(await firstColumn(one, 'x')).toHaveLength(40_000);
      await eventually(async () => (await bench.left('pins')).length === 0);
    };
    // Before it knows the other process it takes its links for those of a stranger.
    await readAtBoth();
    const before = calls.hasChecksum;
    await readAtBoth();
    await readAtBoth();
    expect(calls.hasChecksum).toBe(before);
  });
});

test('a store that was taken for dead changes nothing any more, begins anew, and shows what others did', async () => {
  const [one, other] = [await bench.open(), await bench.open()];
  await put(one, 'x', 'SELECT 1 AS a');
  const processes = bench.path('.framehold', 'leases');
  const own = await ownOf(one);
  await rename(`${processes}/${own}.living`, `${processes}/${own}.ended`);
  await eventually(async () => !(await readdir(bench.path('.framehold', 'tmp'))).includes(own));
  await put(other, 'x', 'SELECT 2 AS a', { mode: 'overwrite' });
  await eventually(
    async () => (await put(one, 'x', 'SELECT 3 AS a', { mode: 'append' }).catch(() => undefined)) !== undefined,
  );
  expect(await firstColumn(one, 'x')).toEqual([2, 3]);
  await eventually(async () => (await firstColumn(other, 'x')).join() === '2,3', withinMs);
});

test('a lock of which nobody knows the owner holds nobody up for long', async () => {
  const store = await bench.open();
  await put(store, 'y', 'SELECT 1 AS a');
  await mkdir(bench.path('.framehold', 'locks', 'x'), { recursive: true });
  await writeFile(bench.path('.framehold', 'locks', 'x', '1-UNKNOWN'), '');
  const begun = performance.now();
  await put(store, 'x', 'SELECT 1 AS a');
  expect(performance.now() - begun).toBeLessThan(3000);
  expect(await readdir(bench.path('.framehold', 'locks'))).toEqual([]);
});

test('the last to close leaves nothing of its own', async () => {
  const [one, other] = [await bench.open(), await bench.open()];
  await put(one, 'x', 'SELECT 1 AS a');
  await put(other, 'y', 'SELECT 1 AS a');
  await bench.close(one);
  await eventually(async () => (await readdir(bench.path('.framehold', 'leases'))).length <= 2);
  await bench.close(other);
  expect(await readdir(bench.path('.framehold', 'tmp'))).toEqual([]);
  expect(await readdir(bench.path('.framehold', 'locks'))).toEqual([]);
});

/** The name under which a store serves the directory: of the folder where its temporary files are. */
async function ownOf(store: FrameStore): Promise<string> {
  await using file = await store.temporaryFile(anonymous);
  return file.path.split('/').at(-2) as string;
}
