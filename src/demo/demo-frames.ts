/** Frames worth looking at, the same on every machine: `hash` of DuckDB is fixed, and nothing depends on the clock. */
export const demoFrames: readonly { readonly handle: string; readonly sql: string }[] = [
  { handle: 'trades', sql: tradesSql(1_000_000) },
  { handle: 'sensors', sql: sensorsSql(100_000) },
  { handle: 'types', sql: typesSql() },
];

/** Close to three days of trades, four a second. */
function tradesSql(rows: number): string {
  return `
    SELECT TIMESTAMP '2026-01-01 00:00:00' + to_microseconds(i * 1_000_000 // 4 + (hash(i) % 200_000)::BIGINT) AS timestamp,
           market.symbol AS symbol,
           CASE WHEN hash(i, 2) % 2 = 0 THEN 'buy' ELSE 'sell' END AS side,
           round(market.base * (1 + 0.1 * sin(i / 40_000.0) + (hash(i, 3) % 1000)::BIGINT / 100_000.0), 2) AS price,
           round((1 + hash(i, 4) % 100_000)::DOUBLE / 10_000, 4) AS amount,
           i AS id
    FROM (SELECT range AS i, (hash(range, 1) % 5)::INTEGER AS pick FROM range(${rows}))
    JOIN (VALUES (0, 'BTC-USD', 64000.0), (1, 'ETH-USD', 3200.0), (2, 'SOL-USD', 145.0), (3, 'XRP-USD', 0.61), (4, 'ADA-USD', 0.44))
      AS market(pick, symbol, base) USING (pick)
    ORDER BY i`;
}

/** Ten sensors, one reading a second in turn, some of them missing. */
function sensorsSql(rows: number): string {
  return `
    SELECT TIMESTAMPTZ '2026-03-01 00:00:00+00' + to_seconds(i) AS time,
           'sensor-' || (i % 10 + 1) AS sensor,
           CASE WHEN hash(i, 1) % 50 = 0 THEN NULL
                ELSE round(20 + 5 * sin(i / 3600.0) + (hash(i, 2) % 100)::BIGINT / 100.0, 2) END AS temperature,
           (40 + hash(i, 3) % 30)::TINYINT AS humidity,
           hash(i, 4) % 1000 <> 0 AS online
    FROM (SELECT range AS i FROM range(${rows}))
    ORDER BY i`;
}

/** Every type of the table of types: lowest, highest, an ordinary value, and NULL. */
function typesSql(): string {
  const columns: readonly (readonly [name: string, type: string, lowest: string, highest: string, usual: string])[] = [
    ['boolean', 'BOOLEAN', 'false', 'true', 'true'],
    ['int8', 'TINYINT', '-128', '127', '7'],
    ['int16', 'SMALLINT', '-32768', '32767', '7'],
    ['int32', 'INTEGER', '-2147483648', '2147483647', '7'],
    ['int64', 'BIGINT', '-9223372036854775808', '9223372036854775807', '7'],
    ['uint8', 'UTINYINT', '0', '255', '7'],
    ['uint16', 'USMALLINT', '0', '65535', '7'],
    ['uint32', 'UINTEGER', '0', '4294967295', '7'],
    ['uint64', 'UBIGINT', '0', '18446744073709551615', '7'],
    ['float32', 'FLOAT', "'-infinity'", '3.4028235e38', '0.1'],
    ['float64', 'DOUBLE', "'nan'", '1.7976931348623157e308', '0.1'],
    ['decimal', 'DECIMAL(18,3)', '-999999999999999.999', '999999999999999.999', '12.500'],
    ['decimal_wide', 'DECIMAL(38,0)', `-${'9'.repeat(38)}`, '9'.repeat(38), '42'],
    ['varchar', 'VARCHAR', "''", `'quote " backslash \\ newline ' || chr(10) || ' emoji 🦆'`, "'plain'"],
    ['date', 'DATE', "'0044-03-15 (BC)'", "'10000-01-01'", "'2026-01-31'"],
    [
      'timestamp',
      'TIMESTAMP',
      "'0044-03-15 (BC) 12:00:00'",
      "'10000-01-01 00:00:00.000001'",
      "'2026-01-31 12:00:00.5'",
    ],
    [
      'timestamp_tz',
      'TIMESTAMPTZ',
      "'1969-12-31 23:59:59.999999+00'",
      "'9999-12-31 23:59:59+00'",
      "'2026-01-31 12:00:00+02'",
    ],
    [
      'timestamp_ns',
      'TIMESTAMP_NS',
      "'1677-09-22 00:00:00'",
      "'2262-04-11 23:47:16.854775806'",
      "'2026-01-31 12:00:00.123456789'",
    ],
    ['time', 'TIME', "'00:00:00'", "'23:59:59.999999'", "'12:00:00'"],
    ['interval', 'INTERVAL', "INTERVAL '0 days'", "INTERVAL '999 years'", "INTERVAL '1 month 2 days 3 hours'"],
    [
      'uuid',
      'UUID',
      "'00000000-0000-0000-0000-000000000000'",
      "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
      "'6a2f0b1e-6c1c-4b9e-9a53-0f1d2c3b4a59'",
    ],
    ['binary', 'BLOB', "''", "'\\xFF\\x00\\x80'", "'duck'"],
    ['list', 'INTEGER[]', '[]', '[2147483647, NULL]', '[1, 2, 3]'],
    ['nested_list', 'DOUBLE[][]', '[[]]', "[['infinity'::DOUBLE, 1.5], NULL]", '[[1, 2], [3]]'],
    ['struct', 'STRUCT(a INTEGER, b VARCHAR)', '{a: NULL, b: NULL}', "{a: 2147483647, b: '🦆'}", "{a: 1, b: 'x'}"],
    ['map', 'MAP(VARCHAR, INTEGER)', 'MAP {}', "MAP {'max': 2147483647, 'none': NULL}", "MAP {'one': 1}"],
    ['map_by_number', 'MAP(INTEGER, VARCHAR)', 'MAP {}', "MAP {2147483647: 'max'}", "MAP {1: 'one'}"],
    ['json', 'JSON', "'null'", `'{"deep":[1,{"x":null}]}'`, "'[1, 2]'"],
  ];
  const row = (pick: (values: readonly [string, string, string, string, string]) => string): string =>
    `SELECT ${columns.map((column) => `CAST(${pick(column)} AS ${column[1]}) AS "${column[0]}"`).join(', ')}`;
  return [row((c) => c[2]), row((c) => c[3]), row((c) => c[4]), row(() => 'NULL')].join('\nUNION ALL ');
}
