import { tmpdir } from 'node:os';
import { arrowFields, createArrowEncoder, schemaMessage } from '@framehold/arrow-ipc';
import { joinBytes } from '@framehold/columns';
import { expect, test } from 'vitest';
import { arrowContents } from '../../../../test/support/arrow-values.ts';
import { Session } from '../session.ts';

const session = new Session({ threads: 1, memoryBytes: 200_000_000, tempDirectory: tmpdir(), maxTempBytes: 0 });

async function rowsOf(sql: string): Promise<unknown[][]> {
  using connection = session.connect();
  await using result = await connection.query(sql);
  const encoder = createArrowEncoder(result.columns);
  for await (const batch of result.batches()) encoder.encodeRows(batch, 0, batch.rows);
  const stream = joinBytes([schemaMessage(arrowFields(result.columns)), encoder.takeMessage().bytes]);
  return arrowContents(stream, result.columns).rows;
}

test.each<[sql: string, value: unknown]>([
  ['true', true],
  ['-1::TINYINT', -1],
  ['65535::USMALLINT', 65_535],
  ['2::UBIGINT', 2n],
  ['-(2::HUGEINT ** 100)::HUGEINT', -(2n ** 100n)],
  ['(2::UHUGEINT ** 100)::UHUGEINT', 2n ** 100n],
  ['1.5::FLOAT', 1.5],
  ['0.1::DOUBLE', 0.1],
  ['-1.25::DECIMAL(4, 2)', -125n],
  ['-1.25::DECIMAL(9, 2)', -125n],
  ['-9223372036854775.07::DECIMAL(18, 2)', -922_337_203_685_477_507n],
  ['1.25::DECIMAL(38, 2)', 125n],
  ["'ä'", 'ä'],
  [`'{"a": 1}'::JSON`, '{"a": 1}'],
  ["'\\xFF'::BLOB", Uint8Array.of(255)],
  ["'00112233-4455-6677-8899-aabbccddeeff'::UUID", '00112233-4455-6677-8899-aabbccddeeff'],
  ["DATE '1970-01-03'", 2],
  ["TIME '00:00:01'", 1_000_000n],
  ["TIMESTAMP_NS '1970-01-01 00:00:00.000000001'", 1n],
  ["TIMESTAMPTZ '1970-01-01 00:00:01+00'", 1_000_000n],
  ["INTERVAL '1 month 2 days 3 microseconds'", [1, 2, 3000n]],
  ["'b'::ENUM('a', 'b')", 'b'],
  ["['a', NULL]", ['a', null]],
  ["{'a': 1, 'b': ['x']}", [1, ['x']]],
  ["MAP {'k': 1}", [['k', 1]]],
  ["union_value(t := 'x')::UNION(n INTEGER, t VARCHAR)", [1, 'x']],
])('%s comes over, between NULLs and across chunks', async (sql, value) => {
  const rows = await rowsOf(`SELECT CASE WHEN range % 3 = 1 THEN ${sql} END AS v FROM range(5001)`);
  expect(rows).toEqual(Array.from({ length: 5001 }, (_, i) => [i % 3 === 1 ? value : null]));
});

test('arrays come over', async () => {
  const rows = await rowsOf('SELECT (CASE WHEN range % 3 = 1 THEN [range, NULL] END)::BIGINT[2] AS v FROM range(5001)');
  expect(rows).toEqual(Array.from({ length: 5001 }, (_, i) => [i % 3 === 1 ? [BigInt(i), null] : null]));
});

test('texts of all lengths come over, empty and absent ones between them', async () => {
  const text = "substr('ä23456789012345678901234567890123456789', 1, (range * 7 % 40)::INTEGER)";
  const absent = 'range % 11 = 3';
  const rows = await rowsOf(
    `SELECT CASE WHEN NOT ${absent} THEN ${text} END AS t, 'x' || range AS s, repeat('long ', 9) || range AS l FROM range(10_000)`,
  );
  expect(rows).toEqual(
    Array.from({ length: 10_000 }, (_, i) => [
      i % 11 === 3 ? null : 'ä23456789012345678901234567890123456789'.slice(0, (i * 7) % 40),
      `x${i}`,
      `${'long '.repeat(9)}${i}`,
    ]),
  );
});

