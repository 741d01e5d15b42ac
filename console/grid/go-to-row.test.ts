import { expect, it } from 'vitest';
import { indentJson } from './cell-viewer.tsx';
import { parseRow } from './go-to-row-dialog.tsx';

it.each([
  ['1', 0],
  ['1,000', 999],
  ['-1', 9_999_999],
  ['50%', 5_000_000],
  ['0', 0],
  ['99999999999', 9_999_999],
  ['', undefined],
  ['x', undefined],
])('%j of ten million rows is row %s, counted from 0', (text, row) => {
  expect(parseRow(text, 10_000_000)).toBe(row);
});

it('JSON is indented with every digit of its numbers', () => {
  expect(indentJson('{"a":[1,9223372036854775807],"b":{},"c":"x, {y}"}')).toBe(
    '{\n  "a": [\n    1,\n    9223372036854775807\n  ],\n  "b": {},\n  "c": "x, {y}"\n}',
  );
  expect(indentJson('[1,')).toBeUndefined();
});
