import { describe, expect, test } from 'vitest';
import { Latencies } from './latencies.ts';

describe('Latencies', () => {
  test('tells each whole second apart, one without answers among them', () => {
    const latencies = new Latencies();
    for (const [endMs, tookMs] of [
      [100, 3],
      [999, 1],
      [2000, 5],
      [2500, 6],
      [2900, 7],
      [3100, 100],
    ] as const) {
      latencies.add(endMs, tookMs);
    }
    expect(latencies.seconds()).toEqual([
      { requests: 2, p50Ms: 1, p99Ms: 1 },
      { requests: 0, p50Ms: undefined, p99Ms: undefined },
      { requests: 3, p50Ms: 6, p99Ms: 6 },
    ]);
    expect([...latencies.sorted()]).toEqual([1, 3, 5, 6, 7, 100]);
  });

  test('keeps more than it has room for at first', () => {
    const latencies = new Latencies();
    for (let at = 0; at < 200_000; at++) latencies.add(at / 100, at);
    expect([latencies.count, latencies.sorted().at(-1)]).toEqual([200_000, 199_999]);
    expect(latencies.seconds()).toEqual([{ requests: 100_000, p50Ms: 49_999, p99Ms: 98_999 }]);
  });
});
