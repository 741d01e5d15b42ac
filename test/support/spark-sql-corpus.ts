/** Statements of Spark's dialect with the tables that each reads: `a b | SELECT …`. */
const good = `
 | SELECT 1
t | SELECT * FROM t
t | SELECT DISTINCT a, b FROM t
t | SELECT ALL a FROM t AS x
t | select T.a from t T where T.a > 1;
t | (SELECT a FROM t)
t u | (SELECT a FROM t) UNION ALL (SELECT a FROM u)
t u | ((SELECT a FROM t) INTERSECT (SELECT a FROM u)) ORDER BY a LIMIT 10 OFFSET 2
t u v | SELECT a FROM t UNION SELECT a FROM u EXCEPT ALL SELECT a FROM v
t u | SELECT a FROM t MINUS SELECT a FROM u
t | TABLE t
t u | TABLE t UNION TABLE u
 | VALUES (1, 'a'), (2, 'b')
 | VALUES (1, 'a'), (2, 'b') AS x(n, s)
 | SELECT * FROM VALUES (1, 'a'), (2, 'b') AS x(n, s)
 | SELECT * FROM (VALUES (1), (2)) AS x(n)
t | SELECT * FROM VALUES (1), (2) AS x(n) JOIN t ON t.n = x.n
t u | SELECT * FROM t, u
t u v | SELECT * FROM t a, u AS b, v c WHERE a.x = b.x AND b.y = c.y
t u | SELECT * FROM t JOIN u ON t.a = u.a
t u v | SELECT * FROM t JOIN u ON t.a = u.a, v
t u | SELECT * FROM t INNER JOIN u USING (a, b)
t u | SELECT * FROM t LEFT OUTER JOIN u ON t.a = u.a AND t.b < u.b
t u | SELECT * FROM t RIGHT JOIN u ON t.a = u.a
t u | SELECT * FROM t FULL OUTER JOIN u ON t.a = u.a
t u | SELECT * FROM t CROSS JOIN u
t u | SELECT * FROM t NATURAL JOIN u
t u | SELECT * FROM t NATURAL LEFT JOIN u
t u | SELECT * FROM t LEFT SEMI JOIN u ON t.a = u.a
t u | SELECT * FROM t SEMI JOIN u ON t.a = u.a
t u | SELECT * FROM t LEFT ANTI JOIN u ON t.a = u.a
t u | SELECT * FROM t ANTI JOIN u USING (a)
t u v | SELECT * FROM (t JOIN u ON t.a = u.a) JOIN v ON v.a = t.a
t u | SELECT * FROM ((t JOIN u ON t.a = u.a))
t | SELECT * FROM (SELECT a FROM t) AS x (b)
t | SELECT * FROM ((SELECT a FROM t))
t u | SELECT * FROM ((SELECT a FROM t) UNION (SELECT a FROM u)) x
t | SELECT * FROM ((SELECT a FROM t) ORDER BY a LIMIT 3) x
t u | SELECT * FROM ((SELECT a FROM t) x JOIN u ON x.a = u.a)
t u | SELECT * FROM t, LATERAL (SELECT * FROM u WHERE u.a = t.a) AS x
t u | SELECT * FROM t JOIN LATERAL (SELECT max(b) AS b FROM u WHERE u.a = t.a) x ON true
t u | SELECT * FROM t LEFT JOIN LATERAL (SELECT b FROM u LIMIT 1) x
t | SELECT * FROM t, LATERAL explode(t.list) AS e(x)
t | SELECT x FROM t LATERAL VIEW explode(list) e AS x
t | SELECT k, v FROM t LATERAL VIEW OUTER explode(pairs) e AS k, v WHERE k > 1
t | SELECT * FROM t LATERAL VIEW explode(a) x AS p LATERAL VIEW posexplode(b) y AS i, q
 | SELECT * FROM range(10)
 | SELECT id FROM range(0, 100, 2) AS r(id)
 | SELECT * FROM explode(array(1, 2, 3)) AS e(x)
 | SELECT * FROM stack(2, 1, 'a', 2, 'b') AS x(n, s)
 | SELECT * FROM inline(array(struct(1, 'a'), struct(2, 'b')))
 | SELECT * FROM json_tuple('{"a":1}', 'a')
t | SELECT stack(2, a, b) AS (x) FROM t
t | SELECT explode(map('a', 1)) AS (k, v) FROM t
t | WITH x AS (SELECT * FROM t) SELECT * FROM x
t u | WITH x AS (SELECT * FROM t), y AS (SELECT * FROM x JOIN u USING (a)) SELECT * FROM y, x
t | WITH t AS (SELECT * FROM t) SELECT * FROM t
t u | WITH x(a, b) AS (SELECT * FROM t) SELECT * FROM x WHERE a IN (SELECT a FROM x UNION SELECT a FROM u)
t | WITH x (SELECT * FROM t) SELECT * FROM x
t x | WITH y AS (WITH x AS (SELECT * FROM t) SELECT * FROM x) SELECT * FROM x, y
t u | SELECT * FROM (WITH x AS (SELECT * FROM t) SELECT * FROM x) JOIN u ON true
t x | (WITH x AS (SELECT a FROM t) SELECT * FROM x) UNION SELECT * FROM x
y t | WITH x AS (SELECT * FROM y), y AS (SELECT * FROM t) SELECT * FROM x, y
 | WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT * FROM r
t | WITH RECURSIVE r AS (SELECT id, parent FROM t WHERE parent IS NULL UNION ALL SELECT t.id, t.parent FROM t JOIN r ON t.parent = r.id) SELECT * FROM r
 | WITH RECURSIVE r(n) MAX RECURSION LEVEL 200 AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 150
t u | SELECT * FROM t WHERE a IN (SELECT a FROM u)
t u | SELECT * FROM t WHERE (a, b) NOT IN (SELECT a, b FROM u)
t u | SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)
t u | SELECT * FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.a <=> t.a)
t u v | SELECT * FROM t WHERE EXISTS ((SELECT 1 FROM u) UNION (SELECT 1 FROM v))
t u v | SELECT * FROM t WHERE a IN ((SELECT a FROM u) EXCEPT (SELECT a FROM v))
t u | SELECT a, (SELECT max(b) FROM u WHERE u.a = t.a) AS m FROM t
t u | SELECT CASE WHEN a > (SELECT avg(a) FROM u) THEN 'high' ELSE 'low' END FROM t
t u | SELECT * FROM t ORDER BY (SELECT max(a) FROM u)
t u | SELECT a FROM t GROUP BY a HAVING sum(b) > (SELECT sum(b) FROM u)
t u | SELECT coalesce((SELECT max(a) FROM u), 0) + 1 FROM t
t u | SELECT * FROM t JOIN (SELECT 1 AS a) x ON t.a = x.a AND t.b = (SELECT min(b) FROM u)
t | SELECT a, count(*), count(DISTINCT b), sum(c) FILTER (WHERE c > 0) FROM t GROUP BY a
t | SELECT a, b, sum(c) FROM t GROUP BY ROLLUP (a, b)
t | SELECT a, b, sum(c) FROM t GROUP BY CUBE (a, b)
t | SELECT a, b, sum(c), grouping(a), grouping_id(a, b) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
t | SELECT a, b, sum(c) FROM t GROUP BY a, b GROUPING SETS ((a, b), a)
t | SELECT a, b, sum(c) FROM t GROUP BY a, b WITH ROLLUP
t | SELECT a, sum(c) FROM t GROUP BY ALL ORDER BY ALL
t | SELECT a, rank() OVER (PARTITION BY b ORDER BY c DESC NULLS LAST) FROM t
t | SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t
t | SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND UNBOUNDED FOLLOWING) FROM t
t | SELECT sum(a) OVER w, lag(a, 1) IGNORE NULLS OVER (w) FROM t WINDOW w AS (PARTITION BY b ORDER BY c)
t | SELECT first(a IGNORE NULLS), last_value(b) RESPECT NULLS OVER (ORDER BY c) FROM t GROUP BY ALL
t | SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC) FROM t
t | SELECT listagg(DISTINCT a, ', ') WITHIN GROUP (ORDER BY a) FROM t
t | SELECT transform(list, x -> x + 1), filter(list, (x, i) -> x > i), aggregate(list, 0, (s, x) -> s + x, s -> s * 2) FROM t
t | SELECT exists(list, x -> x IS NULL), forall(list, x -> x IN (1, 2)), zip_with(a, b, (x, y) -> (y, x)) FROM t
t | SELECT map_filter(m, (k, v) -> k > v), transform_values(m, (k, v) -> v::string) FROM t
t | SELECT a::int, b::decimal(10, 2), c::array<map<string, struct<x: int, y: array<double>>>>, CAST(d AS STRUCT<a INT, b: STRING COMMENT 'x'>) FROM t
t | SELECT CAST(a AS INTERVAL DAY TO SECOND), TRY_CAST(b AS DATE), a::string::int FROM t
t | SELECT list[0], m['k'], s.x.y, s.list[1].z, struct(1 AS a).a, (s).x, array(1, 2)[1] FROM t
t | SELECT named_struct('a', 1, 'b', 2), map(1, 'a'), array(), struct(*), (a, b) FROM t
t | SELECT DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00', X'1F', date'2026-01-01' + INTERVAL 3 DAYS FROM t
t | SELECT INTERVAL '1-2' YEAR TO MONTH, INTERVAL 1 YEAR 2 MONTHS, INTERVAL 3 DAYS 4 HOURS, -INTERVAL '2' HOUR, INTERVAL '1 day', INTERVAL -3 WEEKS FROM t
t | SELECT extract(YEAR FROM d), extract(day FROM (d + INTERVAL 1 DAY)), date_part('month', d) FROM t
t | SELECT trim(a), trim(BOTH FROM a), trim(LEADING 'x' FROM a), trim(TRAILING b FROM a), trim('x' FROM a) FROM t
t | SELECT substring(a, 1, 2), substring(a FROM 2 FOR 3), substr(a FROM 1), overlay(a PLACING 'x' FROM 2 FOR 1), position('a' IN b), position('a', b) FROM t
t u | SELECT extract(year FROM (SELECT max(d) FROM u)) FROM t
t | SELECT * FROM t WHERE a IS DISTINCT FROM b AND c IS NOT DISTINCT FROM d OR e IS NOT TRUE AND f IS UNKNOWN
t | SELECT * FROM t WHERE a BETWEEN 1 AND 2 AND b NOT BETWEEN c AND d + 1 OR NOT a = 1
t | SELECT * FROM t WHERE a LIKE 'x%' ESCAPE '/' AND b NOT ILIKE '%y' AND c RLIKE '^a' OR d REGEXP 'b' AND e NOT RLIKE 'c'
t | SELECT * FROM t WHERE a LIKE ANY ('x%', 'y%') AND b NOT LIKE ALL ('z%', 'w%')
t | SELECT a + b - c * d / e % f DIV 2 || g, a & b | c ^ d, ~a, a << 1, b >> 2, c >>> 3, !d FROM t
t | SELECT a = b, a == b, a <> b, a != b, a < b, a <= b, a > b, a >= b, a <=> b FROM t
t | SELECT 1L, 2S, 3Y, 4BD, 5.0, 6.5D, 7e3, 8.F, .5, 1.5e-3, -1, 2.0BD FROM t
t | SELECT 'it''s', 'it\\'s', r'a\\d+', R'x', 'a' 'b', '--', '/*', 'SELECT * FROM secrets', '' FROM t
t | SELECT \`a\`, \`b c\`, t.\`d.e\`, \`f\`\`g\` FROM t
t | SELECT "a", t."b c" AS "d" FROM "t"
my-frame.v2 | SELECT * FROM \`my-frame.v2\` AS x
t | SELECT * EXCEPT (a, b), t.* FROM t
t | SELECT t.* EXCEPT (a) FROM t
t u | SELECT * FROM t EXCEPT (SELECT * FROM u)
u | SELECT 1 EXCEPT (SELECT a FROM u)
t | SELECT /*+ BROADCAST(t), REPARTITION(3) */ a FROM t
t | SELECT a -- a comment, FROM secrets⏎FROM t /* another /* nested */ FROM secrets */ WHERE b > 1
t | SELECT * FROM t TABLESAMPLE (10 PERCENT) REPEATABLE (7) AS x
t | SELECT * FROM t TABLESAMPLE (5 ROWS)
t | SELECT * FROM t TABLESAMPLE (BUCKET 1 OUT OF 4) x
t | SELECT * FROM t PIVOT (sum(v) AS s, avg(v) FOR k IN ('a' AS a, 'b'))
t | SELECT * FROM (SELECT k, j, v FROM t) PIVOT (sum(v) FOR (k, j) IN (('a', 1) AS a1, ('b', 2)))
t | SELECT * FROM t UNPIVOT (v FOR k IN (a, b AS bee))
t | SELECT * FROM t UNPIVOT INCLUDE NULLS ((v, w) FOR k IN ((a, b) AS x, (c, d))) AS p
t u | SELECT * FROM t UNPIVOT (v FOR k IN (a, b)), u
t | SELECT a FROM t DISTRIBUTE BY a SORT BY b DESC
t | SELECT a FROM t CLUSTER BY a
t | SELECT a FROM t LIMIT ALL OFFSET 5
t | SELECT current_date, current_timestamp(), now(), pi(), e() FROM t
t | SELECT if(a, 1, 2), nvl(a, b), coalesce(a, b), left(a, 2), right(a, 3), replace(a, 'x', 'y'), int(a), date(b), string(c) FROM t
t | SELECT year(d) AS year, month, day, date, time, value, key, name, type, id, rank, first, count FROM t
t | SELECT a date, b value, c AS offset, d comment FROM t WHERE date > '2026-01-01' ORDER BY value
t | SELECT dateadd(DAY, 1, d), datediff(MONTH, d, e), timestampdiff(HOUR, d, e) FROM t
t | SELECT CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' END, CASE WHEN a THEN CASE WHEN b THEN 1 END ELSE 0 END FROM t
t | SELECT to_json(struct(*)), from_json(a, 'x INT'), get_json_object(a, '$.b') FROM t
t | SELECT a COLLATE UTF8_LCASE, mask(a, digitChar => 'd') FROM t
t | SELECT * FROM t WHERE a > ? AND b < ? LIMIT ?
t | SELECT * FROM t WHERE a > :low AND b < :high OR c = :low
t u | SELECT t.a, x.b FROM t JOIN (SELECT a, b, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM u) x ON t.a = x.a AND x.n = 1
`;

