import { lines } from './lines.ts';

/** Every spelling by which DuckDB opens a file. `@csv`, `@txt`, `@parquet`, `@db` are files that must never be read. */
export const fileAccess = lines(`
SELECT * FROM read_text('@txt')
SELECT content FROM read_blob('@txt')
SELECT * FROM read_csv('@csv')
SELECT * FROM read_csv_auto('@csv', header = false, all_varchar = true)
SELECT * FROM read_csv(['@csv', '@csv'], union_by_name = true, filename = true)
SELECT * FROM read_csv('@csv', store_rejects = true, rejects_table = 'r')
SELECT * FROM read_csv('@txt', columns = {'a': 'INTEGER'}, delim = '|')
SELECT * FROM read_parquet('@parquet')
SELECT * FROM read_parquet(['@parquet'], hive_partitioning = true)
SELECT * FROM parquet_scan('@parquet')
SELECT * FROM parquet_metadata('@parquet')
SELECT * FROM parquet_schema('@parquet')
SELECT * FROM parquet_kv_metadata('@parquet')
SELECT * FROM parquet_file_metadata('@parquet')
SELECT * FROM parquet_full_metadata('@parquet')
SELECT * FROM parquet_bloom_probe('@parquet', 'a', 1)
SELECT * FROM read_json('@json')
SELECT * FROM read_json_auto('@json')
SELECT * FROM read_json_objects('@json')
SELECT * FROM read_json_objects_auto('@json')
SELECT * FROM read_ndjson('@json')
SELECT * FROM read_ndjson_auto('@json')
SELECT * FROM read_ndjson_objects('@json')
SELECT * FROM read_duckdb('@db')
SELECT * FROM read_duckdb('@db', table_name = 'secrets')
SELECT * FROM sniff_csv('@csv')
SELECT * FROM glob('@dir/*')
SELECT * FROM glob('@dir/**')
SELECT * FROM read_text('@dir/*')
SELECT * FROM read_text('@dir/../@name/../@name/*.txt')
SELECT * FROM read_text('file://@txt')
SELECT * FROM read_text('file:@txt')
SELECT * FROM read_text('http://127.0.0.1:1/x')
SELECT * FROM read_text('https://127.0.0.1:1/x')
SELECT * FROM read_parquet('s3://bucket/x.parquet')
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM read_text('/proc/self/maps')
SELECT * FROM read_text('/dev/stdin')
SELECT * FROM read_blob('/proc/self/fd/4')
SELECT * FROM '@csv'
SELECT * FROM '@txt'
SELECT * FROM '@parquet'
SELECT * FROM '@json'
SELECT * FROM '@db'
SELECT * FROM '@dir/*.csv'
SELECT * FROM "@csv"
SELECT * FROM "@parquet"
FROM '@csv'
FROM "@csv" SELECT *
FROM '/etc/passwd'
FROM "canary.csv"
FROM 'canary.parquet'
FROM main."@csv"
FROM frames."@csv"
FROM framehold.frames."@csv"
FROM framehold.frames."@parquet"
FROM analytics."@csv"
FROM analytics.main."@csv"
FROM analytics.main."@parquet"
FROM analytics."canary.csv"
FROM analytics."x/../cold/canary.csv"
FROM analytics."../@csv"
FROM analytics.main."x.json"
FROM analytics.main."*.parquet"
FROM analytics."no.such.db"
FROM "analytics.main"."x.csv"
FROM temp."@csv"
FROM system.main."@csv"
TABLE '@csv'
TABLE "@csv"
SELECT * FROM trades, '@csv'
SELECT * FROM trades POSITIONAL JOIN '@csv'
SELECT * FROM trades ASOF JOIN '@csv' f ON trades.id >= f.id
SELECT * FROM trades, LATERAL (SELECT * FROM '@csv')
SELECT (SELECT first(content) FROM read_text('@txt'))
SELECT EXISTS (FROM '@csv')
SELECT id IN (FROM '@csv') FROM trades
SELECT ARRAY(SELECT a FROM '@csv')
WITH f AS (FROM '@csv') FROM f
WITH f AS MATERIALIZED (FROM read_text('@txt')) FROM f
WITH RECURSIVE f AS (SELECT 1 n UNION ALL SELECT n + 1 FROM f, '@csv' WHERE n < 2) FROM f
WITH "@csv" AS (SELECT 1) FROM "@csv"
WITH "canary.csv" AS (SELECT 1) SELECT (FROM "canary.csv")
PIVOT '@csv' ON a USING count(*)
PIVOT (FROM '@csv') ON a IN ('x') USING count(*)
UNPIVOT '@csv' ON COLUMNS(*) INTO NAME n VALUE v
FROM (PIVOT "@csv" ON a IN ('x') USING count(*))
DESCRIBE '@csv'
DESCRIBE "@parquet"
DESCRIBE SELECT * FROM '@csv'
SUMMARIZE '@csv'
SUMMARIZE "@csv"
SUMMARIZE SELECT * FROM read_csv('@csv')
SHOW '@csv'
SHOW TABLES FROM '@csv'
FROM (DESCRIBE '@csv')
FROM (SUMMARIZE '@csv')
FROM (SHOW '@csv')
EXPLAIN FROM '@csv'
EXPLAIN ANALYZE FROM '@csv'
EXPLAIN (FORMAT json) SELECT * FROM read_text('@txt')
SELECT * FROM query('FROM ''@csv''')
SELECT * FROM query('SELECT * FROM read_text(''@txt'')')
SELECT * FROM query_table('@csv')
SELECT * FROM query_table(['trades', '@csv'])
SELECT * FROM query_table("@csv")
SELECT json_serialize_plan('FROM ''@csv''')
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('FROM ''@csv'''))
SELECT json_deserialize_sql(json_serialize_sql('FROM ''@csv'''))
SELECT '@txt'.read_text()
SELECT read_text('@txt')
SELECT list_transform(['@txt'], f -> read_text(f))
SELECT [read_text(f) FOR f IN ['@txt']]
FROM trades SELECT COLUMNS(c -> read_text(c))
SELECT * REPLACE ((SELECT content FROM read_text('@txt')) AS symbol) FROM trades
SELECT * FROM range((SELECT count(*) FROM '@csv'))
SELECT 1 LIMIT (SELECT count(*) FROM '@csv')
SELECT 1 ORDER BY (SELECT a FROM '@csv' LIMIT 1)
SELECT count(*) FILTER (WHERE EXISTS (FROM '@csv')) OVER () FROM trades
SELECT error((SELECT content FROM read_text('@txt')))
SELECT CAST((SELECT content FROM read_text('@txt')) AS INTEGER)
VALUES ((SELECT content FROM read_text('@txt')))
SELECT 1 UNION ALL (SELECT 1 FROM '@csv')
SELECT * FROM read_csv($$@csv$$)
SELECT * FROM read_csv($tag$@csv$tag$)
SELECT * FROM read_text(E'@txt')
SELECT * FROM read_text(E'\\x2fetc\\x2fpasswd')
SELECT * FROM read_text(chr(47) || 'etc' || chr(47) || 'passwd')
SELECT * FROM read_text(U&'\\002fetc\\002fpasswd')
SELECT * FROM U&"@csv"
SELECT * FROM trades AT (VERSION => 1)
SELECT * FROM '@csv' AT (TIMESTAMP => now())
SELECT * FROM seq_scan('trades')
SELECT * FROM arrow_scan(1, 2, 3)
SELECT * FROM trades TABLESAMPLE reservoir(1 ROWS) REPEATABLE (1), '@csv'
COPY trades TO '@dir/written.csv'
COPY (SELECT 1) TO '@dir/written.parquet' (FORMAT parquet)
COPY (SELECT 'x') TO '@txt' (FORMAT csv, USE_TMP_FILE false)
COPY trades FROM '@csv'
COPY FROM DATABASE analytics TO framehold
COPY (FROM '@csv') TO '/dev/stdout'
EXPORT DATABASE '@dir/written'
EXPORT DATABASE analytics TO '@dir/written' (FORMAT parquet)
IMPORT DATABASE '@dir'
ATTACH '@db' AS stolen
ATTACH '@db' (READ_ONLY)
ATTACH IF NOT EXISTS '@dir/written.db' AS w
ATTACH ':memory:' AS m
DETACH analytics
DETACH framehold
CREATE TABLE @scratch AS FROM '@csv'
CREATE TABLE @scratch AS SELECT * FROM read_text('@txt')
CREATE OR REPLACE TABLE @scratch AS FROM read_csv('@csv') WITH NO DATA
CREATE TABLE "@csv" AS SELECT 1
CREATE TABLE '@csv' AS SELECT 1
CREATE VIEW @scratch AS FROM '@csv'
CREATE MACRO @scratch() AS TABLE FROM '@csv'
CREATE TABLE @scratch (a VARCHAR DEFAULT (SELECT content FROM read_text('@txt')))
CREATE TABLE @scratch (a VARCHAR AS (read_text('@txt')))
INSERT INTO trades FROM '@csv'
INSERT INTO trades SELECT * FROM read_csv('@csv')
INSERT INTO trades VALUES ((SELECT content FROM read_text('@txt')), 1, 'x')
INSERT INTO trades SELECT 1, 1, 'x' RETURNING (SELECT content FROM read_text('@txt'))
INSERT INTO "@csv" VALUES (1)
DROP TABLE "@csv"
DROP TABLE IF EXISTS "@csv"
`);
