import { expect, it } from 'vitest';
import { ColumnLayout } from './column-layout.ts';

it('finds the columns that are to be seen', () => {
  const layout = new ColumnLayout(Array.from({ length: 10_000 }, () => 100));
  expect(layout.totalPx).toBe(1_000_000);
  expect(layout.visible(0, 850)).toEqual({ first: 0, end: 9 });
  expect(layout.visible(500_050, 100)).toEqual({ first: 5000, end: 5002 });
  expect(layout.visible(999_950, 500)).toEqual({ first: 9999, end: 10_000 });
});

it('moves what stands behind a column that is made wider', () => {
  const layout = new ColumnLayout([100, 100, 100]);
  layout.resize(1, 250);
  expect([layout.left(0), layout.left(1), layout.left(2), layout.totalPx]).toEqual([0, 100, 350, 450]);
  layout.resize(1, 1);
  expect(layout.width(1)).toBe(48);
});

it('has nothing to show without columns', () => {
  expect(new ColumnLayout([]).visible(0, 100)).toEqual({ first: 0, end: 0 });
});
