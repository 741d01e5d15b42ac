import type { Column } from '@framehold/columns';
import { describe, expect, test } from 'vitest';
import { plotColumns } from './plot-columns.ts';
import { plotOfRows } from './plot-rows.ts';
import type { PlotSpec } from './plot-spec.ts';
import { plotSql } from './plot-sql.ts';
import { microseconds } from './range-end.ts';
import { reduceRows } from './reduce-rows.ts';

const columns: readonly Column[] = [
  { name: 't', type: { kind: 'timestamp', unit: 'us', zoned: false } },
  { name: '"; DROP', type: { kind: 'float', bits: 64 } },
  { name: 's', type: { kind: 'utf8' } },
];

const spec: PlotSpec = {
  kind: 'line',
  x: 't',
  y: ['"; DROP'],
  series: undefined,
  width: 10,
  height: 10,
  from: undefined,
  to: undefined,
  aggregate: 'avg',
  bins: 10,
};

describe('the statement of a plot', () => {
  test('holds no name of a column', () => {
    const { sql } = plotSql({ kind: 'table', name: '"ticks"' }, plotColumns(spec, columns), spec);
    expect(sql).toContain('FROM "ticks" AS f(c0, c1, c2)');
    expect(sql).not.toContain('DROP');
  });

  test('has a caller’s statement on lines of its own, without its semicolon', () => {
    const source = { kind: 'statement', sql: 'SELECT 1 -- one\n ; ' } as const;
    const { sql, offset } = plotSql(source, plotColumns(spec, columns), spec);
    expect(sql.slice(offset - 2)).toMatch(/^\(\nSELECT 1 -- one\n\), /);
  });

  test('compares a part with the column itself, so that files can be skipped', () => {
    const part = { ...spec, from: '2026-01-01', to: 1_767_312_000_000_000.5 };
    const { sql } = plotSql({ kind: 'table', name: 'f' }, plotColumns(part, columns), part);
    expect(sql).toContain('c0 >= make_timestamp(1767225600000000) AND c0 <= make_timestamp(1767312000000000)');
  });
});

test.each([
  ['2026-01-01', 1_767_225_600_000_000],
  ['2026-01-01T00:00:00.000001Z', 1_767_225_600_000_001],
  ['2026-01-01 00:00:00.123456789', 1_767_225_600_123_456],
  ['1969-12-31T23:59:59.999999Z', -1],
  ['00:00:01.5', 1_500_000],
  ['soon', undefined],
])('%s is as many microseconds', (text, us) => {
  expect(microseconds(text)).toBe(us);
});

test('rows that are reduced here give the points that an engine would', () => {
  const rows = Array.from({ length: 1000 }, (_, i) => [
    new Date(i * 1000).toISOString(),
    i % 100 === 0 ? null : i % 7,
    i % 2 === 0 ? 'even' : 'odd',
  ]);
  const parted = { ...spec, series: 's', from: 0, to: 500_000_000 };
  const places = plotColumns(parted, columns);
  const plot = plotOfRows(reduceRows(rows, places, parted), places, parted);
  expect([plot.rows, plot.seriesCount, plot.complete]).toEqual([501, 2, false]);
  expect(plot.series.map(({ group }) => group)).toEqual(['even', 'odd']);
  expect(plot.series.map(({ y }) => [Math.min(...y.map(Number)), Math.max(...y.map(Number))])).toEqual([
    [0, 6],
    [0, 6],
  ]);
  expect(plot.points).toBeLessThanOrEqual(80);
});
