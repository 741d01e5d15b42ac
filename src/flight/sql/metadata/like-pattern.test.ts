import { expect, test } from 'vitest';
import { likePattern } from './like-pattern.ts';

test.each([
  ['%', 'trades', true],
  ['%', '', true],
  ['', '', true],
  ['', 'trades', false],
  ['trades', 'trades', true],
  ['trades', 'TRADES', true],
  ['TRADES', 'trades', true],
  ['Tr%S', 'tRades', true],
  ['Ä', 'ä', false],
  ['İ_', 'İx', true],
  ['tr%', 'trades', true],
  ['%des', 'trades', true],
  ['%a%e%', 'trades', true],
  ['%e%a%', 'trades', false],
  ['trade_', 'trades', true],
  ['trade_', 'trade', false],
  ['_', '🦆', true],
  ['f.x', 'fox', false],
  ['a\\_b', 'a_b', true],
  ['a\\_b', 'axb', false],
  ['100\\%', '100%', true],
  ['100\\%', '100x', false],
  ['a\\\\b', 'a\\b', true],
  ['a\\', 'a\\', true],
  ['%%s', 'trades', true],
])('%j fits %j: %s', (pattern, name, fits) => {
  expect(likePattern(pattern)(name)).toBe(fits);
});

test('no pattern fits everything', () => {
  expect(likePattern(undefined)('anything')).toBe(true);
});

test('a pattern of many % takes no longer than others', () => {
  const fits = likePattern(`${'%a'.repeat(200)}b`);
  const start = performance.now();
  for (let i = 0; i < 100; i++) expect(fits('a'.repeat(128))).toBe(false);
  expect(performance.now() - start).toBeLessThan(2000);
});
