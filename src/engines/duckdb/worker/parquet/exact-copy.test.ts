import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import { copyExactly } from './exact-copy.ts';
import { haveSameValues } from './value-digest.ts';

const connection = duckDbConnection();
const { signal } = new AbortController();
const zeros = `CASE WHEN i % 900 = 0 THEN '-0.0' WHEN i % 900 = 1 THEN '0.0' END`;

test.each([
  ['many values', `coalesce(${zeros}::DOUBLE, i / 3)`, true],
  ['few values', `coalesce(${zeros}::DOUBLE, i % 7)`, false],
  [
    'many intervals',
    `CASE i % 900 WHEN 0 THEN INTERVAL 1 DAY WHEN 1 THEN INTERVAL 24 HOUR ELSE to_seconds(i) END`,
    true,
  ],
  [
    'few intervals',
    `CASE i % 9 WHEN 0 THEN INTERVAL 1 DAY WHEN 1 THEN INTERVAL 24 HOUR ELSE to_seconds(i % 9) END`,
    false,
  ],
])(
  'beside %s of which some are equal and differ, texts have dictionaries where no value is lost',
  async (_, value, has) => {
    const path = join(tmpdir(), `framehold-exact-copy-${process.pid}.parquet`);
    const select = `SELECT 'symbol ' || i % 40 AS t, ${value} AS v FROM range(20_000) AS r(i)`;
    using statement = await connection.prepare(select);
    const { columns } = statement;
    const compression = { algorithm: 'zstd', level: 19 } as const;
    await copyExactly(
      connection,
      { select, columns, sources: [`(${select})`], path, compression, options: [] },
      signal,
    );
    expect(await haveSameValues(connection, [`(${select})`, `read_parquet('${path}')`], signal)).toBe(true);
    const [texts] = await connection.rows(
      `SELECT bool_and(encodings LIKE '%DICTIONARY%') AS has FROM parquet_metadata('${path}') WHERE path_in_schema = 't'`,
    );
    expect(texts).toEqual({ has });
  },
);
