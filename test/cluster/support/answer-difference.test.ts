import { expect, test } from 'vitest';
import { answerDifference } from './answer-difference.ts';
import type { SqlAnswer } from './engine-door.ts';

const answer = (type: string, ...cells: unknown[]): SqlAnswer => ({
  columns: [{ name: 'a', type }],
  dataset: cells.map((cell) => [cell]),
  count: cells.length,
  error: '',
  code: '',
});

test.each([
  ['the same text', answer('VARCHAR', 'x', null), answer('VARCHAR', 'x', null)],
  ['a decimal of another scale', answer('DECIMAL(38,4)', '1.5000'), answer('DECIMAL(10,1)', '1.5')],
  ['a whole number of another type', answer('DECIMAL(38,0)', '7'), answer('LONG', 7)],
  ['doubles that differ by rounding', answer('DOUBLE', 0.30000000000000004), answer('DOUBLE', 0.3)],
  ['a double and its rounded decimal', answer('DOUBLE', 25.5375871168), answer('DECIMAL(19,6)', '25.537588')],
])('%s agrees', (_, expected, found) => {
  expect(answerDifference(expected, found)).toBeUndefined();
});

test.each([
  ['another text', answer('VARCHAR', 'x'), answer('VARCHAR', 'y'), 'row 1 is ["y"], not ["x"]'],
  ['NULL', answer('LONG', 0), answer('LONG', null), 'row 1 is [null], not [0]'],
  ['one row less', answer('LONG', 1, 2), answer('LONG', 1), '1 rows, not 2'],
  ['another order', answer('LONG', 1, 2), answer('LONG', 2, 1), 'row 1 is [2], not [1]'],
  [
    'a decimal in its last digit',
    answer('DECIMAL(38,2)', '12345678901234567890.12'),
    answer('DECIMAL(38,2)', '12345678901234567890.13'),
    'row 1 is ["12345678901234567890.13"], not ["12345678901234567890.12"]',
  ],
  ['a double', answer('DOUBLE', 1), answer('DOUBLE', 1.00001), 'row 1 is [1.00001], not [1]'],
])('%s is told', (_, expected, found, difference) => {
  expect(answerDifference(expected, found)).toBe(difference);
});
