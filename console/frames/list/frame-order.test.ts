import { expect, it } from 'vitest';
import type { Frame } from '../frame.ts';
import { chooseFrames } from './frame-order.ts';

const frame = (handle: string, rows: number | null): Frame => ({
  handle,
  state: rows === null ? 'damaged' : 'held',
  version: 1,
  kind: 'frame',
  versionId: null,
  rows,
  columns: null,
  bytes: { cold: rows ?? 0, hot: 0 },
  created: null,
  ttl: null,
  expires: null,
  damaged: null,
});
const all = [frame('b.Trades', 5), frame('a.trades', 50), frame('c.quotes', null), frame('desk/trades', 5)];
const names = (filter: string, by: 'handle' | 'rows', isDescending: boolean): string[] =>
  chooseFrames(all, filter, { by, isDescending }).map(({ handle }) => handle);

it('frames are found by words of their names in any case', () => {
  expect(names('trades', 'handle', false)).toEqual(['a.trades', 'b.Trades', 'desk/trades']);
  expect(names('TRADES desk', 'handle', false)).toEqual(['desk/trades']);
});

it('frames whose rows are not known come last in either order', () => {
  expect(names('', 'rows', false)).toEqual(['b.Trades', 'desk/trades', 'a.trades', 'c.quotes']);
  expect(names('', 'rows', true)).toEqual(['a.trades', 'b.Trades', 'desk/trades', 'c.quotes']);
});
