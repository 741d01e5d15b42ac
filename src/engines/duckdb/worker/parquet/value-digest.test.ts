import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import { hasEqualValues } from './equal-values.ts';
import { haveSameValues } from './value-digest.ts';

const connection = duckDbConnection();
const { signal } = new AbortController();
const every = `(SELECT i, i % 3 = 0 AS b, CASE WHEN i % 5 <> 0 THEN i / 7 END AS f, CASE WHEN i % 7 <> 0 THEN 'text ' || i END AS t,
  CASE WHEN i % 4 <> 0 THEN [i, NULL, i + 1] END AS l, CASE WHEN i % 6 <> 0 THEN {'x': i::FLOAT, 'y': [NULL, 'z' || i]} END AS s,
  MAP {i: 'a'} AS m, i::DECIMAL(30, 2) AS d, INTERVAL (i) SECOND AS v FROM range(5000) AS r(i))`;

const same = (one: string, other: string): Promise<boolean> => haveSameValues(connection, [one, other], signal);

test('the same values are the same in whatever row groups they lie', async () => {
  const path = join(tmpdir(), `framehold-digest-${process.pid}.parquet`);
  await connection.run(`COPY (FROM ${every}) TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`);
  expect(await same(every, `read_parquet('${path}')`)).toBe(true);
});

test.each([
  ['the sign of a zero', `'0.0'::DOUBLE`, `'-0.0'::DOUBLE`],
  ['the sign of NaN', `'nan'::DOUBLE`, `-('nan'::DOUBLE)`],
  ['NULL beside an empty text', 'NULL::VARCHAR', "''"],
  ['where one text ends and the next begins', "unnest(['ab', 'c'])", "unnest(['a', 'bc'])"],
  ['where one list ends and the next begins', 'unnest([[1, 2], [3]])', 'unnest([[1], [2, 3]])'],
  ['which of two is NULL', 'unnest([NULL, 1])', 'unnest([1, NULL])'],
  ['an empty list beside NULL', '[]::INTEGER[]', 'NULL::INTEGER[]'],
  ['a NULL inside a struct beside a NULL struct', "{'x': NULL::INTEGER}", 'NULL::STRUCT(x INTEGER)'],
  ['one row more', 'unnest([1, 1])', '1'],
])('%s tells two relations apart', async (_, one, other) => {
  expect(await same(`(SELECT ${one} AS v)`, `(SELECT ${one} AS v)`)).toBe(true);
  expect(await same(`(SELECT ${one} AS v)`, `(SELECT ${other} AS v)`)).toBe(false);
});

test.each([
  [`unnest(['0.0', '-0.0'])::DOUBLE`, true],
  [`unnest(['0.0', '-0.0'])::FLOAT`, true],
  [`['0.0'::FLOAT, '-0.0'::FLOAT]`, true],
  [`{'x': unnest(['nan'::DOUBLE, -('nan'::DOUBLE)])}`, true],
  [`unnest(['0.0', '1', 'nan', 'nan', '0.0'])::DOUBLE`, false],
  [`unnest(['-0.0', '-0.0'])::DOUBLE`, false],
  [`unnest(['0', '1'])::INTEGER`, false],
  [`unnest([INTERVAL 24 HOUR, INTERVAL 1 DAY])`, true],
  [`unnest([INTERVAL 24 HOUR, INTERVAL 1 HOUR, INTERVAL 24 HOUR])`, false],
])('values that are equal to DuckDB and differ: %s, %s', async (value, expected) => {
  expect(await hasEqualValues(connection, [`(SELECT ${value} AS v)`])).toBe(expected);
});
