import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { LinkedAbort } from './linked-abort.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('it aborts with the signal, for the same reason', () => {
  const source = new AbortController();
  const { signal } = new LinkedAbort([source.signal]);
  expect(signal.aborted).toBe(false);
  const reason = new Error('gone');
  source.abort(reason);
  expect(signal.reason).toBe(reason);
});

test('it is aborted where the signal is already', () => {
  expect(new LinkedAbort([AbortSignal.abort('gone')]).signal.reason).toBe('gone');
});

test('aborted by itself it leaves the signal alone', () => {
  const source = new AbortController();
  const linked = new LinkedAbort([source.signal]);
  linked.abort('enough');
  source.abort('gone');
  expect(linked.signal.reason).toBe('enough');
});

test('disposed it goes on without the signal', () => {
  const source = new AbortController();
  const linked = new LinkedAbort([source.signal]);
  linked[Symbol.dispose]();
  source.abort();
  expect(linked.signal.aborted).toBe(false);
});

/** Follows a signal as a call does, and holds nothing else. */
function followed(timeoutMs: number): Promise<unknown> {
  const { signal } = new LinkedAbort([new AbortController().signal], timeoutMs);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
}

test('it aborts when the time is over, whatever memory was freed meanwhile', async () => {
  const aborted = followed(200);
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const kept = setInterval(() => {}, 50);
  expect(await aborted).toMatchObject({ name: 'TimeoutError' });
  clearInterval(kept);
});

test('it tells whether the time was over first', async () => {
  const controller = new AbortController();
  using stopped = new LinkedAbort([controller.signal], 20);
  using late = new LinkedAbort([], 20);
  controller.abort('gone');
  await new Promise((resolve) => late.signal.addEventListener('abort', resolve));
  expect([stopped.signal.reason, stopped.isLate, late.isLate]).toEqual(['gone', false, true]);
});
