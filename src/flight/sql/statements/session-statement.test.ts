import { expect, test } from 'vitest';
import { readSessionStatement } from './session-statement.ts';

test.each([
  ["SET engine = 'spark'", 'engine', 'spark'],
  ['set session engine to Spark ;', 'engine', 'spark'],
  ['SET engine = "my-cluster"', 'engine', 'my-cluster'],
  ['SET engine = DEFAULT', 'engine', undefined],
  [' RESET  engine;', 'engine', undefined],
  ["SET TimeZone = 'Europe/Berlin'", 'TimeZone', 'Europe/Berlin'],
  ["/* by a program */ SET SESSION timezone TO 'Europe/Berlin' -- so\n;", 'TimeZone', 'Europe/Berlin'],
  ["set time zone 'UTC'", 'TimeZone', 'UTC'],
  ['SET TIME ZONE LOCAL', 'TimeZone', undefined],
  ['RESET TIME ZONE', 'TimeZone', undefined],
  ['SET "TIMEZONE" = DEFAULT', 'TimeZone', undefined],
  ["SET default_collation = ''", 'default_collation', ''],
  ['SET integer_division=true', 'integer_division', 'true'],
  ["SET TimeZone = 'it''s'", 'TimeZone', "it's"],
])('%s sets', (sql, name, value) => {
  expect(readSessionStatement(sql)).toEqual({ kind: 'set', name, value });
});

test.each([
  ['BEGIN', 'begin'],
  ['begin transaction;', 'begin'],
  ['/* dbt */ BEGIN', 'begin'],
  ['/* a /* b */ c */ COMMIT /**/', 'commit'],
  ['START TRANSACTION', 'begin'],
  ['COMMIT WORK', 'commit'],
  ['END', 'commit'],
  ['ROLLBACK;', 'rollback'],
  ['ABORT', 'rollback'],
])('%s begins or ends a transaction', (sql, kind) => {
  expect(readSessionStatement(sql)).toEqual({ kind });
});

test.each([
  'SELECT 1',
  "SET threads = 'x'",
  'RESET engines',
  'RESET',
  'SET engine',
  'SET',
  "SET 'TimeZone' = 'UTC'",
  "SET TimeZone = 'UTC', Calendar = 'x'",
  "SET TimeZone = 'UTC'; SET threads = 1",
  "SET TimeZone = (SELECT 'UTC')",
  "SET GLOBAL TimeZone = 'UTC'",
  "SET TimeZone 'UTC'",
  "SET TimeZone = 'UTC",
  '/* BEGIN',
  '/* /* */ COMMIT',
  '/* /* */ */ */ COMMIT',
  'BEGIN READ ONLY',
  'START',
  'COMMIT; DROP TABLE x',
  'ROLLBACK TO SAVEPOINT a',
  "PREPARE x AS SET TimeZone = 'UTC'",
  '',
  ';',
])('%s is for an engine to run or to refuse', (sql) => {
  expect(readSessionStatement(sql)).toBeUndefined();
});

test.each([
  `RESET engine${' '.repeat(1_000_000)}x`,
  `SET TimeZone = ${"''".repeat(1900)}`,
  `/*${'*'.repeat(3900)}`,
  "'".repeat(3999),
])('one that is long is passed on at once: %#', (sql) => {
  const begun = performance.now();
  readSessionStatement(sql);
  expect(performance.now() - begun).toBeLessThan(100);
});
