import { lines } from './lines.ts';

/** Values at their limits, types without values, text that is no text, errors that speak of something else. */
export const strangeValues: readonly string[] = [
  ...lines(`
SELECT 1 / 0, 1 // 0, 1 % 0, 1.0 / 0, 0.0 / 0
SELECT -9223372036854775808 // -1
SELECT (-9223372036854775808)::BIGINT % -1
SELECT (-170141183460469231731687303715884105728)::HUGEINT // -1
SELECT (-170141183460469231731687303715884105728)::HUGEINT % -1
SELECT abs((-128)::TINYINT)
SELECT -((-9223372036854775808)::BIGINT)
SELECT 9223372036854775807 + 1
SELECT 170141183460469231731687303715884105727::HUGEINT + 1
SELECT 340282366920938463463374607431768211455::UHUGEINT * 2
SELECT 99999999999999999999999999999999999999::DECIMAL(38, 0) + 1
SELECT 1::DECIMAL(39, 0)
SELECT 1::DECIMAL(38, 38)
SELECT 0.1::DECIMAL(38, 38) * 0.1::DECIMAL(38, 38)
SELECT 1e400
SELECT -1e400
SELECT 'NaN'::DOUBLE::BIGINT
SELECT 'inf'::DOUBLE::DECIMAL(10, 2)
SELECT 1e308::DOUBLE::FLOAT
SELECT '294247-01-10 04:00:54.775807'::TIMESTAMP + INTERVAL 1 DAY
SELECT '290309-12-22 (BC) 00:00:00'::TIMESTAMP
SELECT 'infinity'::TIMESTAMP, '-infinity'::DATE, 'infinity'::TIMESTAMPTZ
SELECT 'infinity'::TIMESTAMP - 'infinity'::TIMESTAMP
SELECT '5881580-07-10'::DATE + 1
SELECT '5877642-06-25 (BC)'::DATE
SELECT DATE '2000-01-01' + INTERVAL 2147483647 MONTH
SELECT INTERVAL 9223372036854775807 MICROSECOND * 2
SELECT to_years(2147483647)
SELECT make_timestamp(9223372036854775807)
SELECT make_timestamp_ns(-9223372036854775808)
SELECT make_date(2147483647, 12, 31)
SELECT to_timestamp(1e300)
SELECT '23:59:60'::TIME, '24:00:00'::TIME
SELECT '24:00:00+15:59:59'::TIMETZ
SELECT epoch_ns('290000-01-01'::TIMESTAMP)
SELECT date_trunc('microseconds', 'infinity'::TIMESTAMPTZ)
SELECT time_bucket(INTERVAL 0 SECOND, now())
SELECT time_bucket(INTERVAL 1 MICROSECOND, 'infinity'::TIMESTAMP)
SELECT strftime('infinity'::TIMESTAMP, '%Y')
SELECT strftime(now(), repeat('%A', 10000))
SELECT strptime('99999-99-99', '%Y-%m-%d')
SELECT generate_series(TIMESTAMP '2000-01-01', 'infinity'::TIMESTAMP, INTERVAL 1 DAY)
SELECT * FROM generate_series(TIMESTAMP '2000-01-01', TIMESTAMP '2001-01-01', INTERVAL 0 DAY)
SELECT range(0, 10, 0)
SELECT * FROM range(9223372036854775800, 9223372036854775807, 5)
SELECT factorial(1000)
SELECT 1 << 64, 1 << -1, (1::UBIGINT) << 63
SELECT chr(0), chr(-1)
SELECT chr(55296)
SELECT chr(1114112)
SELECT 'a' || chr(0) || 'b'
SELECT '\\xff\\xfe'::BLOB::VARCHAR
SELECT decode('\\xff\\xfe'::BLOB)
SELECT '\\x00'::BLOB
SELECT encode('a')::BIT
SELECT ''::BIT
SELECT '01'::BIT << 1000000
SELECT bitstring('1', 100)::BLOB
SELECT get_bit('01'::BIT, 99)
SELECT set_bit('01'::BIT, -1, 1)
SELECT [1, 2, 3][9223372036854775807], [1][-9223372036854775808]
SELECT [1, 2, 3][-9223372036854775808:9223372036854775807:1]
SELECT [1, 2, 3][::-1], 'abc'[::-1]
SELECT list_slice([1, 2, 3], 1, 3, 0)
SELECT 'abc'[-9223372036854775808:9223372036854775807]
SELECT substring('abc', -9223372036854775808, 9223372036854775807)
SELECT left('abc', -9223372036854775808), right('abc', 9223372036854775807)
SELECT split_part('a,b', ',', -2147483648)
SELECT array_value(1, 2)::INT[3]
SELECT [1, 2]::INT[0]
SELECT NULL::INT[100000000]
SELECT [[NULL::INT[100000]]]
SELECT array_cosine_distance([0, 0]::FLOAT[2], [0, 0]::FLOAT[2])
SELECT MAP {NULL: 1}
SELECT MAP {1: 1, 1: 2}
SELECT map([1, 2], [1])
SELECT map_from_entries([NULL])
SELECT {'a': 1, 'A': 2}
SELECT {'': 1}
SELECT struct_extract({'a': 1}, 'b')
SELECT struct_extract_at({'a': 1}, 99)
SELECT struct_insert({'a': 1}, a := 2)
SELECT row(1, 2).a
SELECT union_extract(union_value(a := 1), 'b')
SELECT 1::UNION (a INT, b VARCHAR)::VARCHAR
SELECT 'x'::ENUM ('x', 'x')
SELECT 'y'::ENUM ('x')
SELECT 'x'::ENUM ()
SELECT enum_range(NULL::ENUM ('a', 'b'))
SELECT NULL::STRUCT (a STRUCT (b STRUCT (c INT)))
SELECT 'not a uuid'::UUID
SELECT uuid_extract_timestamp(uuid())
SELECT x::VARIANT FROM (VALUES (1)) v(x)
SELECT '1'::JSON::VARIANT
SELECT TRY_CAST('{}' AS STRUCT (a VARIANT))
SELECT '123'::BIGNUM
SELECT 'POINT (1 1)'::GEOMETRY
SELECT VARIANT 'x'
SELECT x::no_such_type FROM (VALUES (1)) v(x)
SELECT x::"../../type" FROM (VALUES (1)) v(x)
SELECT x::main."JSON" FROM (VALUES ('1')) v(x)
SELECT from_json('{"a":1}', '{"a":"VARIANT"}')
SELECT from_json('{"a":"1"}', '{"a":"BIGNUM"}')
SELECT from_json('{"a":1}', '{"a":"no_such_type"}')
SELECT from_json('{"a":1}', '{"a":"INTEGER); DROP TABLE trades; --"}')
SELECT from_json('[1]', '["@csv"]')
SELECT from_json('{"a":1}', 'not json')
SELECT json_transform('{"a":1}', $1)
SELECT json_extract('{"a":1}', '$.' || repeat('a', 100000))
SELECT json_extract('[1]', '$[#-9223372036854775808]')
SELECT json_extract('[1]', '$..*')
SELECT json_extract('{}', '/' || repeat('~', 1000))
SELECT * FROM json_each('{"a":1}', '$.b')
SELECT * FROM json_tree('[', '$')
SELECT json('{'), json_valid('{')
SELECT '"\\ud800"'::JSON ->> '$'
SELECT regexp_matches('a', '(')
SELECT regexp_replace('aaa', '(a*)*b', '\\99', 'g')
SELECT regexp_extract('a', '(?P<x>a)', ['x', 'y'])
SELECT regexp_matches('a', 'a', 'zz')
SELECT like_escape('a', 'a', 'long')
SELECT 'a' LIKE repeat('%a', 10000)
SELECT format('{}', 1, 2), format('{:d}', 'x')
SELECT format('{:.2147483648f}', 1.0)
SELECT printf('%n', 1)
SELECT printf('%s%s%s', 'a')
SELECT printf('%*d', 1000000000, 1)
SELECT bar(1, 0, 0, 10)
SELECT to_base(1, 99)
SELECT from_base64('!'), from_hex('zz'), unbin('2')
SELECT url_decode('%zz%')
SELECT 'a' COLLATE no_such_collation
SELECT 'a' COLLATE NOCASE.NOACCENT.de = 'Ä'
SELECT nfc_normalize('\u0301'), strip_accents('\u0301')
SELECT quantile([1], 2) FROM trades
SELECT quantile_cont(id, 1.5) FROM trades
SELECT quantile_disc(id, []) FROM trades
SELECT approx_quantile(id, 'NaN'::FLOAT) FROM trades
SELECT approx_top_k(symbol, 0) FROM trades
SELECT approx_top_k(symbol, -1) FROM trades
SELECT histogram(id, []) FROM trades
SELECT nth_value(id, 0) OVER () FROM trades
SELECT ntile(0) OVER () FROM trades
SELECT lag(id, -9223372036854775808) OVER () FROM trades
SELECT sum(id) OVER (ROWS BETWEEN -1 PRECEDING AND 1 FOLLOWING) FROM trades
SELECT sum(id) OVER (ORDER BY id RANGE BETWEEN 'NaN'::DOUBLE PRECEDING AND CURRENT ROW) FROM trades
SELECT sum(id) OVER (ORDER BY id GROUPS BETWEEN 9223372036854775807 PRECEDING AND 9223372036854775807 FOLLOWING) FROM trades
SELECT * FROM trades LIMIT -1
SELECT * FROM trades LIMIT 9223372036854775807 OFFSET 9223372036854775807
SELECT * FROM trades LIMIT 101%
SELECT * FROM trades LIMIT 'NaN'::DOUBLE %
SELECT * FROM trades USING SAMPLE 101%
SELECT * FROM trades USING SAMPLE -1
SELECT * FROM trades USING SAMPLE 10 PERCENT (bernoulli, -1)
SELECT * FROM trades TABLESAMPLE system(0%)
SELECT * FROM trades ORDER BY 99
SELECT * FROM trades ORDER BY #99
SELECT #9223372036854775807 FROM trades
SELECT * FROM trades GROUP BY 0
SELECT COLUMNS('(') FROM trades
SELECT COLUMNS('no match') FROM trades
SELECT COLUMNS(*)::COLUMNS(*) FROM trades
SELECT * LIKE '(' FROM trades
SELECT * RENAME (id AS price) FROM trades
SELECT list_reduce([], (a, b) -> a)
SELECT list_transform([1], (a, b, c) -> a)
SELECT list_sort([1], 'no such order')
SELECT list_resize([1], -1)
SELECT list_where([1], [true, true, true])
SELECT list_select([1], [9223372036854775807])
SELECT list_aggregate([1], 'no_such_aggregate')
SELECT list_zip([1], [2], 3)
SELECT equi_width_bins(0, 10, 0, true)
SELECT unnest([1], recursive := NULL)
SELECT unnest(unnest([[1]]))
SELECT error('No space left on device')
SELECT error('Read-only file system')
SELECT error('Permission denied')
SELECT error('max_temp_directory_size')
SELECT error('Out of Memory Error: failed to allocate')
SELECT error('INTERNAL Error: database has been invalidated')
SELECT error('FATAL Error: x')
SELECT error('INTERRUPT Error: Interrupted!')
SELECT CAST('bad_alloc' AS INTEGER)
SELECT CAST('Disk quota exceeded' AS DATE)
SELECT error(NULL)
SELECT error('')
SELECT error('\n')
SELECT error(symbol) FROM trades
SELECT error('a' || chr(0) || chr(13) || chr(10) || 'x-injected: yes')
SELECT 1 AS "error", 2 AS "code"
SELECT 1 AS "__proto__", 2 AS "constructor", 3 AS "toString"
SELECT {'__proto__': 1, 'constructor': 2}
`),
  `SELECT error(repeat('x', 1000000))`,
  `SELECT CAST(repeat('9', 1000000) AS INTEGER)`,
  `SELECT error(repeat('\u6f22', 100000))`,
  `SELECT '${'x'.repeat(900_000)}'`,
  `SELECT 1 AS "${'n'.repeat(200_000)}"`,
  `SELECT ${'n'.repeat(200_000)}`,
  `SELECT * FROM "${'t'.repeat(200_000)}"`,
  `CREATE TABLE ${'t'.repeat(200)} AS SELECT 1`,
  `SELECT ${'9'.repeat(100_000)}`,
  `SELECT 0.${'9'.repeat(100_000)}`,
  `SELECT ${'f'.repeat(100_000)}(1)`,
  `SELECT 1::${'t'.repeat(100_000)}`,
  `SELECT $${'p'.repeat(10_000)}`,
  `SELECT '${'x'.repeat(1_100_000)}'`,
  'SELECT 1\0',
  "SELECT 'a\0b'",
  'SELECT 1 AS "a\0b"',
  "SELECT '\ud800'",
  "SELECT '\ufffd\uffff'",
  "SELECT '\u202e\u200b\ufeff'",
  '\ufeffSELECT 1',
  'SELECT\u00a01',
  'SELECT \u2212 1',
  'SELECT \u2018a\u2019',
  '',
  ' ',
  ';',
  '--',
  '/* */',
  '/*',
  "SELECT '",
  'SELECT "',
  'SELECT $$',
  "SELECT E'\\",
  "SELECT U&'\\d800'",
  "SELECT U&'\\0000'",
  '(',
  ')',
  'SELECT',
  'SELECT * FROM',
  'FROM',
  '\\',
  '`',
  'SELECT 1 WHERE \u{1f600} = \u{1f600}',
];
