import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TimerWheel } from './timer-wheel.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('tasks run in the order of their times, each once and never early', () => {
  using wheel = new TimerWheel();
  const begun = performance.now();
  const ran: [string, number][] = [];
  for (const [name, ms] of [
    ['late', 3000],
    ['soon', 400],
    ['now', 0],
  ] as const) {
    wheel.after(ms, () => ran.push([name, performance.now() - begun]));
  }
  vi.advanceTimersByTime(10_000);
  expect(ran.map(([name]) => name)).toEqual(['now', 'soon', 'late']);
  expect(ran[1]?.[1]).toBeGreaterThanOrEqual(400);
  expect(ran[2]?.[1]).toBeGreaterThanOrEqual(3000);
  expect(ran[2]?.[1]).toBeLessThanOrEqual(3500);
});

test('a task that is taken back does not run, and without tasks there is no timer', () => {
  using wheel = new TimerWheel();
  const task = vi.fn();
  wheel.after(100, task)();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(task).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
  wheel.after(100, task);
  vi.advanceTimersByTime(1000);
  expect(task).toHaveBeenCalledOnce();
});
