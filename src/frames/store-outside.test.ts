import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFile,
  chmod,
  copyFile,
  link,
  mkdir,
  open as openFile,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { codeOf, eventually, firstColumn, open, put, useStoreBench } from '../../test/support/frame-store.ts';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import type { FrameSummary } from './catalog/frame-summary.ts';
import { withChecksum } from './disk/checksummed-json.ts';
import { parseManifest } from './disk/manifest.ts';
import type { FrameStore } from './store.ts';

const bench = await useStoreBench();

async function listed(store: FrameStore): Promise<FrameSummary[]> {
  const all: FrameSummary[] = [];
  for await (const frame of store.list(anonymous)) all.push(frame);
  return all;
}

async function isListed(store: FrameStore, expected: Partial<FrameSummary>): Promise<boolean> {
  const entries = Object.entries(expected);
  return (await listed(store)).some((frame) =>
    entries.every(([key, value]) => frame[key as keyof FrameSummary] === value),
  );
}

/** Flips a bit in the middle and makes the file look untouched. */
async function damage(path: string): Promise<void> {
  const { size } = await stat(path);
  await touchLike(path, `${path}.times`);
  const file = await openFile(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, Math.floor(size / 2));
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, Math.floor(size / 2));
  await file.close();
  await touchLike(`${path}.times`, path);
  await rm(`${path}.times`);
}

/** Writes the manifest of a frame as it was at first. */
async function useFirstFormat(handle: string): Promise<void> {
  const path = bench.path('.framehold', 'manifests', `${handle}.json`);
  const sha256 = createHash('sha256')
    .update(await readFile(bench.path(`${handle}.parquet`)))
    .digest('hex');
  const manifest = parseManifest(await readFile(path, 'utf8'), parseHandle(handle));
  if (manifest === undefined) throw new Error('there is no manifest');
  const parts = manifest.parts.map(({ checksum, ...part }) => {
    expect(checksum).toMatch(/^ghash:[0-9a-f]{32}$/);
    return { ...part, sha256 };
  });
  await writeFile(path, withChecksum({ format: 1, ...manifest, parts }));
}

/** Node's own `utimes` loses the nanoseconds. */
async function touchLike(reference: string, path: string): Promise<void> {
  await promisify(execFile)('touch', ['-r', reference, path]);
}

describe('a file moved in', () => {
  test('is a handle for the first who asks', async () => {
    const store = await bench.open();
    await bench.parquet(bench.path('new.tmp'), 'SELECT 1 AS a');
    await rename(bench.path('new.tmp'), bench.path('new.parquet'));
    expect(await firstColumn(store, 'new')).toEqual([1]);
  });

  test('is listed within a second', async () => {
    const store = await bench.open();
    expect(await listed(store)).toEqual([]);
    await bench.parquet(bench.path('new.tmp'), 'SELECT 1 AS a');
    await rename(bench.path('new.tmp'), bench.path('new.parquet'));
    await eventually(() => isListed(store, { handle: parseHandle('new'), version: 1, rows: 1 }), 1000);
  });

  test('is there after a restart without being opened again, as the same version', async () => {
    await mkdir(bench.cold, { recursive: true });
    await bench.parquet(bench.path('new.parquet'), 'SELECT 1 AS a');
    const store = await bench.open();
    const { versionId } = await open(store, 'new');
    await bench.close(store);
    const again = await bench.open();
    expect(await open(again, 'new')).toMatchObject({ versionId });
  });

  test('can be appended to', async () => {
    const store = await bench.open();
    await bench.parquet(bench.path('new.parquet'), 'SELECT 1 AS a');
    expect(await firstColumn(store, 'new')).toEqual([1]);
    await put(store, 'new', 'SELECT 2 AS a', { mode: 'append' });
    expect(await firstColumn(store, 'new')).toEqual([1, 2]);
  });

  test('keeps a put from creating the handle', async () => {
    const store = await bench.open();
    await bench.parquet(bench.path('new.parquet'), 'SELECT 1 AS a');
    expect(await codeOf(put(store, 'new', 'SELECT 2 AS a'))).toBe('handle_exists');
    expect(await firstColumn(store, 'new')).toEqual([1]);
  });

  test('after a drop is a frame again, of the next version', async () => {
    const store = await bench.open();
    await put(store, 'x', 'SELECT 1 AS a');
    await store.drop(anonymous, parseHandle('x'));
    await bench.parquet(bench.path('x.parquet'), 'SELECT 2 AS a');
    expect(await open(store, 'x')).toMatchObject({ version: 2 });
  });

  test('that was moved away and back is a frame again', async () => {
    const store = await bench.open();
    await put(store, 'x', 'SELECT 1 AS a');
    await rename(bench.path('x.parquet'), bench.path('.away'));
    await eventually(async () => (await codeOf(open(store, 'x')).catch(() => undefined)) === 'handle_gone');
    await bench.close(store);
    await rename(bench.path('.away'), bench.path('x.parquet'));
    const again = await bench.open();
    expect(await firstColumn(again, 'x')).toEqual([1]);
  });
});

