import { expect, it } from 'vitest';
import { formatColumnNames, parseColumnNames } from './column-names.ts';

it.each([
  [['price', 'symbol'], 'price,symbol'],
  [['a,b', 'say "x"', ''], '"a,b","say ""x""",""'],
  [[], ''],
])('the names %j are written %s and read back', (names, text) => {
  expect(formatColumnNames(names)).toBe(text);
  expect(parseColumnNames(text)).toEqual(names);
});
