import { expect, test } from 'vitest';
import { zipfRanks } from './zipf.ts';

test('the first rank comes twice as often as the second, and ten times as often as the tenth', () => {
  const counts = Array.from({ length: 200 }, () => 0);
  for (const rank of zipfRanks(7, 200_000, 200)) counts[rank] = (counts[rank] ?? 0) + 1;
  const [first = 0, second = 0] = counts;
  expect(first / second).toBeCloseTo(2, 0);
  expect(first / (counts[9] ?? 0)).toBeGreaterThan(8);
  expect(first / (counts[9] ?? 0)).toBeLessThan(12);
  expect(Math.min(...counts)).toBeGreaterThan(0);
});

test('the same seed gives the same ranks', () => {
  expect(zipfRanks(1, 100, 20)).toEqual(zipfRanks(1, 100, 20));
  expect(zipfRanks(1, 100, 20)).not.toEqual(zipfRanks(2, 100, 20));
});
