import { expect, test, vi } from 'vitest';
import { TimeoutList } from './timeout-list.ts';

test('each timeout fires once, after its own time, and one that is cleared does not', () => {
  vi.useFakeTimers();
  try {
    const list = new TimeoutList(100);
    const fired: string[] = [];
    list.start(() => fired.push('first'));
    vi.advanceTimersByTime(60);
    const clear = list.start(() => fired.push('cleared'));
    list.start(() => fired.push('second'));
    clear();
    vi.advanceTimersByTime(40);
    expect(fired).toEqual(['first']);
    vi.advanceTimersByTime(59);
    expect(fired).toEqual(['first']);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(['first', 'second']);
  } finally {
    vi.useRealTimers();
  }
});

test('a timeout that starts when the list was empty for a while has its whole time', () => {
  vi.useFakeTimers();
  try {
    const list = new TimeoutList(100);
    const fired: string[] = [];
    list.start(() => fired.push('cleared'))();
    vi.advanceTimersByTime(90);
    list.start(() => fired.push('late'));
    vi.advanceTimersByTime(99);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(['late']);
    vi.advanceTimersByTime(1000);
    expect([fired, vi.getTimerCount()]).toEqual([['late'], 0]);
  } finally {
    vi.useRealTimers();
  }
});
