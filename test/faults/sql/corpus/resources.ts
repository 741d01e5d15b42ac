import { lines } from './lines.ts';

/** What asks for more memory than there is. */
export const memoryBombs = lines(`
SELECT len(range(1000000000))
SELECT range(1000000000)
SELECT len(repeat('x', 4000000000))
SELECT repeat('x', 700000000)
SELECT len(repeat(repeat('x', 1000000), 1000000))
SELECT len(lpad('x', 2147483647, 'y'))
SELECT rpad('x', 2000000000, 'y')
SELECT len(list_transform(range(300000000), x -> x * 2.5))
SELECT len([[x, x] FOR x IN range(100000000)])
SELECT len(list_zip(range(100000000), range(100000000)))
SELECT len(replace(repeat('a', 200000000), 'a', 'bbbbbbbbbbbbbbbbbbbb'))
SELECT len(regexp_replace(repeat('a', 100000000), 'a', 'bbbbbbbbbbbbbbbbbbbb', 'g'))
SELECT len(string_agg(repeat('x', 1000000), ',')) FROM range(100000)
SELECT len(list(repeat('x', 100000))) FROM range(1000000)
SELECT len(array_agg(a)) FROM range(2000000000) t(a)
SELECT count(DISTINCT a || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') FROM range(1000000000) t(a)
SELECT a, count(*) FROM range(1000000000) t(a) GROUP BY a ORDER BY 2 DESC LIMIT 1
SELECT mode(hash(a)) FROM range(1000000000) t(a)
SELECT median(a) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM range(10000000) t(a)
SELECT histogram(a) FROM range(500000000) t(a)
SELECT reservoir_quantile(a, 0.5, 2000000000) FROM range(10) t(a)
SELECT approx_top_k(a, 1000000) FROM range(100000000) t(a)
SELECT quantile_cont(a, [0.1, 0.5]) FROM range(500000000) t(a)
SELECT string_agg(a) FROM range(1000000000) t(a)
SELECT * FROM range(1000000) a, range(1000000) b ORDER BY hash(a.range * b.range)
SELECT * FROM range(100000000) a JOIN range(100000000) b ON hash(a.range) = hash(b.range)
SELECT unnest(range(1000000000))
SELECT unnest(list_transform(range(10000), x -> repeat('x', 1000000)))
SELECT list_resize([1], 100000000000)
SELECT len(list_resize([1], 1000000000, 1))
SELECT len(bitstring('1', 2147483647))
SELECT format('{:2000000000}', 1)
SELECT len(printf('%2000000000d', 1))
SELECT len(to_base(1, 2, 2000000000))
SELECT equi_width_bins(0, 1000000000000, 1000000000, false)
SELECT len(split(repeat('a,', 200000000), ','))
SELECT len(regexp_extract_all(repeat('a', 100000000), '.'))
SELECT len(to_json(range(200000000)))
SELECT json_merge_patch(repeat('[', 1000)::VARCHAR, to_json(range(50000000)))
SELECT len(hex(repeat('x', 800000000)))
SELECT len(url_encode(repeat(' ', 500000000)))
SELECT len(reverse(repeat('x', 1500000000)))
SELECT map_from_entries(list_zip(range(50000000), range(50000000)))
SELECT cardinality(map(range(100000000), range(100000000)))
SELECT len(generate_series(DATE '0001-01-01', DATE '290000-01-01', INTERVAL 1 SECOND))
SELECT NULL::INT[100000][100000]
SELECT [NULL::DOUBLE[90000000]] FROM range(100)
WITH RECURSIVE t AS (SELECT 'x' s UNION ALL SELECT s || s FROM t WHERE len(s) < 4000000000) SELECT max(len(s)) FROM t
WITH RECURSIVE t AS (SELECT [1] l UNION ALL SELECT list_concat(l, l) FROM t) SELECT max(len(l)) FROM t
WITH RECURSIVE t AS (SELECT 1 n UNION ALL SELECT n + 1 FROM t, range(1000)) SELECT count(*) FROM t
PIVOT (FROM range(1000000) t(a)) ON a USING count(*)
CREATE TABLE @scratch AS SELECT repeat('x', 1000000) FROM range(100000)
`);

