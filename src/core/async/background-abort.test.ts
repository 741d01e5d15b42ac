import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BackgroundAbort } from './background-abort.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('it aborts after ten minutes and a second for each megabyte', () => {
  using work = new BackgroundAbort({ bytes: 60_000_000 });
  vi.advanceTimersByTime(11 * 60_000 - 1);
  expect(work.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(work.isLate).toBe(true);
  expect(work.signal.reason).toMatchObject({ name: 'TimeoutError', message: 'it took longer than 660 s' });
});

test('it aborts with its sources, and is not late then', () => {
  const source = new AbortController();
  using work = new BackgroundAbort({ bytes: 0, timeoutMs: 10 }, source.signal);
  source.abort(new Error('enough'));
  expect(work.signal.reason).toEqual(new Error('enough'));
  vi.advanceTimersByTime(20);
  expect(work.isLate).toBe(false);
});

test('disposed of, it is neither late nor follows', () => {
  const source = new AbortController();
  const work = new BackgroundAbort({ bytes: 0, timeoutMs: 10 }, source.signal);
  work[Symbol.dispose]();
  vi.advanceTimersByTime(20);
  source.abort();
  expect(work.signal.aborted).toBe(false);
});
