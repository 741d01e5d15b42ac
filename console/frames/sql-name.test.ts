import { expect, it } from 'vitest';
import { sqlName } from './sql-name.ts';

it.each([
  ['trades', 'trades'],
  ['desk7.series', '"desk7.series"'],
  ['order', '"order"'],
  ['Trades', '"Trades"'],
  ['default/trades', '"default".trades'],
  ['team-a/trades', '"team-a".trades'],
])('the frame %s is %s in SQL', (handle, name) => {
  expect(sqlName(handle)).toBe(name);
});
