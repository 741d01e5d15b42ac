import { expect, test } from 'vitest';
import { abortable, sleep, withTimeout } from './limited-wait.ts';

const never = new Promise<string>(() => {});

test('a promise that settles in time is as without a limit', async () => {
  const { signal } = new AbortController();
  expect(await withTimeout(Promise.resolve('a'), 1000, () => 'late')).toBe('a');
  expect(await abortable(Promise.resolve('a'), signal)).toBe('a');
  await expect(withTimeout(Promise.reject(new Error('lost')), 1000, () => 'late')).rejects.toThrow('lost');
  await expect(abortable(Promise.reject(new Error('lost')), signal)).rejects.toThrow('lost');
});

test('a promise that does not is replaced by a value, or by what is thrown', async () => {
  expect(await withTimeout(never, 1, () => 'late')).toBe('late');
  const late = (): string => {
    throw new Error('late');
  };
  await expect(withTimeout(never, 1, late)).rejects.toThrow('late');
});

test('a signal ends a wait with its reason, before it begins or later', async () => {
  const controller = new AbortController();
  const waits = [abortable(never, controller.signal), sleep(60_000, controller.signal)];
  controller.abort(new Error('gone'));
  for (const wait of waits) await expect(wait).rejects.toThrow('gone');
  await expect(abortable(never, controller.signal)).rejects.toThrow('gone');
  await expect(sleep(1, controller.signal)).rejects.toThrow('gone');
  await sleep(1, new AbortController().signal);
});
