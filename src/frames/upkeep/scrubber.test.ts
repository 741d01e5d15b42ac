import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../../core/logs/logger.ts';
import type { FrameScrub, ScrubTurn } from './frame-scrub.ts';
import { Scrubber } from './scrubber.ts';
import { blockBytes } from './uncached-reader.ts';

const blocksPerSecond = (16 * 2 ** 20) / blockBytes;
let callersWait = false;
let utilization = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation(() => ({ idle: 0, active: 0, utilization }));
  callersWait = false;
  utilization = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A pass that reads block after block. */
async function pass() {
  let blocks = 0;
  let hasBegun = false;
  const run = async ({ beforeBlock }: ScrubTurn): Promise<boolean> => {
    hasBegun = true;
    for (;;) {
      await beforeBlock();
      blocks++;
    }
  };
  const scrubber = new Scrubber({
    intervalMs: 1,
    isBusy: () => callersWait,
    scrubs: async () => [{ run } as Partial<FrameScrub> as FrameScrub],
    notePath: '/dev/null/scrub.json',
    newTemporaryPath: () => '/dev/null/temporary',
    now: Date.now,
    logger: silentLogger,
  });
  while (!hasBegun) {
    await vi.advanceTimersByTimeAsync(1);
    // It looks for the note of the last pass on the disk.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return {
    blocks: () => blocks,
    [Symbol.asyncDispose]: () => scrubber[Symbol.asyncDispose](),
  };
}

test('a scrub reads 16 MiB a second', async () => {
  await using scrub = await pass();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(scrub.blocks() / (10 * blocksPerSecond)).toBeCloseTo(1, 1);
});

test.each([
  ['callers wait', () => (callersWait = true)],
  ['the event loop is busy for more than half of the time', () => (utilization = 0.6)],
])('a scrub stands still while %s, and then goes on', async (_, beginLoad) => {
  await using scrub = await pass();
  await vi.advanceTimersByTimeAsync(1000);
  const before = scrub.blocks();
  expect(before).toBeGreaterThan(0);
  beginLoad();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(scrub.blocks()).toBe(before);
  [callersWait, utilization] = [false, 0.4];
  await vi.advanceTimersByTimeAsync(1000);
  expect(scrub.blocks()).toBeGreaterThan(before + blocksPerSecond / 2);
});

test('a scrub of a server that is always busy reads a block each half a minute', async () => {
  callersWait = true;
  await using scrub = await pass();
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect([19, 20]).toContain(scrub.blocks());
});
