import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { TimedSignal } from './timed-signal.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Follows a signal as a call does, and holds nothing else. */
function followed(timeoutMs: number): Promise<unknown> {
  const { signal } = new TimedSignal(new AbortController().signal, timeoutMs);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
}

it('aborts when the time is over, whatever memory was freed meanwhile', async () => {
  const aborted = followed(200);
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const kept = setInterval(() => {}, 50);
  expect(await aborted).toMatchObject({ name: 'TimeoutError' });
  clearInterval(kept);
});

it('aborts with the other signal, and tells that it was not late', () => {
  const controller = new AbortController();
  using timed = new TimedSignal(controller.signal, 60_000);
  controller.abort('gone');
  expect([timed.signal.aborted, timed.signal.reason, timed.isLate]).toEqual([true, 'gone', false]);
});
