import { expect, test } from 'vitest';
import { uniqueNames } from './unique-names.ts';

test.each([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [
    ['a', 'A', 'a'],
    ['a', 'A_1', 'a_2'],
  ],
  [
    ['a_1', 'a', 'a'],
    ['a_1', 'a', 'a_2'],
  ],
  [
    ['', ''],
    ['column', '_1'],
  ],
])('%j become %j', (names, expected) => {
  expect(uniqueNames(names)).toEqual(expected);
});

test('as many alike as a schema may have are told apart', () => {
  expect(new Set(uniqueNames(Array<string>(20_000).fill('same'))).size).toBe(20_000);
});
