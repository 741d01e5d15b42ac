import { expect, test } from 'vitest';
import { largestOf, sparklinePath } from './sparkline-path.ts';

test('the newest point is at the right edge, and the largest at the top', () => {
  expect(sparklinePath([0, 10], 10, 5)).toBe('M90.0 31.0L120.0 1.0');
});

test('more points than there is room for lose the oldest', () => {
  expect(sparklinePath([5, 10, 0], 10, 2)).toBe('M0.0 1.0L120.0 31.0');
});

test('a missing point is a gap', () => {
  expect(sparklinePath([1, undefined, 1, 1], 1, 4)).toBe('M0.0 1.0M80.0 1.0L120.0 1.0');
});

test('nothing but zeros is a line at the bottom', () => {
  expect(sparklinePath([0, 0], largestOf([[0, undefined]]), 2)).toBe('M0.0 31.0L120.0 31.0');
});