test('the same rows come over beside a column that DuckDB must convert', async () => {
  const columns = "range AS n, range % 3 = 0 AS b, (range / 8)::DECIMAL(12, 3) AS d, 'text number ' || range AS t";
  const alone = await rowsOf(`SELECT ${columns} FROM range(3000)`);
  const beside = await rowsOf(`SELECT ${columns}, [range] AS l FROM range(3000)`);
  expect(beside.map((row) => row.slice(0, 4))).toEqual(alone);
});

test.each([2, 255, 256, 65_536])('an enum of %i values comes over as text, also inside a list', async (count) => {
  const values = Array.from({ length: count }, (_, i) => `'v${i}'`).join(',');
  const type = `ENUM(${values})`;
  const rows = await rowsOf(
    `SELECT v::${type} AS v, [NULL, v::${type}] AS l FROM (SELECT 'v' || (range % ${count}) AS v FROM range(3000))`,
  );
  expect(rows).toEqual(Array.from({ length: 3000 }, (_, i) => [`v${i % count}`, [null, `v${i % count}`]]));
});

test.each([
  ['to_microseconds(9223372036854775)', [0, 0, 9_223_372_036_854_775_000n]],
  ['to_microseconds(-9223372036854775)', [0, 0, -9_223_372_036_854_775_000n]],
])('the interval %s comes over, also beside and inside a list', async (sql, value) => {
  expect(await rowsOf(`SELECT ${sql} AS v`)).toEqual([[value]]);
  expect(await rowsOf(`SELECT ${sql} AS v, [${sql}] AS l`)).toEqual([[value, [value]]]);
});

test.each([
  ['to_hours(2562048)', 'PT2562048H'],
  ['to_microseconds(9223372036854776)', 'PT2562047H47M16.854776S'],
  ["INTERVAL '1 month' - to_microseconds(9223372036854775807)", 'P1MT-2562047788H-54.775807S'],
])('the interval %s is refused in Arrow and not wrapped around', async (sql, duration) => {
  const refusal = (message: string): object => ({
    code: 'unsupported_type',
    message: expect.stringContaining(message),
  });
  await expect(rowsOf(`SELECT ${sql} AS v`)).rejects.toMatchObject(refusal(duration));
  await expect(rowsOf(`SELECT ${sql} AS v, [1] AS l`)).rejects.toMatchObject(refusal(duration));
  for (const nested of [
    `[NULL, ${sql}]`,
    `{'a': [${sql}]}`,
    `MAP {'k': ${sql}}`,
    `array_value(${sql})`,
    `union_value(a := ${sql})`,
  ])
    await expect(rowsOf(`SELECT ${nested} AS v`)).rejects.toMatchObject(refusal('column "v" holds an interval'));
  expect(await rowsOf(`SELECT [CASE WHEN false THEN ${sql} END] AS v`)).toEqual([[[null]]]);
});

test('NULL comes over', async () => {
  expect(await rowsOf('SELECT NULL AS v')).toEqual([[null]]);
});

test('chunks of growing size come over', async () => {
  const rows = await rowsOf("SELECT repeat('x', (range // 40)::INTEGER) AS t, range AS n FROM range(10_000)");
  expect(rows).toEqual(Array.from({ length: 10_000 }, (_, i) => ['x'.repeat(Math.floor(i / 40)), BigInt(i)]));
});

test.each([
  'BOOLEAN',
  'TINYINT',
  'INTEGER',
  'BIGINT',
  'HUGEINT',
  'DOUBLE',
  'DECIMAL(38, 2)',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'INTERVAL',
])('nothing of what memory held before is left under the nulls of %s', async (type) => {
  using connection = session.connect();
  await rowsOf("SELECT repeat('secret', 9) || range AS t FROM range(20_000)");
  for (const sql of [
    'SELECT CASE WHEN range % 3 = 1 THEN v END AS v',
    'SELECT CASE WHEN range > 5000 THEN v END AS v',
  ]) {
    await using result = await connection.query(`${sql} FROM (SELECT range, NULL::${type} AS v FROM range(5001))`);
    for await (const batch of result.batches()) {
      const data = Buffer.from(batch.vectors[0]?.data ?? []);
      expect(data.every((byte) => byte === 0)).toBe(true);
    }
  }
});
