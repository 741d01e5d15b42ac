import { expect, test } from 'vitest';
import { LatencyHistogram } from './latency-histogram.ts';

test('quantiles are off by at most a third', () => {
  const histogram = new LatencyHistogram();
  for (let ms = 1; ms <= 1000; ms++) histogram.add(ms, 0);
  const { count, p50Ms = 0, p90Ms = 0, p99Ms = 0, maxMs = 0 } = LatencyHistogram.quantiles([histogram], 0) ?? {};
  expect(count).toBe(1000);
  for (const [found, expected] of [
    [p50Ms, 500],
    [p90Ms, 900],
    [p99Ms, 990],
    [maxMs, 1000],
  ] as const) {
    expect(found).toBeGreaterThanOrEqual(expected);
    expect(found).toBeLessThan(expected * 1.34);
  }
});

test('only the last minute counts for quantiles, and all since the start for the totals', () => {
  const histogram = new LatencyHistogram();
  const countAt = (nowMs: number) => LatencyHistogram.quantiles([histogram], nowMs)?.count;
  histogram.add(1000, 5000);
  histogram.add(1, 40_000);
  expect(countAt(59_999)).toBe(2);
  expect(countAt(60_000)).toBe(1);
  expect(countAt(1_000_000)).toBeUndefined();
  histogram.add(7, 2_000_000);
  expect(histogram.cumulative([1, 5, 10, 1000])).toMatchObject({ sumMs: 1008, counts: [1, 1, 2, 3, 3] });
});

test('a time that is exactly a bound is within it', () => {
  const histogram = new LatencyHistogram();
  const limits = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000, 30_000, 600_000];
  for (const ms of limits) histogram.add(ms, 0);
  expect(histogram.cumulative(limits).counts).toEqual([...limits.keys(), limits.length - 1].map((n) => n + 1));
});

test('what takes no time, or days, has its place', () => {
  const histogram = new LatencyHistogram();
  for (const ms of [0, -1, Number.NaN, 1e12]) histogram.add(ms, 0);
  expect(LatencyHistogram.quantiles([histogram], 0)?.count).toBe(4);
  expect(histogram.cumulative([1]).counts).toEqual([3, 4]);
});
