import { expect, test, vi } from 'vitest';
import { JobCancels } from './job-cancels.ts';

test('a cancel reaches the job of its turn, also where turns have wrapped around', () => {
  const cancels = new JobCancels();
  const cancel = vi.fn();
  cancels.begin(257, cancel);
  cancels.cancel(259);
  expect(cancel).not.toHaveBeenCalled();
  cancels.cancel(257);
  cancels.cancel(1);
  expect(cancel).toHaveBeenCalledTimes(2);
});

test('a job whose cancel is here first is cancelled as it begins', () => {
  const cancels = new JobCancels();
  const cancel = vi.fn();
  cancels.cancel(3);
  cancels.begin(3, cancel);
  expect(cancel).toHaveBeenCalledOnce();
});

test('a cancel that comes after its job does not reach the next one', () => {
  const cancels = new JobCancels();
  const next = vi.fn();
  cancels.begin(3, () => {});
  cancels.end();
  cancels.cancel(3);
  cancels.begin(5, next);
  cancels.cancel(3);
  expect(next).not.toHaveBeenCalled();
});

test('nor any later one of the same turn, where only jobs came between that were over at once', () => {
  const cancels = new JobCancels();
  const later = vi.fn();
  cancels.pass();
  cancels.cancel(3);
  for (let turn = 5; turn < 259; turn += 2) cancels.pass();
  cancels.begin(259, later);
  expect(later).not.toHaveBeenCalled();
});