/** The name of a table that a caller hopes to read unseen stands in each: it must be found, or the statement refused. */
const hidden = `
SELECT * FROM t where, secrets
SELECT * FROM t where (a), secrets
SELECT * FROM t having, secrets
SELECT * FROM t having (a), secrets
SELECT * FROM t limit, secrets
SELECT * FROM t limit (a), secrets
SELECT * FROM t offset, secrets
SELECT * FROM t offset (a), secrets
SELECT * FROM t window, secrets
SELECT * FROM t window (a), secrets
SELECT * FROM t qualify (a), secrets
SELECT * FROM t qualify, secrets
SELECT * FROM t group, secrets
SELECT * FROM t order, secrets
SELECT * FROM t sort, secrets
SELECT * FROM t cluster (a), secrets
SELECT * FROM t distribute, secrets
SELECT * FROM t pivot, secrets
SELECT * FROM t pivot (a), secrets
SELECT * FROM t unpivot (a), secrets
SELECT * FROM t tablesample, secrets
SELECT * FROM t tablesample (a), secrets
SELECT * FROM t for, secrets
SELECT * FROM t with, secrets
SELECT * FROM t select, secrets
SELECT * FROM t from, secrets
SELECT * FROM t version, secrets
SELECT * FROM t AS where, secrets
SELECT * FROM t lateral, secrets
SELECT from FROM secrets
SELECT 1 from FROM secrets
SELECT a AS from FROM secrets
SELECT * FROM from, secrets
SELECT * FROM stream secrets
SELECT * FROM stream(secrets)
SELECT * FROM STREAM secrets AS x
SELECT * FROM VALUES (1), (secrets)
SELECT * FROM VALUES (1), secrets
SELECT * FROM VALUES secrets
SELECT * FROM VALUES secrets(a)
SELECT * FROM (VALUES secrets)
SELECT * FROM t JOIN VALUES secrets ON true
SELECT * FROM LATERAL secrets
SELECT * FROM t JOIN LATERAL secrets
SELECT * FROM VALUES (1), ((secrets))
SELECT * FROM VALUES (1), (TABLE secrets)
SELECT * FROM VALUES (1) AS v, secrets
SELECT * FROM (VALUES (1)), secrets
SELECT * FROM range(3), secrets
SELECT * FROM range(3) r, secrets
SELECT * FROM range(3) JOIN secrets
SELECT * FROM t JOIN u ON true, secrets
SELECT * FROM t JOIN u USING (a), secrets
SELECT * FROM t JOIN u ON t.a = u.a CROSS JOIN secrets
SELECT * FROM t JOIN (u JOIN secrets)
SELECT * FROM (((secrets)))
SELECT * FROM ((t) JOIN secrets)
SELECT * FROM ((SELECT 1) UNION TABLE secrets)
SELECT * FROM ((SELECT 1) x, secrets)
SELECT * FROM (TABLE secrets)
SELECT * FROM (WITH t AS (TABLE secrets) SELECT * FROM t)
SELECT * FROM t UNION TABLE secrets
SELECT 1 UNION (((TABLE secrets)))
(((SELECT * FROM secrets)))
SELECT (SELECT 1) + (((SELECT a FROM secrets)))
SELECT ((SELECT 1) UNION (SELECT a FROM secrets))
SELECT ((SELECT 1) UNION TABLE secrets)
SELECT (((SELECT 1)) LIMIT (SELECT a FROM secrets))
SELECT 1 LIMIT (SELECT a FROM secrets)
SELECT 1 OFFSET (SELECT a FROM secrets)
SELECT 1 ORDER BY (SELECT a FROM secrets)
SELECT sum(1) OVER (PARTITION BY (SELECT a FROM secrets))
SELECT sum(1) OVER (ORDER BY 1 ROWS (SELECT a FROM secrets) PRECEDING)
SELECT sum(1) OVER w FROM t WINDOW w AS (ORDER BY (SELECT a FROM secrets))
SELECT sum(1) FILTER (WHERE EXISTS (SELECT a FROM secrets))
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (SELECT a FROM secrets))
SELECT CASE WHEN true THEN (SELECT a FROM secrets) END
SELECT CASE (SELECT a FROM secrets) WHEN 1 THEN 2 END
SELECT CAST((SELECT a FROM secrets) AS STRING)
SELECT (SELECT a FROM secrets)::string
SELECT array(1)[(SELECT a FROM secrets)]
SELECT transform(array(1), x -> (SELECT a FROM secrets))
SELECT extract(YEAR FROM (SELECT a FROM secrets))
SELECT trim((SELECT a FROM secrets) FROM 'x')
SELECT trim(BOTH 'x' FROM (SELECT a FROM secrets))
SELECT substring((SELECT a FROM secrets) FROM 1 FOR 2)
SELECT overlay('a' PLACING 'b' FROM (SELECT a FROM secrets))
SELECT position('a' IN (SELECT a FROM secrets))
SELECT 1 IS DISTINCT FROM (SELECT a FROM secrets)
SELECT 1 IN (TABLE secrets)
SELECT 1 IN (WITH x AS (TABLE secrets) SELECT * FROM x)
SELECT 1 IN (VALUES (1) UNION TABLE secrets)
SELECT EXISTS (TABLE secrets)
SELECT EXISTS(FROM secrets)
SELECT 'a' LIKE ANY ((SELECT a FROM secrets))
SELECT * FROM range((SELECT a FROM secrets))
SELECT * FROM explode((SELECT collect_list(a) FROM secrets))
SELECT * FROM t LATERAL VIEW explode((SELECT collect_list(a) FROM secrets)) x AS y
SELECT * FROM t PIVOT (sum((SELECT a FROM secrets)) FOR k IN (1))
SELECT * FROM t TABLESAMPLE ((SELECT a FROM secrets) ROWS)
SELECT * FROM t GROUP BY GROUPING SETS (((SELECT a FROM secrets)))
SELECT * FROM t GROUP BY ROLLUP ((SELECT a FROM secrets))
SELECT * FROM t JOIN u ON (SELECT a FROM secrets)
VALUES ((SELECT a FROM secrets))
WITH t AS (SELECT * FROM secrets) SELECT * FROM t
WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets
WITH t AS (SELECT * FROM u), u AS (SELECT * FROM secrets) SELECT * FROM t
WITH x AS (WITH secrets AS (SELECT 1) SELECT * FROM secrets) SELECT * FROM secrets
WITH x AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM x
(WITH secrets AS (SELECT 1) SELECT * FROM secrets) UNION SELECT * FROM secrets
SELECT * FROM (WITH secrets AS (SELECT 1) SELECT 1), secrets
WITH RECURSIVE x AS (SELECT * FROM secrets UNION ALL SELECT * FROM x) SELECT * FROM x
WITH RECURSIVE x AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM x
WITH recursive AS (SELECT 1) SELECT * FROM secrets
WITH SECRETS AS (SELECT 1) SELECT * FROM secrets
SELECT * FROM /* x */ secrets
SELECT * FROM/**/secrets
SELECT * FROM -- t⏎secrets
SELECT * FROM t -- \\⏎, secrets
SELECT 1 /* /* */ */ FROM secrets
SELECT 1 /*/ */ FROM secrets
SELECT 1 /* /*+ */ FROM secrets /* */
SELECT 1 /* /* x */* y */ FROM secrets -- */
SELECT /*+ x((SELECT a FROM secrets)) */ 1
SELECT /*+ x -- */ 1⏎*/ a FROM secrets
SELECT 'a\\' FROM t --' FROM secrets
SELECT r'\\' FROM secrets --'
SELECT r'\\', ' FROM secrets --'
SELECT 'a''' FROM secrets
SELECT "a\\" FROM secrets --"
SELECT "a" FROM secrets
SELECT \`a\`\`\` FROM secrets
SELECT * FROM \`secrets\`
SELECT * FROM \`t\`\`secrets\`
SELECT a://x--y⏎FROM secrets
SELECT 1 AS a\u00a0FROM secrets
SELECT 1\u2028FROM secrets
SELECT 1FROM secrets
SELECT 1.FROM secrets
SELECT 1e5FROM secrets
SELECT t.from FROM secrets
SELECT * EXCEPT (SELECT * FROM secrets)
SELECT * EXCEPT (TABLE secrets)
SELECT t.* EXCEPT ((SELECT * FROM secrets))
SELECT 1 |> UNION ALL (SELECT * FROM secrets)
TABLE t |> JOIN secrets ON true
SELECT * FROM TABLE(secrets)
SELECT * FROM IDENTIFIER('secrets')
TABLE IDENTIFIER('sec' || 'rets')
SELECT * FROM identifier(:secrets)
SELECT * FROM secrets VERSION AS OF 1
SELECT * FROM secrets TIMESTAMP AS OF '2020-01-01'
SELECT * FROM secrets FOR SYSTEM_TIME AS OF now()
SELECT * FROM secrets FOR VERSION AS OF 3
SELECT * FROM secrets@v1
SELECT * FROM secrets WITH ('a' = 'b')
SELECT * FROM default.secrets
SELECT * FROM spark_catalog.default.secrets
SELECT * FROM \`default\`.\`secrets\`
SELECT * FROM global_temp . secrets
SELECT * FROM frames.secrets
SELECT * FROM analytics.main.secrets
TABLE default.secrets
SELECT * FROM t JOIN default.secrets
FROM secrets SELECT *
FROM secrets
WITH x AS (FROM secrets SELECT *) SELECT * FROM x
SELECT * FROM (FROM secrets SELECT *)
INSERT INTO t SELECT * FROM secrets
INSERT INTO t TABLE secrets
INSERT INTO t (a) (SELECT a FROM secrets)
CREATE TABLE t AS SELECT * FROM secrets
CREATE TABLE t AS (TABLE secrets)
`;

