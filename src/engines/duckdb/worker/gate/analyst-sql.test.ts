import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import { AppError } from '../../../../core/errors/app-error.ts';
import { analyzeSql } from './analyze.ts';
import { parseTree } from './tree/parse-tree.ts';

const connection = duckDbConnection();

/** Statements as analysts write them, one a line. */
const statements = String.raw`
SELECT 1
SELECT 1;
SELECT * FROM trades
FROM trades
FROM trades SELECT price, qty WHERE qty > 10
TABLE trades
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1, 'a')) AS t(id, name)
SELECT DISTINCT sym FROM trades ORDER BY sym DESC NULLS LAST LIMIT 10 OFFSET 5
SELECT DISTINCT ON (sym) sym, price FROM trades ORDER BY sym, ts DESC
SELECT sym, sum(price * qty) / sum(qty) AS vwap FROM trades GROUP BY sym HAVING count(*) > 5
SELECT sym, count(*) FILTER (WHERE side = 'B') AS buys FROM trades GROUP BY ALL ORDER BY ALL
SELECT date_trunc('hour', ts) AS h, first(price ORDER BY ts) AS open, max(price) AS high, last(price ORDER BY ts) AS close FROM trades GROUP BY h
SELECT time_bucket(INTERVAL '5 minutes', ts) AS b, avg(price) FROM trades GROUP BY b
SELECT *, avg(price) OVER (PARTITION BY sym ORDER BY ts ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS ma FROM trades
SELECT *, lag(price, 1, 0.0) OVER w AS prev, lead(price) OVER w AS next FROM trades WINDOW w AS (PARTITION BY sym ORDER BY ts)
SELECT * FROM trades QUALIFY row_number() OVER (PARTITION BY sym ORDER BY ts DESC) = 1
SELECT sum(x) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM trades
SELECT ntile(4) OVER (ORDER BY price), percent_rank() OVER (ORDER BY price), cume_dist() OVER (ORDER BY price) FROM trades
SELECT first_value(price IGNORE NULLS) OVER (PARTITION BY sym ORDER BY ts) FROM trades
SELECT t.*, q.bid FROM trades t ASOF JOIN quotes q ON t.sym = q.sym AND t.ts >= q.ts
SELECT t.*, q.bid FROM trades t ASOF LEFT JOIN quotes q USING (sym, ts)
SELECT * FROM a JOIN b USING (id) LEFT JOIN c ON c.id = b.id RIGHT JOIN d USING (id) FULL JOIN e USING (id) CROSS JOIN f
SELECT * FROM a NATURAL JOIN b SEMI JOIN c USING (id) ANTI JOIN d USING (id)
SELECT * FROM a POSITIONAL JOIN b
SELECT * FROM a, LATERAL (SELECT max(x) AS m FROM b WHERE b.id = a.id) AS l
SELECT * FROM range(10) AS r(i), LATERAL (SELECT i * 2 AS j)
WITH x AS (SELECT 1 AS a) SELECT * FROM x
WITH x(a, b) AS MATERIALIZED (SELECT 1, 2), y AS NOT MATERIALIZED (FROM x) SELECT * FROM y
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 100) SELECT sum(n) FROM t
WITH RECURSIVE t(n, m) USING KEY (n) AS (SELECT 1, 0 UNION SELECT n % 3, m + 1 FROM t WHERE m < 10) SELECT * FROM t
SELECT a FROM t UNION SELECT b FROM u UNION ALL SELECT c FROM v INTERSECT SELECT d FROM w EXCEPT ALL SELECT e FROM x
SELECT a, b FROM t UNION ALL BY NAME SELECT b, c FROM u
(SELECT 1) UNION (SELECT 2) ORDER BY 1 LIMIT 1
PIVOT trades ON sym USING sum(qty)
PIVOT trades ON sym USING sum(qty) GROUP BY side
PIVOT trades ON sym IN ('a', 'b') USING sum(qty) AS total, max(price) AS top GROUP BY side ORDER BY side LIMIT 10
PIVOT (SELECT sym, year(ts) AS y, qty FROM trades) ON y, sym USING sum(qty)
WITH q AS (FROM trades WHERE qty > 1) PIVOT q ON sym || '_' || side USING count(*)
PIVOT_WIDER trades ON sym USING first(price)
FROM (PIVOT trades ON sym USING sum(qty))
SELECT * FROM (PIVOT trades ON sym, side USING sum(qty) GROUP BY ts) AS p JOIN quotes ON p.ts = quotes.ts
WITH p AS (PIVOT trades ON sym USING sum(qty) ORDER BY ALL), q AS (FROM p) SELECT * FROM q
PIVOT (PIVOT (SELECT sym, side, qty FROM trades) ON sym USING sum(qty)) ON side USING count(*)
DESCRIBE PIVOT trades ON sym USING sum(qty)
SUMMARIZE FROM (PIVOT trades ON sym USING sum(qty))
EXPLAIN PIVOT trades ON sym USING sum(qty)
PIVOT trades ON sym USING sum(qty) UNION ALL BY NAME (PIVOT trades ON side USING sum(qty))
SELECT (SELECT count(*) FROM (PIVOT trades ON sym USING sum(qty))) AS n
SELECT * FROM trades PIVOT (sum(qty) FOR sym IN ('a', 'b') GROUP BY side)
UNPIVOT wide ON jan, feb, mar INTO NAME month VALUE sales
UNPIVOT wide ON COLUMNS(* EXCLUDE (id)) INTO NAME k VALUE v
SELECT * FROM wide UNPIVOT (sales FOR month IN (jan, feb))
SELECT * EXCLUDE (id) FROM trades
SELECT * REPLACE (price / 100 AS price) FROM trades
SELECT * RENAME (price AS p) FROM trades
SELECT t.* EXCLUDE (a, b) REPLACE (upper(c) AS c) FROM t
SELECT COLUMNS('^p') FROM trades
SELECT min(COLUMNS(* EXCLUDE (sym))) FROM trades
SELECT COLUMNS(c -> c LIKE 'p%') FROM trades
SELECT COLUMNS(lambda c: c LIKE 'p%') FROM trades
SELECT COLUMNS(['a', 'b']) FROM trades
SELECT coalesce(*COLUMNS(*)) FROM trades
SELECT [x * 2 FOR x IN l IF x > 1] FROM t
SELECT list_transform(l, lambda x: x + 1), list_filter(l, lambda x, i: i > 1), list_reduce(l, lambda a, b: a + b) FROM t
SELECT (x::VARIANT).a, CAST(y AS BIGNUM), TRY_CAST(z AS GEOMETRY[]), z::GEOMETRY('OGC:CRS84'), VARIANT 'x', x::MAP(VARCHAR, VARIANT) FROM t
FROM histogram(trades, price, bin_count := 10)
SELECT bin, count FROM histogram_values(frames.trades, qty % 2, technique := 'sample')
WITH x AS (FROM trades) FROM histogram_values(x, price)
FROM summary((SELECT sym FROM trades))
SELECT l.list_sort().list_slice(1, 3) FROM t
SELECT l[1], l[-1], l[2:3], l[1:], 'abc'[2] FROM t
SELECT {'a': 1, 'b': 'x'} AS s, s.a, s['b'], struct_pack(a := 1), row(1, 2) FROM t
SELECT MAP {'a': 1, 'b': 2}['a'], map([1, 2], ['a', 'b']), map_keys(m) FROM t
SELECT unnest([1, 2, 3]), unnest({'a': 1, 'b': 2}), unnest(l, recursive := true) FROM t
SELECT * FROM unnest([1, 2, 3]) AS u(x)
SELECT * FROM generate_series(DATE '2024-01-01', DATE '2024-12-31', INTERVAL 1 MONTH) AS g(d)
SELECT generate_series(1, 5), range(3), repeat('x', 3)
SELECT * FROM range(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02', INTERVAL 1 HOUR)
SELECT j->'$.a', j->>'b', j->0, json_extract(j, '$.a.b'), json_extract_string(j, '$.x') FROM t
SELECT '{"a": 1}'::JSON, CAST(x AS JSON), to_json({'a': 1}), json_object('a', 1), json_array(1, 2) FROM t
SELECT from_json(j, '{"a": "INTEGER", "b": ["VARCHAR"]}').a FROM t
SELECT e.key, e.value FROM t, json_each(t.j) AS e
SELECT * FROM json_tree('{"a": [1, 2]}')
SELECT json_group_array(x), json_group_object(k, v) FROM t
SELECT x::INT, x::DECIMAL(18, 4), TRY_CAST(x AS DOUBLE), x::VARCHAR, x::DATE, x::TIMESTAMPTZ, x::UUID, x::BLOB FROM t
SELECT x::INT[], x::STRUCT(a INT, b VARCHAR[]), x::MAP(VARCHAR, INT), x::INT[3], x::UNION(n INT, s VARCHAR) FROM t
SELECT x::ENUM('a', 'b'), x::HUGEINT, x::UTINYINT, x::BIT, x::INTERVAL, x::TIME, x::TIMESTAMP_NS FROM t
SELECT DATE '2024-01-01', TIMESTAMP '2024-01-01 10:00:00', TIME '10:00', INTERVAL '1' DAY, INTERVAL 3 MONTHS
SELECT CASE x WHEN 1 THEN 'a' WHEN 2 THEN 'b' ELSE 'c' END, CASE WHEN a > b THEN a ELSE b END, if(a, b, c), ifnull(a, b) FROM t
SELECT coalesce(a, b, 0), nullif(a, 0), greatest(a, b), least(a, b), a IS NULL, a IS NOT NULL, a IS DISTINCT FROM b FROM t
SELECT a BETWEEN 1 AND 2, a NOT BETWEEN 1 AND 2, a IN (1, 2), a NOT IN (SELECT x FROM u), a IN [1, 2] FROM t
SELECT a LIKE '%x%', a ILIKE 'x', a NOT LIKE 'x', a SIMILAR TO 'x.*', a ~ 'x', a !~ 'x', a GLOB '*x', a LIKE 'a$%' ESCAPE '$' FROM t
SELECT a AND b OR NOT c, a = ANY (SELECT x FROM u), a > ALL (SELECT x FROM u), EXISTS (FROM u) FROM t
SELECT a + b - c * d / e % f ** g // h, -a, +a, ~a, a & b | c, a << 1 >> 2, a ^ b, @a, a ! FROM t
SELECT a || b, a ^@ 'x', l @> [1], l <@ [1, 2], l && [3], v <-> w FROM t
SELECT a COLLATE NOCASE FROM t ORDER BY a COLLATE NOCASE
SELECT upper(s), lower(s), trim(s), ltrim(s), substring(s FROM 1 FOR 2), position('a' IN s), length(s), replace(s, 'a', 'b'), split_part(s, ',', 1) FROM t
SELECT regexp_matches(s, 'a+'), regexp_replace(s, 'a', 'b', 'g'), regexp_extract(s, '(a)(b)', 1), regexp_extract_all(s, 'a') FROM t
SELECT concat(a, b), concat_ws(',', a, b), format('{} {}', a, b), printf('%d', 1), lpad(s, 10, ' '), strip_accents(s), levenshtein(a, b) FROM t
SELECT string_agg(s, ', ' ORDER BY s), list(s), array_agg(DISTINCT s), group_concat(s), listagg(s, ';') FROM t
SELECT median(x), quantile_cont(x, 0.9), quantile_disc(x, [0.1, 0.9]), mode(x), mad(x), approx_quantile(x, 0.5), approx_count_distinct(x) FROM t
SELECT stddev(x), variance(x), corr(x, y), covar_pop(x, y), regr_slope(y, x), regr_r2(y, x), skewness(x), kurtosis(x), entropy(x) FROM t
SELECT arg_max(sym, price), max_by(sym, price), min(price, 3), any_value(x), bool_and(b), bit_or(i), product(x), histogram(x) FROM t
SELECT sum(DISTINCT x), count(DISTINCT x), count(*), count(), favg(x), weighted_avg(x, w), geomean(x) FROM t
SELECT year(d), month(d), day(d), dayname(d), week(d), quarter(d), extract(epoch FROM ts), date_part('hour', ts), last_day(d), epoch_ms(ts) FROM t
SELECT date_diff('day', a, b), datesub('month', a, b), a - b, a + INTERVAL 1 DAY, age(a, b), strftime(a, '%Y-%m-%d'), strptime('2024', '%Y'), make_date(2024, 1, 1) FROM t
SELECT now(), current_date, current_timestamp, today(), get_current_timestamp(), localtimestamp, ts AT TIME ZONE 'Europe/Berlin', timezone('UTC', ts) FROM t
SELECT to_timestamp(1700000000), epoch(ts), to_days(3), to_hours(2), ago(INTERVAL 1 DAY) FROM t
SELECT abs(x), round(x, 2), floor(x), ceil(x), sqrt(x), ln(x), log10(x), exp(x), power(x, 2), sign(x), mod(x, 3), trunc(x), pi(), random(), isnan(x) FROM t
SELECT hash(x), md5(s), sha256(s), uuid(), gen_random_uuid(), encode(s), decode(b), to_base64(b), hex(b), typeof(x), pg_typeof(x) FROM t
SELECT sym FROM trades TABLESAMPLE 10%
SELECT * FROM trades USING SAMPLE 1000 ROWS
SELECT * FROM trades TABLESAMPLE reservoir(100) REPEATABLE (42)
SELECT * FROM trades LIMIT 10%
SELECT a, b, grouping(a), grouping_id(a, b), sum(c) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
SELECT a, sum(b) FROM t GROUP BY ROLLUP (a) ORDER BY a NULLS FIRST
SELECT a, b, sum(c) FROM t GROUP BY CUBE (a, b)
SELECT (SELECT max(x) FROM u WHERE u.id = t.id) AS m, ARRAY(SELECT x FROM u) FROM t
SELECT * FROM t WHERE (a, b) IN (SELECT a, b FROM u)
SELECT * FROM t WHERE ts > now() - INTERVAL '7 days' AND sym IN ('AAPL', 'MSFT')
SELECT x: 1, y: a + b FROM z: t
SELECT "select", "Weird ""name""", "with space" FROM "a-b.c"
SELECT * FROM frames.trades
SELECT * FROM framehold.frames."trades"
SELECT * FROM framehold.trades
SELECT * FROM analytics.sales
SELECT * FROM analytics.main.sales JOIN trades USING (sym)
DESCRIBE trades
DESCRIBE SELECT 1 AS a
DESC trades
SHOW trades
SUMMARIZE trades
SUMMARIZE SELECT * FROM trades
SELECT column_name FROM (DESCRIBE trades)
SELECT column_name, null_percentage FROM (SUMMARIZE trades)
EXPLAIN SELECT * FROM trades
EXPLAIN (FORMAT json) SELECT 1
EXPLAIN (FORMAT html) FROM trades
EXPLAIN (SELECT 1)
EXPLAIN ANALYZE SELECT * FROM trades
EXPLAIN analyse FROM trades
EXPLAIN (FORMAT json, ANALYZE) SELECT 1
EXPLAIN (ANALYZE, FORMAT mermaid) (SELECT 1)
EXPLAIN/**/ANALYZE/**/SELECT 1
EXPLAIN CREATE TABLE x AS SELECT * FROM trades
EXPLAIN (FORMAT yaml) INSERT INTO x (a) SELECT 1
SELECT * FROM trades WHERE sym = ? AND qty > ?
SELECT * FROM trades WHERE sym = $1 AND qty > $2 AND price < $2
-- a comment before
/* a /* nested */ comment */ SELECT 1 -- and one behind
SELECT 'it''s', E'a\nb', $$dollar ' quoted$$, $tag$ $$ $tag$, '-- no comment', "/* a name */" FROM t
SELECT 1e10, 1_000_000, 0xFF, .5, 1., 'abc' AS "x;y"
SELECT current_schema(), current_database(), version(), current_user
SELECT try(1 / 0), error('x') FROM t WHERE false
SELECT list_aggregate(l, 'sum'), list_sum(l), list_zip(a, b), flatten(ll), list_distinct(l), array_contains(l, 1) FROM t
SELECT enum_range(NULL::ENUM('a', 'b')), union_tag(u), union_extract(u, 'n') FROM t
SELECT array_cosine_similarity([1.0, 2.0]::FLOAT[2], v), list_dot_product(a, b) FROM t
SELECT parse_path('/a/b'), parse_filename('/a/b.c'), url_encode(s), bar(x, 0, 10, 20) FROM t
WITH daily AS (SELECT date_trunc('day', ts) AS d, sum(qty) AS q FROM trades GROUP BY 1), ranked AS (SELECT *, rank() OVER (ORDER BY q DESC) AS r FROM daily) SELECT * FROM ranked WHERE r <= 3
SELECT CAST(a AS VARCHAR) || CAST(b AS VARCHAR), a::TEXT::INT FROM t
SELECT #1, #2 FROM t
FROM t SELECT sum(a) GROUP BY b
FROM t WHERE a > 1 LIMIT 5
SELECT été, "naïve", 名前 FROM "données"
CREATE TABLE x AS SELECT 1 AS a
CREATE OR REPLACE TABLE "my.frame-1" AS FROM trades WHERE qty > 1
CREATE TABLE IF NOT EXISTS frames.x AS (SELECT 1)
CREATE TABLE x AS WITH y AS (SELECT 1) FROM y WITH DATA
CREATE TABLE x AS SELECT * FROM trades WITH NO DATA
CREATE TABLE x AS PIVOT trades ON sym USING sum(qty)
CREATE TABLE x AS SELECT * FROM (PIVOT trades ON sym USING sum(qty))
INSERT INTO x FROM (PIVOT trades ON sym USING sum(qty))
CREATE TABLE x AS VALUES (1, 2)
CREATE TABLE x (a INT, b VARCHAR, c DECIMAL(10, 2) NULL, d STRUCT(x INT, y VARCHAR[]), e TIMESTAMP WITH TIME ZONE, "f g" MAP(VARCHAR, INT))
INSERT INTO x VALUES (1, 'a'), (2, NULL)
INSERT INTO x (a, "b c") SELECT 1, 2
INSERT INTO frames.x FROM trades
INSERT INTO x (SELECT * FROM trades)
INSERT INTO x WITH y AS (SELECT 1) FROM y
INSERT INTO x SELECT ?, $2
DROP TABLE x
DROP TABLE IF EXISTS framehold.frames."x y";
SHOW TABLES
show tables ;
`
  .trim()
  .split('\n')
  .map((line, index, lines) => (line.startsWith('-- ') ? `${line}\n${lines[index + 1]}` : line));

