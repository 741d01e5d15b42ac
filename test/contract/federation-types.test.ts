import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryFault } from '../../src/core/text/tsdb-query.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type LiveQuestDb, postSql, rowsOf, startLiveQuestDb } from '../support/live-questdb.ts';
import { questdbUnavailable } from '../support/questdb-unavailable.ts';

const hex = '0123456789abcdef'.repeat(4);
const ipv4s = ['0.0.0.1', '192.168.1.255', '255.255.255.254'];

/** The type in QuestDB, the type here, literals there, and what JSON shows of them here. The first literal is NULL. */
const columns: readonly (readonly [string, string, readonly string[], readonly unknown[]])[] = [
  ['boolean', 'BOOLEAN', ['null', 'true', 'false'], [false, true, false]],
  ['byte', 'TINYINT', ['null', '-128', '127'], [0, -128, 127]],
  ['short', 'SMALLINT', ['null', '-32768', '32767'], [0, -32768, 32767]],
  ['char', 'VARCHAR', ['null', "'é'", "'''' "], [null, 'é', "'"]],
  ['int', 'INTEGER', ['null', '-2147483647', '2147483647'], [null, -2147483647, 2147483647]],
  ['long', 'BIGINT', ['null', '-9223372036854775807', '42'], [null, '-9223372036854775807', '42']],
  ['float', 'FLOAT', ['null', '1.5', '-0.25'], [null, 1.5, -0.25]],
  ['double', 'DOUBLE', ['null', '-1.0E308', '0.1'], [null, -1e308, 0.1]],
  ['decimal(2,1)', 'DECIMAL(2,1)', ['null', '1.2m', '-9.9m'], [null, '1.2', '-9.9']],
  ['decimal(4,2)', 'DECIMAL(4,2)', ['null', '12.34m', '-99.99m'], [null, '12.34', '-99.99']],
  ['decimal(9,3)', 'DECIMAL(9,3)', ['null', '123456.789m', '-0.001m'], [null, '123456.789', '-0.001']],
  ['decimal(18,3)', 'DECIMAL(18,3)', ['null', '123456789012345.678m', '0m'], [null, '123456789012345.678', '0.000']],
  [
    'decimal(38,5)',
    'DECIMAL(38,5)',
    ['null', '123456789012345678901234567890123.45678m', '-1m'],
    [null, '123456789012345678901234567890123.45678', '-1.00000'],
  ],
  [
    'decimal(76,10)',
    'VARCHAR',
    ['null', '123456789012345678901234567890123456789012345.0123456789m', '-1m'],
    [null, '123456789012345678901234567890123456789012345.0123456789', '-1.0000000000'],
  ],
  ['string', 'VARCHAR', ['null', "''", "'grüße 😀'"], [null, '', 'grüße 😀']],
  ['varchar', 'VARCHAR', ['null', "''", "'grüße 😀'"], [null, '', 'grüße 😀']],
  ['symbol', 'VARCHAR', ['null', "''", "'grüße 😀'"], [null, '', 'grüße 😀']],
  [
    'date',
    'TIMESTAMP',
    ['null', "'2026-01-31T12:00:00.123Z'", "'1960-01-01'"],
    [null, '2026-01-31T12:00:00.123000Z', '1960-01-01T00:00:00.000000Z'],
  ],
  [
    'timestamp',
    'TIMESTAMP',
    ['null', "'2026-01-31T12:00:00.123456Z'", "'1960-01-01'"],
    [null, '2026-01-31T12:00:00.123456Z', '1960-01-01T00:00:00.000000Z'],
  ],
  [
    'timestamp_ns',
    'TIMESTAMP_NS',
    ['null', "'2026-01-31T12:00:00.123456789Z'", "'1960-01-01'"],
    [null, '2026-01-31T12:00:00.123456789Z', '1960-01-01T00:00:00.000000000Z'],
  ],
  [
    'uuid',
    'UUID',
    ['null', "'11111111-2222-3333-4444-555566667777'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
    [null, '11111111-2222-3333-4444-555566667777', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ],
  ['long256', 'VARCHAR', ['null', `0x${hex}`, '0x01'], [null, `0x${hex}`, '0x01']],
  ['ipv4', 'VARCHAR', ['null', `'${ipv4s[1]}'`, `'${ipv4s[2]}'`], [null, ipv4s[1], ipv4s[2]]],
  ['geohash(1c)', 'VARCHAR', ['null', '#u', '#0'], [null, 'u', '0']],
  ['geohash(7b)', 'VARCHAR', ['null', '##1000001', '##0000000'], [null, '1000001', '0000000']],
  ['geohash(4c)', 'VARCHAR', ['null', '#u33d', '#zzzz'], [null, 'u33d', 'zzzz']],
  ['geohash(12c)', 'VARCHAR', ['null', '#u33d8b121234', '#zzzzzzzzzzzz'], [null, 'u33d8b121234', 'zzzzzzzzzzzz']],
  ['double[]', 'DOUBLE[]', ['null', 'ARRAY[1.0, null, -3.5]', 'ARRAY[]::double[]'], [null, [1, null, -3.5], []]],
  [
    'double[][]',
    'DOUBLE[][]',
    ['null', 'ARRAY[[1.0, 2.0], [3.0, null]]', 'ARRAY[[0.0]]'],
    [
      null,
      [
        [1, 2],
        [3, null],
      ],
      [[0]],
    ],
  ],
];

describe.skipIf(await questdbUnavailable())('a column of QuestDB has in SQL over frames', () => {
  let questdb: LiveQuestDb;
  let server: Framehold;

  beforeAll(async () => {
    questdb = await startLiveQuestDb();
    const names = columns.map(([type], index) => `c${index} ${type}`).join(', ');
    await questdb.run(`create table types (ts timestamp, ${names}) timestamp(ts) partition by day wal`);
    for (const row of [0, 1, 2]) {
      const values = columns.map(([, , literals]) => literals[row]).join(', ');
      await questdb.run(`insert into types values ('2026-01-0${row + 1}', ${values})`);
    }
    await questdb.run(
      'create table ticks (ts timestamp_ns, n int) timestamp(ts) partition by day wal',
      "insert into ticks values ('2026-01-01T00:00:00.123456789Z', 1), ('2026-01-01T00:00:00.123456790Z', 2), ('2026-01-01T00:00:01Z', 3)",
      'create table made as (select x n, rnd_bin(1, 20, 2) b, rnd_varchar(1, 20, 2) v, rnd_symbol(3000, 1, 9, 2) s from long_sequence(250000))',
      'create table "none" (a int, "geo" geohash(8c), t timestamp_ns)',
    );
    server = await startFramehold({ settings: { 'tsdb.http_url': questdb.url } });
  }, 120_000);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await questdb?.[Symbol.asyncDispose]();
  });
  const rows = (sql: string): Promise<readonly (readonly unknown[])[]> =>
    rowsOf(server.url, sql, { quoteLargeNum: true });

  test.each(columns.map(([type, here, , shown], index) => ({ type, here, shown, index })))(
    'the type $here, where it is $type there, with the same values',
    async ({ here, shown, index }) => {
      expect(await rows(`SELECT DISTINCT typeof(c${index}) FROM tsdb.types`)).toEqual([[here]]);
      expect(await rows(`SELECT c${index} FROM tsdb.types ORDER BY ts`)).toEqual(shown.map((value) => [value]));
      // The same through a query in the dialect of QuestDB, and kept as a frame.
      const dialect = `tsdb.query('select ts, c${index} c from types')`;
      expect(await rows(`SELECT typeof(c), c FROM ${dialect} ORDER BY ts`)).toEqual(
        shown.map((value) => [here, value]),
      );
      expect((await postSql(server.url, `CREATE OR REPLACE TABLE kept AS SELECT ts, c FROM ${dialect}`)).status).toBe(
        200,
      );
      expect(await rows('SELECT c FROM kept ORDER BY ts')).toEqual(shown.map((value) => [value]));
    },
  );

  test('the same NULLs as QuestDB itself has', async () => {
    const counts = columns.map((_, index) => `count(c${index})`).join(', ');
    const [here = []] = await rows(`SELECT ${counts} FROM tsdb.types`);
    for (const [index, [type]] of columns.entries()) {
      // Its arrays have no IS NULL.
      if (type.endsWith('[]')) continue;
      const [[there] = []] = await questdb.run(`select count() from types where not (c${index} is null)`);
      expect([type, here[index]]).toEqual([type, String(there)]);
    }
  });

  test('infinity as NULL, which it is to QuestDB', async () => {
    expect(await rows("FROM tsdb.query('select 1.0/0.0 a, -1.0/0.0 b, cast(''NaN'' as float) c, 1.0 d')")).toEqual([
      [null, null, null, 1],
    ]);
  });

  test('the same bytes, texts and symbols in many row groups', async () => {
    const sums =
      'count(*), count(b), count(v), count(s), count(DISTINCT s), sum(octet_length(b))::BIGINT, sum(length(v))::BIGINT';
    const [[...here] = []] = await rows(`SELECT ${sums} FROM tsdb.made`);
    const [there = []] = await questdb.run(
      'select count(), sum(case when length(b) > 0 then 1 else 0 end), count(v), count(s), count_distinct(s), sum(case when length(b) > 0 then length(b) else 0 end), sum(case when length(v) > 0 then length(v) else 0 end) from made',
    );
    expect(here).toEqual(there.map(String));
    const texts =
      "SELECT count(*) FROM tsdb.made a JOIN tsdb.query('select n, cast(v as string) t, cast(s as string) u from made') b USING (n)";
    expect(await rows(`${texts} WHERE a.v IS DISTINCT FROM b.t OR a.s IS DISTINCT FROM b.u`)).toEqual([['0']]);
  });

  test('comparisons of nanoseconds that are exact', async () => {
    const at = (condition: string) => rows(`SELECT n FROM tsdb.ticks WHERE ${condition} ORDER BY n`);
    expect(await at("ts >= '2026-01-01 00:00:00.123456790'")).toEqual([[2], [3]]);
    expect(await at("ts = '2026-01-01T00:00:00.123456789Z'")).toEqual([[1]]);
    expect(await at("ts < TIMESTAMP '2026-01-01 00:00:00.123457'")).toEqual([[1], [2]]);
    expect(await at("ts > DATE '2025-12-31' AND ts <= TIMESTAMP_NS '2026-01-01 00:00:00.123456789'")).toEqual([[1]]);
    const { headers } = await postSql(
      server.url,
      "SELECT n FROM tsdb.ticks WHERE ts >= '2026-01-01 00:00:00.123456790'",
    );
    expect(headers['x-framehold-tsdb-rows']).toBe('2');
    expect(headers['x-framehold-tsdb-pushed']).toContain(`"ts" >= '2026-01-01T00:00:00.123456790Z'`);
  });

  test('its type also where the table has no rows', async () => {
    expect((await rows('DESCRIBE tsdb.none')).map((row) => row.slice(0, 2))).toEqual([
      ['a', 'INTEGER'],
      ['geo', 'VARCHAR'],
      ['t', 'TIMESTAMP_NS'],
    ]);
    expect(await rows('SELECT * FROM tsdb.none')).toEqual([]);
    expect(await rows('SELECT count(*) FROM tsdb.none')).toEqual([['0']]);
  });

  test('no function that was not judged', async () => {
    const names = (await questdb.run('select distinct name from functions()')).map(([name]) =>
      String(name).toLowerCase(),
    );
    const words = names.filter((name) => /^[a-z_][a-z0-9_.]*$/.test(name));
    const passed = words.filter((name) => queryFault(`select ${name}(a) from t`) === undefined);
    expect(passed.sort().join(' ')).toBe(harmless.trim().split(/\s+/).sort().join(' '));
  });
});