/** Statements that are refused for every caller. */
const refused = `
SELECT * FROM parquet.\`/etc/passwd\`
SELECT * FROM csv.\`file:///etc/passwd\`
SELECT * FROM text.\`/etc/passwd\`
SELECT * FROM json.\`hdfs://x/y\` AS t
SELECT * FROM t JOIN delta.\`/x\` ON true
SELECT (SELECT max(value) FROM text.\`/etc/passwd\`)
SELECT * FROM binaryFile . \`/x\`
SELECT * FROM s3://bucket/key
SELECT * FROM 'x.parquet'
SELECT * FROM 'secrets'
SELECT * FROM :t
SELECT * FROM ?
SELECT * FROM
SELECT
SELECT * FROM t,
SELECT * FROM t JOIN
SELECT * FROM t WHERE
SELECT reflect('java.lang.System', 'getenv', 'HOME')
SELECT REFLECT('java.lang.System', 'exit', 0)
SELECT \`reflect\`('java.lang.System', 'getenv', 'HOME')
SELECT "reflect"('java.lang.System', 'getenv', 'HOME')
SELECT reflect /* */ ('java.lang.System', 'getenv', 'HOME')
SELECT reflect -- x⏎('java.lang.System', 'getenv', 'HOME')
SELECT java_method('java.lang.Runtime', 'getRuntime')
SELECT try_reflect('java.lang.System', 'getenv', 'HOME')
SELECT builtin.reflect('java.lang.System', 'getenv', 'HOME')
SELECT system.builtin.reflect('java.lang.System', 'getenv', 'HOME')
SELECT \`system\`.\`builtin\`.\`reflect\`('a', 'b')
SELECT spark_catalog.default.f(1)
SELECT default.f(1)
SELECT session.f(1)
SELECT (SELECT reflect('a', 'b'))
SELECT transform(array(1), x -> reflect('a', 'b'))
SELECT * FROM t WHERE reflect('a', 'b') = 'c'
SELECT * FROM t ORDER BY java_method('a', 'b')
SELECT * FROM range(reflect('a', 'b'))
SELECT sum(1) OVER (ORDER BY reflect('a', 'b'))
VALUES (reflect('a', 'b'))
SELECT IDENTIFIER('reflect')('a', 'b')
SELECT IDENTIFIER('a') FROM t
SELECT identifier ( 'a' )
SELECT input_file_name() FROM t
SELECT input_file_block_start(), input_file_block_length() FROM t
SELECT current_user
SELECT current_user()
SELECT user FROM t
SELECT session_user()
SELECT from_avro(a, 'x', map('avroSchemaUrl', '/etc/passwd')) FROM t
SELECT from_protobuf(a, 'M', '/etc/passwd') FROM t
SELECT from_xml(a, 'x INT', map('rowValidationXSDPath', '/etc/passwd')) FROM t
SELECT xpath_string('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 'a')
SELECT my_function(a) FROM t
SELECT * FROM my_table_function(1)
SELECT * FROM python_worker_logs()
SELECT * FROM read_files('/etc')
SELECT * FROM reflect('a', 'b')
SELECT * FROM system.builtin.range(1)
SELECT * FROM sql_keywords()
SELECT * FROM f(TABLE(t))
SELECT * FROM range(TABLE t)
SELECT * FROM explode(input => TABLE(t))
SELECT * FROM t LATERAL VIEW reflect('a', 'b') x AS y
SELECT * FROM t LATERAL VIEW default.f(a) x AS y
SELECT TRANSFORM(a, b) USING 'cat /etc/passwd' FROM t
SELECT TRANSFORM(a) USING 'sh' AS (x STRING) FROM t
SELECT TRANSFORM(a) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' USING 'sh' FROM t
MAP a USING 'sh' FROM t
REDUCE a USING 'sh' FROM t
SELECT * FROM (MAP a USING 'sh')
SELECT (REDUCE a USING 'sh' FROM t)
FROM t INSERT INTO u SELECT *
FROM t INSERT OVERWRITE TABLE u SELECT * INSERT INTO v SELECT *
FROM t SELECT TRANSFORM(a) USING 'sh'
SELECT 1; SELECT 2
SELECT 1; DROP TABLE t
; SELECT 1 ; ; SELECT 2
SET spark.sql.runSQLOnFiles=true
SET
SET -v
SET VAR x = 1
RESET
RESET spark.x
USE default
USE CATALOG x
CREATE VIEW v AS SELECT 1
CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1
CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/etc/passwd')
CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1
CREATE TABLE x USING parquet LOCATION '/tmp/x' AS SELECT 1
CREATE TABLE x (a INT) USING csv
CREATE TABLE x LIKE t
CREATE TABLE x STORED AS PARQUET AS SELECT 1
CREATE TABLE x
CREATE TABLE x AS
CREATE TABLE default.x AS SELECT 1
CREATE TABLE IDENTIFIER('x') AS SELECT 1
CREATE OR REPLACE TABLE IF NOT EXISTS x AS SELECT 1
CREATE EXTERNAL TABLE x AS SELECT 1
CREATE TEMPORARY TABLE x AS SELECT 1
CREATE TEMPORARY FUNCTION f AS 'a.B' USING JAR '/x.jar'
CREATE FUNCTION f(x INT) RETURNS INT RETURN x
CREATE DATABASE d
CREATE INDEX i ON TABLE t (a)
REPLACE TABLE x AS SELECT 1
DROP VIEW default.v
DROP VIEW a, b
DROP MATERIALIZED VIEW v
DROP DATABASE d CASCADE
DROP TABLE a, b
DROP TABLE default.t
DROP TABLE t PURGE
DROP TEMPORARY FUNCTION f
ALTER TABLE t RENAME TO u
ALTER VIEW v AS SELECT 1
TRUNCATE t
TRUNCATE TABLE a, b
TRUNCATE TABLE default.t
TRUNCATE TABLE IDENTIFIER('t')
TRUNCATE TABLE t PARTITION (a = 1)
UPDATE t SET a = 1
DELETE FROM t WHERE a = 1
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE
WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x
WITH x AS (SELECT 1) DELETE FROM t
WITH x AS (INSERT INTO t SELECT 1) SELECT 1
WITH x AS (SELECT 1) FROM x INSERT INTO t SELECT *
INSERT OVERWRITE TABLE t SELECT 1
INSERT OVERWRITE t SELECT 1
INSERT OVERWRITE DIRECTORY '/tmp/x' USING csv SELECT 1
INSERT OVERWRITE LOCAL DIRECTORY '/tmp/x' SELECT 1
INSERT INTO t PARTITION (a = 1) SELECT 1
INSERT INTO t (a) BY NAME SELECT 1
INSERT INTO t BY NAME REPLACE WHERE a = 1 SELECT 1
INSERT INTO t BY NAME TABLE default.u
INSERT INTO t VALUES (1, DEFAULT)
INSERT INTO t SELECT reflect('a', 'b')
INSERT INTO t SELECT * FROM text.\`/etc/passwd\`
INSERT INTO t SELECT 1 RETURNING a
INSERT INTO t REPLACE WHERE a = 1 SELECT 1
INSERT INTO default.t SELECT 1
INSERT INTO t FROM u SELECT *
INSERT INTO t
LOAD DATA INPATH '/etc/passwd' INTO TABLE t
ADD JAR '/tmp/x.jar'
ADD FILE '/etc/passwd'
ADD ARCHIVE '/x.zip'
LIST JARS
CACHE TABLE t
CACHE LAZY TABLE x AS SELECT 1
UNCACHE TABLE t
CLEAR CACHE
REFRESH TABLE t
REFRESH '/tmp'
ANALYZE TABLE t COMPUTE STATISTICS
MSCK REPAIR TABLE t
REPAIR TABLE t
DESCRIBE
DESC EXTENDED t
DESCRIBE FORMATTED t
DESCRIBE TABLE EXTENDED t
DESCRIBE TABLE t AS JSON
DESCRIBE TABLE t PARTITION (a = 1)
DESCRIBE t a
DESCRIBE t t.a
DESCRIBE default.t
DESCRIBE parquet.\`/etc\`
DESCRIBE IDENTIFIER('t')
DESCRIBE FUNCTION reflect
DESCRIBE FUNCTION EXTENDED reflect
DESCRIBE DATABASE default
DESCRIBE SCHEMA EXTENDED default
DESCRIBE CATALOG spark_catalog
DESCRIBE QUERY t
DESCRIBE QUERY FROM t
DESCRIBE SELECT reflect('a', 'b')
DESCRIBE QUERY SELECT * FROM text.\`/etc/passwd\`
DESCRIBE (SELECT 1); DROP TABLE t
DESCRIBE INSERT INTO t SELECT 1
DESCRIBE DESCRIBE t
DESCRIBE EXPLAIN SELECT 1
EXPLAIN LOGICAL SELECT * FROM t
EXPLAIN CODEGEN SELECT * FROM t
EXPLAIN DESCRIBE t
DESCRIBE WITH x AS (INSERT INTO t SELECT 1) SELECT 1
EXPLAIN SELECT 1
EXPLAIN EXTENDED SELECT * FROM t
SHOW DATABASES
SHOW TABLES IN default
SHOW TABLES LIKE 'x'
SHOW FUNCTIONS
SHOW CREATE TABLE t
SHOW COLUMNS IN t
SHOW TBLPROPERTIES t
CALL system.f()
DECLARE x INT DEFAULT 1
DECLARE OR REPLACE VARIABLE x = 1
EXECUTE IMMEDIATE 'SELECT 1'
EXECUTE IMMEDIATE 'SELECT * FROM secrets' INTO x
BEGIN SELECT 1; END
BEGIN DECLARE x INT; SET x = 1; SELECT x; END
label: BEGIN SELECT 1; END
COMMENT ON TABLE t IS 'x'
COMMIT
ROLLBACK
START TRANSACTION
LOCK TABLE t
GRANT SELECT ON t TO u
EXPORT TABLE t TO '/x'
IMPORT TABLE t FROM '/x'
DFS -ls /
KILL 1
SELECT 1 |> SELECT 2
SELECT $1
SELECT $name
SELECT $$a$$
SELECT * FROM t WHERE a = ? AND b = :c
SELECT * FROM t WHERE a = :c AND b = :C
SELECT : a
SELECT a :b
SELECT 'abc
SELECT "abc
SELECT \`abc
SELECT \`\`
SELECT r'abc
SELECT /* abc
SELECT /* /* abc */
SELECT /*+ BROADCAST(t)
SELECT 1 */
SELECT /*+ BROADCAST(t) -- */ 1
SELECT 1 /*+ x */
SELECT a\u0000b
SELECT 'a\u0000b'
SELECT \ud800
SELECT '\udc00'
SELECT é FROM t
SELECT 1a
SELECT 1.a
SELECT 1..2
SELECT {a: 1}
SELECT a#b
SELECT a@b
SELECT \\a
SELECT (1
SELECT 1)
SELECT [1]
SELECT a[1
SELECT a b c FROM t
SELECT a FROM t u v
SELECT a, FROM t
SELECT a FROM t t2 (1)
SELECT a FROM t GROUP a
SELECT a FROM t ORDER a
SELECT CASE END
SELECT CASE WHEN 1 END
SELECT CAST(1 INT)
SELECT CAST(1 AS)
SELECT CAST(1 AS ARRAY<INT)
SELECT a IS 1
SELECT 1 +
SELECT + FROM t
SELECT a NOT b
SELECT f(
SELECT EXISTS
SELECT -> x
SELECT a => 1
SELECT 1 UNION
SELECT 1 UNION 2
WITH X AS (SELECT 1) SELECT * FROM x
WITH t AS (SELECT 1) SELECT (WITH T AS (SELECT 2) SELECT * FROM t)
SELECT a FROM t QUALIFY rank() OVER (ORDER BY a) = 1
SELECT * FROM VALUES x
SELECT * FROM LATERAL x
VALUES x
WITH x SELECT 1
WITH x AS SELECT 1 SELECT 2
WITH AS (SELECT 1) SELECT 1
VALUES
TABLE
TABLE (t)
()
;
-- nothing
/* nothing */
selec 1
'SELECT 1'
1
`;

export interface ReadingSql {
  readonly tables: readonly string[];
  readonly sql: string;
}

/** Allowed statements, with the tables that they read. */
export const goodSparkSql: readonly ReadingSql[] = statementsIn(good).map((line) => {
  const bar = line.indexOf('|');
  return { tables: line.slice(0, bar).split(' ').filter(Boolean).sort(), sql: line.slice(bar + 1).trim() };
});

/** Each names `secrets`, which must be found unless the statement is refused. */
export const hidingSparkSql: readonly string[] = statementsIn(hidden);

export const refusedSparkSql: readonly string[] = statementsIn(refused);

/** One a line, with ⏎ for a line break inside of it. */
function statementsIn(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.replaceAll('⏎', '\n'));
}