/** What works for longer than anybody waits. */
export const timeBombs: readonly string[] = [
  ...lines(`
SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c
SELECT sum(sqrt(a)) FROM range(1000000000000000000) t(a)
SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))
SELECT damerau_levenshtein(repeat('a', 20000), repeat('b', 20000))
SELECT jaro_winkler_similarity(repeat('ab', 200000), repeat('ba', 200000))
SELECT jaccard(repeat('ab', 10000000), repeat('ba', 10000000))
SELECT list_reduce(range(1000000), (a, b) -> a + length(repeat('x', 10000)))
SELECT len(list_reduce(list_transform(range(100000), x -> x::VARCHAR), (a, b) -> a || b))
SELECT regexp_matches(repeat('a', 30000), '(a|aa|aaa)*b{0,1000}c')
SELECT regexp_replace(repeat('ab', 10000000), '(a.*b)', '\\1\\1', 'g')
SELECT list_sort(list_transform(range(20000000), x -> md5(x::VARCHAR)))[1]
SELECT list_distinct(list_transform(range(50000000), x -> hash(x)))[1]
SELECT sha256(repeat('x', 1000000000))
SELECT count(*) FROM range(100000000) a WHERE regexp_matches(md5(a.range::VARCHAR), '(1|2|3).*(4|5|6).*7$')
SELECT count(*) FROM range(1000000) a JOIN range(1000000) b ON a.range + b.range > 5 AND a.range < b.range * 2
SELECT sum(x) FROM (SELECT row_number() OVER (PARTITION BY a % 7 ORDER BY hash(a)) x FROM range(200000000) t(a))
WITH RECURSIVE t AS (SELECT 1 n UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t
WITH RECURSIVE t AS (SELECT 1 n UNION SELECT n % 1000 + 1 FROM t, range(100000)) SELECT count(*) FROM t
WITH RECURSIVE f AS (SELECT 1 a, 1 b UNION ALL SELECT b, a + b FROM f) SELECT * FROM f
SELECT strptime(repeat('1', 1000000), repeat('%d', 10000))
SELECT array_cross_product([1, 2, 3]::DOUBLE[3], [1, 2, 3]::DOUBLE[3]) FROM range(1000000000)
SELECT (SELECT count(*) FROM range(a.range) b WHERE b.range % 3 = 0) FROM range(1000000) a
SELECT a, (SELECT max(b) FROM range(1000000) t(b) WHERE b < a) FROM range(1000000) s(a)
SELECT count(*) FROM trades a, trades b, trades c, range(1000000000) d
SELECT * FROM range(1000000000000)
SELECT random() FROM range(1000000000000)
SELECT uuid() FROM range(100000000000) ORDER BY 1
FROM range(10000000000) t(a) SELECT a, lag(a) OVER (ORDER BY hash(a))
SUMMARIZE FROM range(10000000000)
DESCRIBE SELECT * FROM range(1000000) a, range(1000000) b
CREATE TABLE @scratch AS SELECT * FROM range(1000000000000)
INSERT INTO trades SELECT a, a, 'x' FROM range(1000000000000) t(a) WHERE hash(a) = 1
PIVOT (SELECT a % 5 AS a, b FROM range(100000000) t(a), range(100) s(b)) ON a USING sum(b)
`),
  `WITH ${Array.from({ length: 40 }, (_, n) => `c${n + 1} AS (SELECT a.x FROM c${n} a, c${n} b)`)
    .join(', ')
    .replace(/^/, 'c0 AS (SELECT 1 x), ')} SELECT count(*) FROM c40`,
  `SELECT count(*) FROM ${Array.from({ length: 100 }, (_, n) => `trades t${n}`).join(' NATURAL JOIN ')}`,
  `SELECT count(*) FROM ${Array.from({ length: 24 }, (_, n) => `trades t${n}`).join(', ')}`,
  `SELECT ${Array.from({ length: 60 }, (_, n) => `(SELECT sum(a.range) FROM range(${n}, 100000000) a)`).join(' + ')}`,
  `SELECT ${Array.from({ length: 20_000 }, (_, n) => `${n} AS c${n}`).join()}`,
  `SELECT * FROM (VALUES ${Array.from({ length: 20_000 }, (_, n) => `(${n}, 'x')`).join()})`,
  `SELECT id IN (${Array.from({ length: 45_000 }, (_, n) => n).join()}) FROM trades`,
  `SELECT ${Array.from({ length: 5000 }, (_, n) => `CASE WHEN id = ${n} THEN ${n} ELSE 0 END`).join(' , ')} FROM trades`,
  `SELECT * FROM trades ${'UNION ALL SELECT * FROM trades '.repeat(240)}`,
  `SELECT 1 GROUP BY CUBE (${Array.from({ length: 25 }, (_, n) => `${n}`).join()})`,
  `SELECT count(*) FROM trades GROUP BY ${'CUBE (id, price, symbol), '.repeat(6)}CUBE (id, price, symbol)`,
  'SELECT count(*) FROM duckdb_functions() a, duckdb_functions() b, duckdb_functions() c, duckdb_functions() d',
  'WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r, pg_class',
];
