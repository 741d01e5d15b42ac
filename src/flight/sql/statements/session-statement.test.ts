import { expect, test } from 'vitest';
import { readSessionStatement } from './session-statement.ts';

test.each([
  ["SET engine = 'spark'", 'spark'],
  ['set session engine to Spark ;', 'spark'],
  ['SET engine = "my-cluster"', 'my-cluster'],
  ['SET engine = DEFAULT', undefined],
  [' RESET  engine;', undefined],
])('%s chooses an engine', (sql, engine) => {
  expect(readSessionStatement(sql)).toEqual({ engine });
});

test.each(['SELECT 1', "SET threads = 'x'", 'RESET engines', 'SET engine'])('%s is for an engine to run', (sql) => {
  expect(readSessionStatement(sql)).toBeUndefined();
});

test.each(['RESET engine', 'SET engine = spark'])('%s with a million blanks behind it is passed on at once', (sql) => {
  expect(readSessionStatement(`${sql}${' '.repeat(1_000_000)}x`)).toBeUndefined();
});