/** Functions that compute values or make rows. */
const harmless = `
  abs acos and approx_count_distinct approx_median approx_percentile arg_max arg_min array array_avg array_build
  array_count array_cum_sum array_elem_avg array_elem_max array_elem_min array_elem_sum array_max array_min
  array_position array_reverse array_sort array_stddev array_stddev_pop array_stddev_samp array_sum asin atan atan2 avg
  base64 between bit_and bit_or bit_xor bool_and bool_or case cast ceil ceiling coalesce concat corr cos cot count
  count_distinct covar_pop covar_samp date_trunc dateadd datediff day day_of_week day_of_week_sunday_first
  days_in_month degrees dense_rank dim_length dot_product exp extract first first_not_null first_value flatten floor
  from_base64 generate_series geo_distance_meters geo_within_radius_latlon geomean greatest haversine_dist_deg hour
  ilike in insertion_point interval interval_end interval_start is_leap_year isordered json_extract ksum l2price lag
  last last_not_null last_value lead least left length length_bytes like list ln log long_sequence lower lpad ltrim
  make_geohash matmul max md5 micros mid millis min minute mode month nanos netmask not now now_ns nsum nullif or
  percent_rank pi position power quote_ident radians rank regexp_replace regr_intercept regr_slope replace right
  rnd_bin rnd_boolean rnd_byte rnd_char rnd_date rnd_decimal rnd_double rnd_double_array rnd_float rnd_geohash rnd_int
  rnd_interval rnd_ipv4 rnd_log rnd_long rnd_long256 rnd_short rnd_str rnd_symbol rnd_symbol_weighted rnd_symbol_zipf
  rnd_timestamp rnd_timestamp_ns rnd_uuid4 rnd_varchar round round_down round_half_even round_up row_number rpad rtrim
  second sha1 sha256 shift sign sin size_pretty split_part spread spread_bps sqrt starts_with stddev stddev_pop
  stddev_samp string_agg string_distinct_agg strpos substring sum switch sysdate systimestamp systimestamp_ns tan
  timestamp_ceil timestamp_floor timestamp_sequence timestamp_sequence_ns timestamp_shuffle to_char to_date to_long128
  to_long256 to_lowercase to_pg_date to_str to_timestamp to_timestamp_ns to_timezone to_uppercase to_utc to_uuid today
  tomorrow transpose trim twap typeof upper var_pop var_samp variance vwap week_of_year weighted_avg weighted_stddev
  weighted_stddev_freq weighted_stddev_rel within within_box within_radius wmid year yesterday
`;
