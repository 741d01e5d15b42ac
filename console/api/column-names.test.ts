import { expect, it } from 'vitest';
import { formatColumnNames, parseColumnNames } from './column-names.ts';

it.each([
  [['price', 'symbol'], 'price,symbol'],
  [['a,b', 'say "x"', 'back\\slash'], '"a,b",say \\"x\\",back\\\\slash'],
  [['"both", as said'], '"\\"both\\", as said"'],
  [[], ''],
])('the names %j are written %s and read back', (names, text) => {
  expect(formatColumnNames(names)).toBe(text);
  expect(parseColumnNames(text)).toEqual(names);
});