test('a folder of parts moved in is a handle, its parts in name order', async () => {
  const store = await bench.open();
  await mkdir(bench.path('.making'));
  await bench.parquet(bench.path('.making', 'b.parquet'), 'SELECT 2 AS a');
  await bench.parquet(bench.path('.making', 'a.parquet'), 'SELECT 1 AS a');
  await writeFile(bench.path('.making', '_SUCCESS'), '');
  await rename(bench.path('.making'), bench.path('made'));
  expect(await firstColumn(store, 'made')).toEqual([1, 2]);
  await put(store, 'made', 'SELECT 3 AS a', { mode: 'append' });
  expect(await firstColumn(store, 'made')).toEqual([1, 2, 3]);
  await bench.parquet(bench.path('made', 'c.parquet'), 'SELECT 4 AS a');
  await eventually(() => isListed(store, { handle: parseHandle('made'), rows: 4 }), 3000);
  expect(await firstColumn(store, 'made')).toEqual([1, 2, 3, 4]);
});

test('a folder whose parts do not fit together is damaged', async () => {
  const store = await bench.open();
  await mkdir(bench.path('odd'));
  await bench.parquet(bench.path('odd', 'a.parquet'), 'SELECT 1 AS a');
  await bench.parquet(bench.path('odd', 'b.parquet'), 'SELECT 1 AS b');
  await eventually(() => isListed(store, { handle: parseHandle('odd'), state: 'damaged' }));
  await expect(open(store, 'odd')).rejects.toMatchObject({ message: expect.stringContaining('does not fit') });
});

describe('a half-copied file', () => {
  test('is not a handle until it is whole', async () => {
    const store = await bench.open();
    await bench.parquet(bench.path('.whole'), 'SELECT range AS a FROM range(1000)');
    const whole = await readFile(bench.path('.whole'));
    await writeFile(bench.path('slow.parquet'), whole.subarray(0, 100));
    for (let at = 100; at < whole.length; at += Math.ceil(whole.length / 4)) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(await listed(store)).toEqual([]);
      expect(await codeOf(open(store, 'slow'))).toBe('handle_not_found');
      await appendFile(bench.path('slow.parquet'), whole.subarray(at, at + Math.ceil(whole.length / 4)));
    }
    await eventually(() => isListed(store, { handle: parseHandle('slow'), rows: 1000 }), 1500);
  });

  test('that stays so is listed as damaged with the reason, and becomes a handle when it is finished', async () => {
    const store = await bench.open();
    await bench.parquet(bench.path('.whole'), 'SELECT 1 AS a');
    const whole = await readFile(bench.path('.whole'));
    await writeFile(bench.path('stuck.parquet'), whole.subarray(0, 50));
    await eventually(() => isListed(store, { handle: parseHandle('stuck'), state: 'damaged' }));
    const error = await open(store, 'stuck').catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: 'frame_damaged',
      message: expect.stringContaining('stuck.parquet does not begin'),
    });
    expect(error.message).not.toContain(bench.cold);
    await appendFile(bench.path('stuck.parquet'), whole.subarray(50));
    await eventually(() => isListed(store, { handle: parseHandle('stuck'), state: 'held' }), 2000);
  });

  test('with the marks of Parquet but rubbish between them is damaged, and can be dropped or overwritten', async () => {
    const store = await bench.open();
    await writeFile(bench.path('bad.parquet'), `PAR1${'x'.repeat(1000)}PAR1`);
    await copyFile(bench.path('bad.parquet'), bench.path('worse.parquet'));
    await put(store, 'good', 'SELECT 1 AS a');
    await eventually(() => isListed(store, { handle: parseHandle('bad'), state: 'damaged' }));
    await eventually(() => isListed(store, { handle: parseHandle('worse'), state: 'damaged' }));
    expect(await firstColumn(store, 'good')).toEqual([1]);
    await store.drop(anonymous, parseHandle('bad'));
    expect(await codeOf(open(store, 'bad'))).toBe('handle_gone');
    expect(await codeOf(put(store, 'worse', 'SELECT 2 AS a'))).toBe('handle_exists');
    await put(store, 'worse', 'SELECT 2 AS a', { mode: 'overwrite' });
    expect(await firstColumn(store, 'worse')).toEqual([2]);
  });
});

