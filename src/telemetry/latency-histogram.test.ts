import { expect, test } from 'vitest';
import { LatencyHistogram } from './latency-histogram.ts';

test('quantiles are off by at most a fifth', () => {
  const histogram = new LatencyHistogram();
  for (let ms = 1; ms <= 1000; ms++) histogram.add(ms, 0);
  const { count, p50Ms = 0, p90Ms = 0, p99Ms = 0, maxMs = 0 } = histogram.quantiles(0) ?? {};
  expect(count).toBe(1000);
  for (const [found, expected] of [
    [p50Ms, 500],
    [p90Ms, 900],
    [p99Ms, 990],
    [maxMs, 1000],
  ] as const) {
    expect(found).toBeGreaterThanOrEqual(expected);
    expect(found).toBeLessThan(expected * 1.2);
  }
});

test('only the last minute counts, and nothing is lost of the totals', () => {
  const histogram = new LatencyHistogram();
  histogram.add(1000, 5000);
  histogram.add(1, 40_000);
  expect(histogram.quantiles(59_999)?.count).toBe(2);
  expect(histogram.quantiles(60_000)?.count).toBe(1);
  expect(histogram.quantiles(1_000_000)).toBeUndefined();
  histogram.add(7, 2_000_000);
  const { sumMs, buckets } = histogram.totals();
  expect(sumMs).toBe(1008);
  expect(buckets.at(-1)?.count).toBe(3);
});

test('what takes no time, or days, has its place', () => {
  const histogram = new LatencyHistogram();
  for (const ms of [0, -1, Number.NaN, 1e12]) histogram.add(ms, 0);
  expect(histogram.quantiles(0)?.count).toBe(4);
});
