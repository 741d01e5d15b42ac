import { expect, test } from 'vitest';
import { silentLogger } from '../../core/logs/logger.ts';
import { IdleQueue } from './idle-queue.ts';

test('work that comes while the queue falls asleep is done, at whatever step it comes', async () => {
  for (let steps = 0; steps < 20; steps++) {
    await using queue = new IdleQueue({ quietMs: 0, logger: silentLogger });
    const done = new Promise<void>((resolve) => {
      queue.enqueue('first', async () => {
        // This many turns of promises behind the end of the first.
        void (async () => {
          for (let step = 0; step < steps; step++) await undefined;
          queue.enqueue('second', async () => resolve());
        })();
      });
    });
    const isLost = new Promise<string>((resolve) => setTimeout(resolve, 2000, 'lost').unref());
    expect(await Promise.race([done, isLost]), `after ${steps} steps`).toBeUndefined();
  }
});
