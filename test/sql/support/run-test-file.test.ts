import { expect, test } from 'vitest';
import { duckDbDoor } from './duckdb-door.ts';
import { runTestFile } from './run-test-file.ts';
import { parseTestFile } from './test-file.ts';

const fileOf = (...lines: readonly string[]) => parseTestFile('folder/name', ['# A title.', '', ...lines].join('\n'));

async function onDuckDb(...lines: readonly string[]): Promise<string[]> {
  using door = await duckDbDoor();
  // It is closed when this function returns.
  return await runTestFile(fileOf(...lines), door);
}

test('a record with other rows than the engine gives is told with its place', async () => {
  expect(await onDuckDb('query I', 'SELECT 1', '----', '2')).toEqual([
    'test/sql/folder/name.test:3 on duckdb\nSELECT 1\ngives\n1\ninstead of\n2',
  ]);
});

test.each([
  ['a row too many', ['query I', 'VALUES (1), (2)', '----', '1']],
  ['a row too few', ['query I', 'SELECT 1', '----', '1', '2']],
  ['rows in another order', ['query I', 'VALUES (1), (2)', '----', '2', '1']],
  ['a column too few', ['query I', 'SELECT 1, 2', '----', '1']],
  ['another number of a column of text', ['query T', 'SELECT 0.1::DOUBLE + 0.2::DOUBLE', '----', '0.3']],
  ['a number that differs by more than its last digits', ['query R', 'SELECT 1.0001::DOUBLE', '----', '1.0']],
  ['a statement that is refused', ['statement ok', 'SELECT nothing']],
  ['a statement that is not refused', ['statement error', 'SELECT 1']],
  ['another message', ['statement error', 'SELECT nothing', '----', 'the WHERE clause is missing']],
])('a file does not pass with %s', async (_, lines) => {
  expect(await onDuckDb(...lines)).toHaveLength(1);
});

test.each([
  ['rows that are sorted before', ['query I rowsort', 'VALUES (1), (2)', '----', '2', '1']],
  ['values that are sorted before', ['query II valuesort', 'SELECT 2, 1', '----', '1\t2']],
  ['a number with other last digits', ['query R', 'SELECT 0.1::DOUBLE + 0.2::DOUBLE', '----', '0.3']],
  ['a part of the message', ['statement error', 'SELECT nothing', '----', 'the FROM clause IS missing']],
  ['an empty text, a tab and NULL', ['query TTT', String.raw`SELECT '', E'\t', NULL`, '----', '(empty)\t\\t\tNULL']],
  ['parameters', ['parameters [1, "it\'s", null]', 'query ITT', 'SELECT ?, ?, ?', '----', "1\tit's\tNULL"]],
  ['a record for other engines', ['skipif duckdb spark', 'statement ok', 'SELECT nothing']],
  ['a record for this engine', ['onlyif duckdb', 'query I', 'SELECT 1', '----', '1']],
])('a file passes with %s', async (_, lines) => {
  expect(await onDuckDb(...lines)).toEqual([]);
});

test.each([
  ['an unknown word', ['hash-threshold 8']],
  ['an unknown engine', ['onlyif sqlite', 'statement ok', 'SELECT 1']],
  ['an unknown order', ['query I othersort', 'SELECT 1', '----', '1']],
  ['a query without rows below it', ['query I', 'SELECT 1']],
  ['a row of another width', ['query II', 'SELECT 1, 2', '----', '1']],
  [
    'rows that another query of its label does not expect',
    [...['query I nosort same', 'SELECT 1', '----', '1', ''], ...['query I nosort same', 'SELECT 2', '----', '2']],
  ],
  ['no statement', ['statement ok']],
  ['no record', ['# A comment.']],
])('a file is not read with %s', (_, lines) => {
  expect(() => fileOf(...lines)).toThrow('folder/name');
});
