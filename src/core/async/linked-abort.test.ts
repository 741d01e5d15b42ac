import { expect, test } from 'vitest';
import { LinkedAbort } from './linked-abort.ts';

test('it aborts with the signal, for the same reason', () => {
  const source = new AbortController();
  const { signal } = new LinkedAbort(source.signal);
  expect(signal.aborted).toBe(false);
  const reason = new Error('gone');
  source.abort(reason);
  expect(signal.reason).toBe(reason);
});

test('it is aborted where the signal is already', () => {
  expect(new LinkedAbort(AbortSignal.abort('gone')).signal.reason).toBe('gone');
});

test('aborted by itself it leaves the signal alone', () => {
  const source = new AbortController();
  const linked = new LinkedAbort(source.signal);
  linked.abort('enough');
  source.abort('gone');
  expect(linked.signal.reason).toBe('enough');
});

test('unlinked it goes on without the signal', () => {
  const source = new AbortController();
  const linked = new LinkedAbort(source.signal);
  linked.unlink();
  source.abort();
  expect(linked.signal.aborted).toBe(false);
});
