import { expect, test } from 'vitest';
import { ShortStatement } from './short-statement.ts';

test('a statement is short once it was', () => {
  const pace = new ShortStatement();
  expect(pace.isShort).toBe(false);
  pace.wasShort();
  expect(pace.isShort).toBe(true);
});

test('it stays so if it is slow at times, and not if it always is', () => {
  const pace = new ShortStatement();
  pace.wasShort();
  for (const hasEnded of [false, false, true, false, false]) pace.ranAtOnce(hasEnded);
  expect(pace.isShort).toBe(true);
  pace.ranAtOnce(false);
  pace.wasShort();
  expect(pace.isShort).toBe(false);
});
