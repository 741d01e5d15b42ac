import { open as openFile, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  append,
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
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import type { FrameEngine } from '../core/rows/frame-engine.ts';
import { definitionOf } from './disk/manifest.ts';
import type { FrameStore } from './store.ts';

const bench = await useStoreBench();
let store: FrameStore;
beforeEach(async () => {
  store = await bench.open();
  await append(store, 'x', [0]);
});

const x = parseHandle('x');
const logs = (): string => bench.path('.framehold', 'logs', 'x');
const logFiles = (): Promise<string[]> => readdir(logs()).catch(() => []);
const parts = async (): Promise<string[]> => (await readdir(bench.path('x')).catch(() => [])).sort();

async function reopened(): Promise<FrameStore> {
  await bench.close(store);
  store = await bench.open();
  return store;
}

async function held(): Promise<{ readonly rows: number; readonly version: number; readonly versionId: string }> {
  const summary = await store.describe(anonymous, x, { signal: never });
  if (summary.state !== 'held') throw new Error(summary.reason);
  return summary;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

test('appends to many frames keep few of their logs open, and are all there after a restart', async () => {
  await bench.close(store);
  store = await bench.open({ mostOpenLogs: 4 });
  const handles = range(0, 100).map((index) => `many${index}`);
  let mostOpen = 0;
  for (const value of [0, 1]) {
    for (const group of inGroups(handles, 20)) {
      await Promise.all(group.map((handle) => append(store, handle, [value])));
      mostOpen = Math.max(mostOpen, await openLogs());
    }
  }
  expect(mostOpen).toBe(4);
  await reopened();
  for (const handle of handles) expect(await firstColumn(store, handle)).toEqual([0, 1]);
});

/** Of this process, in the directory of the test. */
async function openLogs(): Promise<number> {
  const files = await Promise.all(
    (await readdir('/proc/self/fd')).map((file) => readlink(`/proc/self/fd/${file}`).catch(() => '')),
  );
  return files.filter((file) => file.startsWith(bench.path('.framehold', 'logs'))).length;
}

function inGroups<T>(all: readonly T[], size: number): T[][] {
  return range(0, Math.ceil(all.length / size)).map((at) => all.slice(at * size, (at + 1) * size));
}

describe('rows that are appended', () => {
  test('are there at once, without a file for each append, and after a restart', async () => {
    for (const value of range(1, 50)) await append(store, 'x', [value]);
    expect(await firstColumn(store, 'x')).toEqual(range(0, 50));
    expect(await logFiles()).toHaveLength(1);
    expect(await parts()).toEqual([]);
    const before = await held();
    expect(before).toMatchObject({ rows: 50, version: 50 });
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual(range(0, 50));
    expect(await held()).toMatchObject({ version: before.version, versionId: before.versionId });
  });

  test('are acknowledged in the order of their rows, many by one write', async () => {
    const results = await Promise.all(range(1, 300).map((value) => append(store, 'x', [value])));
    expect(await firstColumn(store, 'x')).toEqual(range(0, 300));
    const versions = results.map(({ version }) => version);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBeLessThan(100);
  });

  test('are refused where they were made for other columns than the frame has by then', async () => {
    const { columns } = await append(store, 'x', [1]);
    const definition = definitionOf({ columns });
    await append(store, 'x', [2], { definition });
    expect(await codeOf(append(store, 'x', [3], { definition: definitionOf({ columns: [] }) }))).toBe('frame_changed');
    await store.drop(anonymous, x);
    expect(await codeOf(append(store, 'x', [3], { definition }))).toBe('frame_changed');
    expect(await codeOf(store.describe(anonymous, x, { signal: never }))).toBe('handle_gone');
  });

  test('come in any range and form, across the border of Parquet and log', async () => {
    await append(store, 'x', range(1, 1000));
    await store.flush(anonymous, x);
    await append(store, 'x', range(1000, 2000));
    await using reader = await open(store, 'x');
    for (const [from, to] of [
      [0, 2000],
      [990, 1010],
      [1500, 1501],
      [1999, 3000],
    ] as const) {
      expect((await rowsOf(reader, from, to)).map(([first]) => first)).toEqual(range(from, Math.min(2000, to)));
    }
    const lines: Uint8Array[] = [];
    for await (const { bytes } of reader.rowsEncoded('ndjson', 998, 1002, { signal: never }, [1])) lines.push(bytes);
    expect(Buffer.concat(lines).toString()).toBe(
      range(998, 1002)
        .map((n) => `{"t":"row ${n}"}\n`)
        .join(''),
    );
  });

  test('are read as files by those who read files, and the files go', async () => {
    await append(store, 'x', [1, 2]);
    {
      await using reader = await open(store, 'x');
      const sources = await reader.sources();
      expect(sources.map(({ rows }) => rows)).toEqual([1, 2]);
      await append(store, 'x', [3]);
      await using later = await open(store, 'x');
      const more = await later.sources();
      expect(more.map(({ rows }) => rows)).toEqual([1, 2, 1]);
      expect(more[1]).toEqual(sources[1]);
      await store.flush(anonymous, x);
      for (const { path } of more) await stat(path);
    }
    {
      await append(store, 'x', [4]);
      await using early = await open(store, 'x');
      await using late = await open(store, 'x');
      await early.sources();
      await store.flush(anonymous, x);
      expect((await late.sources()).reduce((sum, { rows }) => sum + rows, 0)).toBe(5);
    }
    await eventually(async () => (await bench.left('pins')).length === 0);
    await append(store, 'x', [5]);
    await using last = await open(store, 'x');
    expect((await last.sources()).reduce((sum, { rows }) => sum + rows, 0)).toBe(6);
  });

  test('stay as they were for a reader that has begun', async () => {
    await append(store, 'x', [1]);
    await using reader = await open(store, 'x');
    await append(store, 'x', [2]);
    await store.flush(anonymous, x);
    await put(store, 'x', 'SELECT 9 AS a', { mode: 'overwrite' });
    expect((await rowsOf(reader)).map(([first]) => first)).toEqual([0, 1]);
  });

  test('do not let a frame expire under a reader that began before them', async () => {
    let now = 1_000_000;
    await bench.close(store);
    store = await bench.open({ now: () => now });
    await store.renew(anonymous, x, 60_000);
    const reader = await open(store, 'x');
    await append(store, 'x', [1]);
    now += 61_000;
    expect(await firstColumn(store, 'x')).toEqual([0, 1]);
    await reader[Symbol.asyncDispose]();
    now += 61_000;
    expect(await codeOf(firstColumn(store, 'x'))).toBe('handle_gone');
  });

  test('of other columns are refused, and the others of the same moment are not', async () => {
    await put(store, 'y', 'SELECT 1::INTEGER AS a, 2 AS b');
    const codes = await Promise.allSettled([append(store, 'y', [1]), append(store, 'x', [1])]);
    expect(codes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await codeOf(append(store, 'y', [1]))).toBe('schema_mismatch');
  });

  test('that find no room are refused alone, not with those that come at the same moment', async () => {
    await bench.close(store);
    store = await bench.open({ limitsOf: async () => ({ maxBytes: 20_000, maxFrames: undefined }) });
    const ended = await Promise.allSettled([
      append(store, 'x', [1]),
      append(store, 'x', range(0, 10_000)),
      append(store, 'x', [2]),
    ]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ended[1]).toMatchObject({ reason: { code: 'quota_exceeded' } });
    expect(await firstColumn(store, 'x')).toEqual([0, 1, 2]);
  });

  test('do not keep other frames waiting that share a limit with theirs', async () => {
    await bench.close(store);
    store = await bench.open({ limitsOf: async () => ({ maxBytes: 1_000_000_000, maxFrames: undefined }) });
    await append(store, 'y', [0]);
    let isOver = false;
    let appends = 0;
    const appending = (async () => {
      for (; !isOver; appends++) await append(store, 'x', [1]);
    })();
    await eventually(async () => appends > 0);
    const before = appends;
    await append(store, 'y', [1]);
    expect(appends - before).toBeLessThan(100);
    isOver = true;
    await appending;
  });

  test('renew the time to live, and are gone with a frame that is dropped or replaced', async () => {
    await append(store, 'x', [1]);
    await put(store, 'x', "SELECT 7::INTEGER AS a, 'row 7' AS t", { mode: 'overwrite' });
    expect(await logFiles()).toEqual([]);
    await append(store, 'x', [8]);
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([7, 8]);
    const { version } = await held();
    await store.drop(anonymous, x);
    expect(await logFiles()).toEqual([]);
    await append(store, 'x', [1]);
    expect(await firstColumn(store, 'x')).toEqual([1]);
    expect((await held()).version).toBe(version + 1);
  });
});

describe('a flush', () => {
  test('leaves the frame the same, for those with whom it is shared', async () => {
    const { origin } = await store.flush(anonymous, x);
    await append(store, 'x', [1, 2]);
    expect(await store.flush(anonymous, x)).toMatchObject({ rows: 3, origin });
  });

  test('brings all rows into Parquet, changes neither rows nor version, and removes the log', async () => {
    await append(store, 'x', range(1, 10));
    const before = await held();
    await store.flush(anonymous, x);
    expect(await held()).toMatchObject({ rows: 10, version: before.version, versionId: before.versionId });
    expect(await parts()).toEqual(['000001.parquet', '000002.parquet']);
    expect(await logFiles()).toEqual([]);
    await store.flush(anonymous, x);
    expect(await parts()).toHaveLength(2);
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual(range(0, 10));
  });

  test('beside appends loses none of them', async () => {
    let isOver = false;
    const appending = (async () => {
      for (let value = 1; !isOver || value < 20; value++) await append(store, 'x', [value]);
    })();
    for (let i = 0; i < 5; i++) await store.flush(anonymous, x);
    isOver = true;
    await appending;
    const { rows } = await held();
    expect(await firstColumn(store, 'x')).toEqual(range(0, rows));
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual(range(0, rows));
  });

  test('comes by itself where a log is large', async () => {
    const many = range(0, 20_000);
    for (let i = 0; i < 15; i++) await append(store, 'x', many);
    await eventually(async () => (await parts()).length > 1, 20_000);
    expect((await held()).rows).toBe(300_001);
  });

  test('that fails leaves the rows where they are, and the next one brings them', async () => {
    const { engine } = counting(bench.engine);
    let fails = true;
    await bench.close(store);
    store = await bench.open({
      engine: {
        ...engine,
        write: async (...args) => {
          if (fails) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
          return engine.write(...args);
        },
      },
    });
    await append(store, 'x', [1]);
    await expect(store.flush(anonymous, x)).rejects.toThrow('no space');
    expect(await firstColumn(store, 'x')).toEqual([0, 1]);
    fails = false;
    await store.flush(anonymous, x);
    expect(await firstColumn(store, 'x')).toEqual([0, 1]);
    expect(await logFiles()).toEqual([]);
  });

  test('of a frame that is not there says so', async () => {
    expect(await codeOf(store.flush(anonymous, parseHandle('nothing')))).toBe('handle_not_found');
  });
});

describe('an append that is no batch', () => {
  test('comes behind what is in the log', async () => {
    await append(store, 'x', [1]);
    await put(store, 'x', "SELECT 2::INTEGER AS a, 'row 2' AS t", { mode: 'append' });
    await append(store, 'x', [3]);
    expect(await firstColumn(store, 'x')).toEqual([0, 1, 2, 3]);
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([0, 1, 2, 3]);
    expect((await held()).version).toBe(4);
  });
});

describe('a log on the disk', () => {
  async function only(): Promise<string> {
    const [name = ''] = await logFiles();
    return `${logs()}/${name}`;
  }

  test('that was cut off anywhere in its last record gives the records before', async () => {
    for (const value of [1, 2, 3]) await append(store, 'x', [value]);
    await bench.close(store);
    const whole = await readFile(await only());
    const path = await only();
    for (const cut of [1, 7, 8, 100, 300]) {
      await writeFile(path, whole.subarray(0, whole.length - cut));
      store = await bench.open();
      expect(await firstColumn(store, 'x')).toEqual([0, 1, 2]);
      await append(store, 'x', [9]);
      expect(await firstColumn(store, 'x')).toEqual([0, 1, 2, 9]);
      await reopened();
      expect(await firstColumn(store, 'x')).toEqual([0, 1, 2, 9]);
      await bench.close(store);
      for (const name of await logFiles()) await rm(`${logs()}/${name}`);
    }
  });

  test('whose bytes were changed in the middle is not served, and the frame can be replaced', async () => {
    for (const value of [1, 2, 3]) await append(store, 'x', [value]);
    await bench.close(store);
    const file = await openFile(await only(), 'r+');
    const { size } = await file.stat();
    await file.write(Buffer.from([255, 254, 253]), 0, 3, Math.floor(size / 2));
    await file.close();
    store = await bench.open();
    expect(await codeOf(firstColumn(store, 'x'))).toBe('frame_damaged');
    expect(await codeOf(append(store, 'x', [4]))).toBe('frame_damaged');
    await put(store, 'x', 'SELECT 5 AS a', { mode: 'overwrite' });
    expect(await firstColumn(store, 'x')).toEqual([5]);
  });

  test('without a readable beginning goes with the frame that is replaced', async () => {
    await append(store, 'x', [1]);
    await bench.close(store);
    const file = await openFile(await only(), 'r+');
    await file.write(Buffer.from([255, 254, 253]), 0, 3, 20);
    await file.close();
    store = await bench.open();
    expect(await codeOf(firstColumn(store, 'x'))).toBe('frame_damaged');
    await put(store, 'x', 'SELECT 5 AS a', { mode: 'overwrite' });
    await reopened();
    expect(await firstColumn(store, 'x')).toEqual([5]);
  });

  test('in which a length was changed is not taken for one that was cut off', async () => {
    for (const value of [1, 2, 3]) await append(store, 'x', [value]);
    await bench.close(store);
    const path = await only();
    const bytes = await readFile(path);
    const behind = (at: number): number => at + 8 + bytes.readUInt32LE(at);
    const second = behind(behind(8));
    for (const length of [0, 100_000, 2 ** 31, bytes.length - second - 8]) {
      const changed = Buffer.from(bytes);
      changed.writeUInt32LE(length, second);
      await writeFile(path, changed);
      store = await bench.open();
      expect(await codeOf(firstColumn(store, 'x'))).toBe('frame_damaged');
      await bench.close(store);
    }
  });
});

test('a frame whose manifest is damaged is not served without the rows of its log', async () => {
  await append(store, 'x', [1, 2]);
  await bench.close(store);
  await writeFile(bench.path('.framehold', 'manifests', 'x.json'), 'torn');
  store = await bench.open();
  expect(await codeOf(firstColumn(store, 'x'))).toBe('frame_damaged');
  expect(await codeOf(append(store, 'x', [3]))).toBe('frame_damaged');
  expect(await logFiles()).toHaveLength(1);
  await put(store, 'x', 'SELECT 5 AS a', { mode: 'overwrite' });
  await reopened();
  expect(await firstColumn(store, 'x')).toEqual([5]);
});

describe('producers', () => {
  const producer = (seq: number, epoch = 0) => ({ producer: { id: 'p', epoch, seq } });

  test('may send again what was acknowledged, also after a flush and a restart', async () => {
    await append(store, 'x', [1], producer(0));
    await append(store, 'x', [2], producer(1));
    expect(await append(store, 'x', [2], producer(1))).toMatchObject({ isRepeated: true, rowsPut: 0, rows: 3 });
    await store.flush(anonymous, x);
    expect(await append(store, 'x', [1], producer(0))).toMatchObject({ isRepeated: true });
    await append(store, 'x', [3], producer(2));
    await reopened();
    expect(await append(store, 'x', [3], producer(2))).toMatchObject({ isRepeated: true });
    expect(await firstColumn(store, 'x')).toEqual([0, 1, 2, 3]);
  });

  test('may append nothing, and it counts also after a flush, a restart and at another server', async () => {
    const other = await bench.open();
    expect(await firstColumn(other, 'x')).toEqual([0]);
    await append(store, 'x', [], producer(0));
    const { version } = await held();
    await store.flush(anonymous, x);
    expect(await logFiles()).toEqual([]);
    expect((await held()).version).toBe(version);
    expect(await append(store, 'x', [], producer(0))).toMatchObject({ isRepeated: true });
    expect(await append(other, 'x', [], producer(0))).toMatchObject({ isRepeated: true });
    await append(other, 'x', [1], producer(1));
    await reopened();
    expect(await append(store, 'x', [1], producer(1))).toMatchObject({ isRepeated: true });
    expect(await firstColumn(store, 'x')).toEqual([0, 1]);
  });

  test('that leave a number out, or are of an epoch of before, are refused', async () => {
    await append(store, 'x', [1], producer(0));
    await expect(append(store, 'x', [2], producer(2))).rejects.toThrow('the next number of epoch 0 is 1');
    await append(store, 'x', [2], producer(0, 1));
    expect(await codeOf(append(store, 'x', [3], producer(1, 0)))).toBe('producer_fenced');
    expect(await firstColumn(store, 'x')).toEqual([0, 1, 2]);
  });
});

describe('two stores of one directory', () => {
  test('append by turns, and each shows within a second what the other appended', async () => {
    const other = await bench.open();
    expect(await firstColumn(other, 'x')).toEqual([0]);
    for (const value of range(1, 10)) await append(value % 2 === 0 ? store : other, 'x', [value]);
    for (const each of [store, other]) {
      await eventually(async () => (await firstColumn(each, 'x')).length === 10);
      expect(await firstColumn(each, 'x')).toEqual(range(0, 10));
    }
    await Promise.all([other.flush(anonymous, x), ...range(10, 20).map((value) => append(store, 'x', [value]))]);
    await eventually(async () => (await firstColumn(other, 'x')).length === 20);
    expect(await firstColumn(other, 'x')).toEqual(range(0, 20));
    expect(await firstColumn(store, 'x')).toEqual(range(0, 20));
  });

  test('keep rows that one appends while the other brings earlier ones into Parquet', async () => {
    let goOn = (): void => {};
    const other = await bench.open({
      engine: {
        ...counting(bench.engine).engine,
        write: async (...args) => {
          await new Promise<void>((resolve) => {
            goOn = resolve;
            begun();
          });
          return bench.engine.write(...args);
        },
      },
    });
    let begun = (): void => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    await append(store, 'x', [1]);
    await eventually(async () => (await firstColumn(other, 'x')).length === 2);
    const flushing = other.flush(anonymous, x);
    await hasBegun;
    await append(store, 'x', [2]);
    goOn();
    await flushing;
    await append(store, 'x', [3]);
    for (const each of [store, other]) {
      await eventually(async () => (await firstColumn(each, 'x')).length === 4);
      expect(await firstColumn(each, 'x')).toEqual([0, 1, 2, 3]);
    }
    await bench.closeAll();
    store = await bench.open();
    expect(await firstColumn(store, 'x')).toEqual([0, 1, 2, 3]);
  });

  test('bring all rows into Parquet by a flush, also where the other has brought some of them meanwhile', async () => {
    const held = (): { readonly engine: FrameEngine; readonly begun: Promise<void>; readonly goOn: () => void } => {
      const begun = signalled();
      const goOn = signalled();
      const write: FrameEngine['write'] = async (...args) => {
        begun.signal();
        await goOn.promise;
        return bench.engine.write(...args);
      };
      return { engine: { ...counting(bench.engine).engine, write }, begun: begun.promise, goOn: goOn.signal };
    };
    const [first, second] = [held(), held()];
    const one = await bench.open({ engine: first.engine });
    const other = await bench.open({ engine: second.engine });
    await append(store, 'x', [1]);
    const flushing = one.flush(anonymous, x);
    await first.begun;
    await append(store, 'x', [2]);
    const flushingAll = other.flush(anonymous, x);
    await second.begun;
    first.goOn();
    await flushing;
    second.goOn();
    await flushingAll;
    expect(await parts()).toEqual(['000001.parquet', '000002.parquet', '000003.parquet']);
    expect(await firstColumn(other, 'x')).toEqual([0, 1, 2]);
  });
});

function signalled(): { readonly promise: Promise<void>; readonly signal: () => void } {
  let signal = (): void => {};
  const promise = new Promise<void>((resolve) => {
    signal = resolve;
  });
  return { promise, signal };
}
