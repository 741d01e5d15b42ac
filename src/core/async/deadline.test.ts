import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadline } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('it is over when its time is', () => {
  const whenOver = vi.fn();
  const deadline = new Deadline(100, whenOver);
  const { signal } = deadline;
  vi.advanceTimersByTime(99);
  expect([deadline.isOver, signal.aborted]).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  expect([deadline.isOver, signal.aborted]).toEqual([true, true]);
  expect(whenOver).toHaveBeenCalledOnce();
});

test('who asks for the signal afterwards finds it aborted', () => {
  const deadline = new Deadline(100);
  vi.advanceTimersByTime(100);
  expect(deadline.signal.aborted).toBe(true);
});

test('time that it stands still does not count', () => {
  const deadline = new Deadline(100);
  vi.advanceTimersByTime(60);
  deadline.pause();
  vi.advanceTimersByTime(1000);
  expect(deadline.isOver).toBe(false);
  deadline.resume();
  vi.advanceTimersByTime(39);
  expect(deadline.isOver).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.isOver).toBe(true);
});

test('many short pauses count together', () => {
  const deadline = new Deadline(100);
  for (let n = 0; n < 9; n++) {
    vi.advanceTimersByTime(10);
    deadline.pause();
    vi.advanceTimersByTime(7);
    deadline.resume();
  }
  expect(deadline.isOver).toBe(false);
  vi.advanceTimersByTime(10);
  expect(deadline.isOver).toBe(true);
});

test('restarted, it has its whole time again', () => {
  const deadline = new Deadline(100);
  vi.advanceTimersByTime(90);
  deadline.restart();
  vi.advanceTimersByTime(99);
  expect(deadline.isOver).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.isOver).toBe(true);
});

test('stopped, it leaves no timer', () => {
  const deadline = new Deadline(100);
  deadline.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(deadline.isOver).toBe(false);
});
