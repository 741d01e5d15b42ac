import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Session } from '@framehold/duckdb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { ask } from '../support/http-client.ts';

/** Each type with values that are easily lost. */
const columns: Readonly<Record<string, readonly [type: string, ...values: string[]]>> = {
  yes: ['BOOLEAN', 'true', 'false', 'NULL'],
  small: ['TINYINT', '-128', '127', 'NULL'],
  long: ['BIGINT', '-9223372036854775808', '9223372036854775807', 'NULL'],
  unsigned: ['UBIGINT', '18446744073709551615', '0', 'NULL'],
  single: ['FLOAT', '0.1', "'NaN'", "'-Infinity'", '3.4028235e38', 'NULL'],
  double: ['DOUBLE', '0.1', "'NaN'", "'Infinity'", "'-Infinity'", '5e-324', '-0.0', '1e22', 'NULL'],
  exact: ['DECIMAL(38,10)', '-0.0000000001', '1234567890123456789012345678.9', 'NULL'],
  text: [
    'VARCHAR',
    "''",
    'NULL',
    "'a,b'",
    `'"'`,
    "' x '",
    `E'one\\r\\ntwo'`,
    `E'\\t'`,
    "'007'",
    "'NULL'",
    "'é😀'",
    "'#'",
  ],
  day: ['DATE', "'0001-01-01'", "'9999-12-31'", 'NULL'],
  at: ['TIMESTAMP', "'1969-12-31 23:59:59.999999'", "'2026-01-31 12:00:00'", 'NULL'],
  zoned: ['TIMESTAMPTZ', "'2026-01-31 12:00:00+05'", 'NULL'],
  fine: ['TIMESTAMP_NS', "'2026-01-31 12:00:00.123456789'", 'NULL'],
  clock: ['TIME', "'23:59:59.999999'", 'NULL'],
  id: ['UUID', "'00112233-4455-6677-8899-aabbccddeeff'", 'NULL'],
  list: ['BIGINT[]', '[1, 2]', '[]', 'NULL'],
};

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
  for (const [name, [type, ...values]] of Object.entries(columns)) {
    const rows = values.map((value, n) => `(${n}, CAST(${value} AS ${type}))`).join(', ');
    await putSql(server.frames, name, `SELECT * FROM (VALUES ${rows}) AS t(n, v)`);
  }
  await putSql(
    server.frames,
    'trades',
    `SELECT range AS id, 'S' || range % 3 AS symbol, range / 7 AS price, range % 2 = 0 AS buy,
       TIMESTAMPTZ '2026-01-01 00:00:00Z' + INTERVAL (range) SECOND AS at, DATE '2026-01-01' + (range % 100)::INT AS day
     FROM range(20_000)`,
  );
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function save(handle: string, fmt: string): Promise<string> {
  const path = join(server.dataDir, `${handle}.${fmt}.out`);
  await writeFile(path, (await ask(`${server.url}/exp?handle=${handle}&fmt=${fmt}`)).body);
  return path;
}

function open(): Session {
  return new Session({ threads: 1, memoryBytes: 500e6, tempDirectory: server.dataDir, maxTempBytes: 1e9 });
}

test.each([
  ...Object.entries(columns).map(([name, [type]]) => [name, type, 'csv', ','] as const),
  ['text', 'VARCHAR', 'tsv', '\t'] as const,
])('DuckDB reads %s back equal: %s as %s', async (name, type, fmt, delimiter) => {
  const [csv, parquet] = [await save(name, fmt), await save(name, 'parquet')];
  using connection = open().connect();
  const read = `read_csv('${csv}', delim = '${delimiter}', header = true, allow_quoted_nulls = false,
    columns = {n: 'INTEGER', v: '${type}'})`;
  const different = await connection.rows(
    `SELECT n::INT AS n, w.v::VARCHAR AS wanted, f.v::VARCHAR AS found
     FROM read_parquet('${parquet}') w FULL JOIN ${read} f USING (n) WHERE w.v IS DISTINCT FROM f.v`,
  );
  expect(different).toEqual([]);
});

test('DuckDB finds the types and the rows of an ordinary table by itself', async () => {
  const [csv, parquet] = [await save('trades', 'csv'), await save('trades', 'parquet')];
  using connection = open().connect();
  const types = await connection.rows<{ column_type: string }>(
    `SELECT column_type FROM (DESCRIBE FROM read_csv('${csv}'))`,
  );
  expect(types.map(({ column_type: type }) => type)).toEqual([
    'BIGINT',
    'VARCHAR',
    'DOUBLE',
    'BOOLEAN',
    'TIMESTAMP WITH TIME ZONE',
    'DATE',
  ]);
  const [both] = await connection.rows(
    `SELECT count(*)::INT AS different FROM ((FROM read_csv('${csv}') EXCEPT ALL FROM read_parquet('${parquet}'))
     UNION ALL (FROM read_parquet('${parquet}') EXCEPT ALL FROM read_csv('${csv}')))`,
  );
  expect(both).toEqual({ different: 0 });
});

test.each(['csv', 'tsv', 'ndjson'])(
  'a frame as %s and back has the same types and rows, put or appended',
  async (fmt) => {
    await putSql(
      server.frames,
      `times_${fmt}`,
      `SELECT TIMESTAMP '2026-01-31 12:00:00' + INTERVAL (range) SECOND AS "at", "at"::TIMESTAMPTZ AS zoned,
       make_timestamp_ns(range * 1_000_000_007) AS fine, DATE '2026-01-31' + range::INT AS day, TIME '12:30:00' AS clock
     FROM range(3)`,
    );
    const exported = (await ask(`${server.url}/exp?handle=times_${fmt}&fmt=${fmt}`)).body;
    const put = await ask(`${server.url}/imp?name=back_${fmt}`, { method: 'POST', body: exported });
    expect(put.status, put.text).toBe(200);
    const types = async (handle: string) => (await ask(`${server.url}/handles/${handle}`)).json().columns;
    expect(await types(`back_${fmt}`)).toEqual(await types(`times_${fmt}`));
    const appended = await ask(`${server.url}/imp?name=back_${fmt}&append=true`, { method: 'POST', body: exported });
    expect(appended.status, appended.text).toBe(200);
    const rows = async (handle: string) =>
      (await ask(`${server.url}/exec?handle=${handle}&fmt=json`)).json().dataset as unknown[];
    const wanted = await rows(`times_${fmt}`);
    expect(await rows(`back_${fmt}`)).toEqual([...wanted, ...wanted]);
  },
);