describe('a frame of ours', () => {
  test('that is removed from outside is gone, also after a restart', async () => {
    const store = await bench.open();
    await put(store, 'x', 'SELECT 1 AS a');
    await rm(bench.path('x.parquet'));
    await eventually(async () => (await listed(store)).length === 0, 1000);
    await expect(open(store, 'x')).rejects.toMatchObject({ code: 'handle_gone', message: 'x was removed' });
    await bench.close(store);
    expect(await codeOf(open(await bench.open(), 'x'))).toBe('handle_gone');
  });

  test('that is replaced from outside is the next version', async () => {
    const store = await bench.open();
    await put(store, 'x', 'SELECT 1 AS a');
    expect(await firstColumn(store, 'x')).toEqual([1]);
    await bench.parquet(bench.path('new.tmp'), "SELECT 'two' AS b");
    await rename(bench.path('new.tmp'), bench.path('x.parquet'));
    await eventually(() => isListed(store, { handle: parseHandle('x'), version: 2 }), 1000);
    expect(await firstColumn(store, 'x')).toEqual(['two']);
  });

  test('that is replaced while no server runs is the next version', async () => {
    const store = await bench.open();
    await put(store, 'x', 'SELECT 1 AS a');
    await bench.close(store);
    await rm(bench.path('x.parquet'));
    await bench.parquet(bench.path('x.parquet'), 'SELECT 2 AS a');
    const again = await bench.open();
    expect(await open(again, 'x')).toMatchObject({ version: 2 });
    expect(await firstColumn(again, 'x')).toEqual([2]);
  });

  test('whose bytes change while it is served, its time set back, is damaged from then on', async () => {
    const store = await bench.open({ cacheBytes: 0 });
    await put(store, 'x', 'SELECT range AS a FROM range(1000)');
    expect(await firstColumn(store, 'x')).toHaveLength(1000);
    await sleep(20);
    await damage(bench.path('x.parquet'));
    expect(await codeOf(open(store, 'x'))).toBe('frame_damaged');
  });

  test('that others link or give to somebody else, but leave as it is, stays', async () => {
    const store = await bench.open({ cacheBytes: 0 });
    await put(store, 'x', 'SELECT range AS a FROM range(1000)');
    await link(bench.path('x.parquet'), bench.path('.backup'));
    await chmod(bench.path('x.parquet'), 0o600);
    expect(await firstColumn(store, 'x')).toHaveLength(1000);
  });

  test('whose bytes changed under the same inode, size and time is damaged and never served', async () => {
    const store = await bench.open();
    await put(store, 'x', 'SELECT range AS a FROM range(1000)');
    await put(store, 'y', 'SELECT 1 AS a');
    await bench.close(store);
    await damage(bench.path('y.parquet'));
    const again = await bench.open();
    expect(await firstColumn(again, 'x')).toHaveLength(1000);
    expect(await codeOf(open(again, 'y'))).toBe('frame_damaged');
  });

  test('with a checksum of the first format, SHA-256, is held by it, or damaged', async () => {
    const store = await bench.open();
    for (const handle of ['x', 'y']) {
      await put(store, handle, 'SELECT 1 AS a');
      await put(store, handle, 'SELECT range AS a FROM range(1000)', { mode: 'overwrite' });
    }
    await bench.close(store);
    await useFirstFormat('x');
    await useFirstFormat('y');
    await damage(bench.path('y.parquet'));
    const again = await bench.open();
    expect(await firstColumn(again, 'x')).toHaveLength(1000);
    expect(await codeOf(open(again, 'y'))).toBe('frame_damaged');
    expect(await isListed(again, { handle: parseHandle('x'), version: 2 })).toBe(true);
  });

  test('that was cut off in place is damaged after a while and held again when it is restored', async () => {
    const store = await bench.open();
    await put(store, 'x', 'SELECT range AS a FROM range(1000)');
    const whole = await readFile(bench.path('x.parquet'));
    await truncate(bench.path('x.parquet'), 200);
    await eventually(() => isListed(store, { handle: parseHandle('x'), state: 'damaged' }));
    await writeFile(bench.path('x.parquet'), whole);
    await eventually(() => isListed(store, { handle: parseHandle('x'), state: 'held', rows: 1000 }));
  });
});

test('names that are no handles are left alone', async () => {
  const store = await bench.open();
  await writeFile(bench.path('README.md'), 'hello');
  await writeFile(bench.path('-odd.parquet'), 'hello');
  await mkdir(bench.path('empty'));
  await mkdir(bench.path('tenants'), { recursive: true });
  await bench.parquet(bench.path('last.parquet'), 'SELECT 1 AS a');
  await eventually(() => isListed(store, { handle: parseHandle('last'), rows: 1 }));
  expect((await listed(store)).map(({ handle }) => handle)).toEqual(['last']);
  expect(await store.count()).toBe(1);
});
