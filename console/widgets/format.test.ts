import { expect, it } from 'vitest';
import { formatBytes, formatCount, formatCountOf } from './format.ts';

it.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [-1234567, '-1,234,567'],
  [50_000_000, '50,000,000'],
  [1234.5678, '1,234.5678'],
])('%d is written %s', (value, text) => {
  expect(formatCount(value)).toBe(text);
});

it('one thing is no plural', () => {
  expect([1, 0, 1000].map((count) => formatCountOf(count, 'row'))).toEqual(['1 row', '0 rows', '1,000 rows']);
});

it('bytes have the unit that leaves few digits', () => {
  expect([0, 999, 1000, 99_950, 9_854_541, 1e15].map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '100 kB',
    '9.9 MB',
    '1.0 PB',
  ]);
});
