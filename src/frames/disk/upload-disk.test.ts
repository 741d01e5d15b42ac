import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UploadDisk } from './upload-disk.ts';

const mb = 1_000_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A disk of 1 GB with so many bytes free; what uploads send comes off it. */
function disk(freeBytes: number) {
  let left = freeBytes;
  const uploads = new UploadDisk(async () => ({ freeBytes: left, totalBytes: 1000 * mb }));
  const piece = Buffer.alloc(mb);
  const releases: (() => void)[] = [];
  /** Sends so many megabytes, and then nothing for ever where `isEndless`. Gives how it went and how many came. */
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
