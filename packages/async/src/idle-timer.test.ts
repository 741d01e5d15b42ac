import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { IdleTimer } from './idle-timer.ts';

it('ends a wait that takes too long, and no other', async () => {
  const idle = new IdleTimer(100, () => new Error('idle'));
  for (let wait = 0; wait < 4; wait++) expect(await idle.limit(sleep(40, wait))).toBe(wait);
  // Between two waits it is not the client who is slow.
  await sleep(150);
  expect(await idle.limit(sleep(40, 'on'))).toBe('on');
  await expect(idle.limit(sleep(1000))).rejects.toThrow('idle');
  await expect(idle.limit(Promise.reject(new Error('lost')))).rejects.toThrow('lost');
  idle.stop();
});
