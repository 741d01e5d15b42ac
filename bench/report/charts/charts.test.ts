import { describe, expect, test } from 'vitest';
import { barChart } from './bar-chart.ts';
import { lineChart } from './line-chart.ts';
import { scaleOf } from './scale.ts';

describe('scaleOf', () => {
  test('a linear axis begins at 0 and ends at a round number', () => {
    const { ticks, toPixel } = scaleOf({ kind: 'linear', values: [3, 22_868], from: 300, to: 0 });
    expect(ticks).toEqual([0, 5000, 10_000, 15_000, 20_000, 25_000]);
    expect([toPixel(0), toPixel(12_500), toPixel(25_000)]).toEqual([300, 150, 0]);
  });

  test('a logarithmic axis has the powers of ten around its values, and leaves out what is not positive', () => {
    const { ticks, toPixel } = scaleOf({ kind: 'log', values: [0.22, 0, 83], from: 0, to: 300 });
    expect(ticks).toEqual([0.1, 1, 10, 100]);
    expect(toPixel(10)).toBeCloseTo(200);
  });

  test('one value of a power of ten has an axis too', () => {
    expect(scaleOf({ kind: 'log', values: [10], from: 0, to: 1 }).ticks).toEqual([10, 100]);
  });
});

describe('lineChart', () => {
  const chart = lineChart({
    title: 'Pages <of> a frame',
    x: { label: 'time (s)' },
    y: { label: 'latency (ms)', kind: 'log' },
    series: [
      { name: 'ours', points: [1, 2, undefined, 4].map((y, x) => ({ x, y })) },
      { name: 'theirs', points: [{ x: 0, y: 10 }] },
    ],
  });

  test('has its title, the words of both axes and the names of the lines', () => {
    for (const words of ['Pages &lt;of&gt; a frame', 'time (s)', 'latency (ms)', '>ours<', '>theirs<']) {
      expect(chart).toContain(words);
    }
  });

  test('has colours for dark pages, and numbers that are numbers', () => {
    expect(chart).toContain('prefers-color-scheme: dark');
    expect(chart).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('leaves a gap where a point is missing', () => {
    const [, path = ''] = /class="line s0" d="(M[^"]*M[^"]*)"/.exec(chart) ?? [];
    expect(path.match(/M/g)).toHaveLength(2);
  });
});

describe('barChart', () => {
  test('scales each group to its longest bar and writes the values', () => {
    const chart = barChart({
      title: 'Scans',
      unit: 's',
      groups: [
        {
          name: 'first',
          bars: [
            { name: 'ours', value: 1, look: 0 },
            { name: 'theirs', value: 2, look: 1 },
          ],
        },
        { name: 'second', bars: [{ name: 'ours', value: 0.01, look: 0 }] },
      ],
    });
    expect([...chart.matchAll(/width="(\d+)" height="18"/g)].map(([, width]) => Number(width))).toEqual([
      222, 444, 444,
    ]);
    for (const words of ['1 s ours', '2 s theirs', '0.01 s ours']) expect(chart).toContain(`>${words}<`);
  });
});
