import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UploadDisk } from './upload-disk.ts';

const mb = 1_000_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A disk of 1 GB with `freeBytes` free; uploads take from it. */
function disk(freeBytes: number, { lookMs = 0 } = {}) {
  let left = freeBytes;
  const uploads = new UploadDisk(async () => {
    if (lookMs > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
    return { freeBytes: left, totalBytes: 1000 * mb };
  });
  const piece = Buffer.alloc(mb);
  const releases: (() => void)[] = [];
  /** Sends `megabytes`, and then nothing for ever if `isEndless`. Returns the outcome and the received number. */
  const send = async (lane: string, megabytes: number, isEndless = false): Promise<string> => {
    let came = 0;
    async function* stream() {
      for (let n = 0; n < megabytes; n++) yield piece;
      if (isEndless) await new Promise(() => {});
    }
    try {
      for await (const { length } of uploads.counted(stream(), lane, (share) =>
        releases.push(() => share[Symbol.dispose]()),
      )) {
        came++;
        left -= length;
      }
      return `all ${came}`;
    } catch (error) {
      return `${(error as { code: string }).code} after ${came}`;
    }
  };
  return { uploads, send, releases };
}

test('one that is alone has nine tenths of what is free, but for a twentieth of the disk, and is told that there is no more', async () => {
  const { send, releases } = disk(550 * mb);
  // 16 MB that are not counted, and nine tenths of 550 - 16 - 50.
  expect(await send('a', 900)).toBe('storage_full after 451');
  for (const release of releases) release();
  expect(await send('a', 10)).toBe('all 10');
});

test('another tenant has the rest, and more from uploads that stand still', async () => {
  const { uploads, send } = disk(600 * mb);
  const silent = Array.from({ length: 4 }, () => send('a', 120, true));
  await vi.advanceTimersByTimeAsync(100);
  expect(uploads.figures.held).toBe(4 * 104 * mb);
  const other = send('b', 200);
  await vi.advanceTimersByTimeAsync(700);
  expect(await other).toBe('all 200');
  expect(await Promise.race(silent)).toBe('overloaded after 120');
  expect(uploads.figures.revoked).toBeGreaterThan(0);
});

test('uploads that begin together wait for the first look at the disk', async () => {
  const { uploads, send } = disk(200 * mb, { lookMs: 50 });
  const outcomes = Promise.all(Array.from({ length: 5 }, () => send('a', 100)));
  await vi.advanceTimersByTimeAsync(49);
  expect(uploads.figures.held).toBe(0);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await outcomes).not.toContain('all 100');
});

test('how much there is to share is told as 0 until an upload is large enough to count', async () => {
  const { uploads, send } = disk(900 * mb);
  expect(uploads.figures.units).toBe(0);
  await send('a', 10);
  expect(uploads.figures.units).toBe(0);
  await send('a', 20);
  expect(uploads.figures.units).toBeGreaterThan(800 * mb);
  expect(uploads.figures.units).toBeLessThan(900 * mb);
});