/** Queries that DuckDB cannot serialize: the gate looks at their parts. */
const notSerialized = /^EXPLAIN|\bPIVOT(?:_WIDER)?\b(?!.* (?:IN|FOR) )/;

describe('what analysts write is allowed', () => {
  test('there is enough of it', () => {
    expect(new Set(statements).size).toBeGreaterThan(120);
  });

  test.each(statements)('%s', async (sql) => {
    const statement = await analyzeSql(connection, sql);
    if (!('query' in statement)) return;
    const tree = await parseTree(connection, statement.query.sql);
    if (notSerialized.test(statement.query.sql)) expect(tree).toBeUndefined();
    else expect(tree).toMatchObject({ node: {} });
  });
});

test('a good statement that is changed at random is allowed or refused, and what is allowed is what was checked', async () => {
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 0, max: 6 }),
    text: fc.constantFrom(
      ...[
        '',
        "'",
        '"',
        '(',
        ')',
        ';',
        '--',
        '/*',
        '*/',
        '$$',
        ' ',
        '\u00a0',
        '.',
        ',',
        '?',
        '$1',
        '::',
        '[',
        ']',
        '\\',
        '\0',
        '\ud800',
        'é',
      ],
      ...[
        'SELECT',
        'read_csv',
        'FROM',
        'COPY',
        'PIVOT',
        'ON',
        'IN',
        'AS',
        'TABLE',
        'INSERT',
        'EXPLAIN',
        'query',
        'WITH',
        'duckdb_settings()',
        '1',
        'E',
      ],
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...statements),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      async (good, changes) => {
        let sql = good;
        for (const { at, length, text } of changes) {
          const start = Math.floor(at * sql.length);
          sql = sql.slice(0, start) + text + sql.slice(start + length);
        }
        const outcome = await analyzeSql(connection, sql).catch((error: unknown) => error);
        if (outcome instanceof Error) {
          expect(outcome).toBeInstanceOf(AppError);
          expect(['sql_error', 'sql_forbidden']).toContain((outcome as AppError).code);
          expect((outcome as AppError).position ?? 0).toBeLessThanOrEqual(sql.length);
          return;
        }
        const statement = outcome as Awaited<ReturnType<typeof analyzeSql>>;
        if (!('query' in statement) || /pivot|^explain/i.test(statement.query.sql)) return;
        expect(await parseTree(connection, statement.query.sql)).toMatchObject({ node: {} });
      },
    ),
    { numRuns: 1_500 },
  );
}, 120_000);
