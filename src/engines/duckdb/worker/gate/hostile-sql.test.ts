import koffi from 'koffi';
import { describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { Definition } from '../../../../core/sql/definition.ts';
import { analyzeSql } from './analyze.ts';

const connection = duckDbConnection();

const lines = (text: string): string[] => text.trim().split('\n');

/** Functions that read files, run text, show or change the server; each is tried in several spellings. */
const tableFunctions = lines(`
read_text('/etc/passwd')
read_blob('/etc/passwd')
read_csv('/etc/passwd')
read_csv_auto('/etc/passwd', header = false)
read_parquet('/tmp/*.parquet')
read_parquet(['/tmp/a.parquet'])
parquet_scan('/tmp/a.parquet')
parquet_metadata('/tmp/a.parquet')
parquet_schema('/tmp/a.parquet')
parquet_kv_metadata('/tmp/a.parquet')
parquet_file_metadata('/tmp/a.parquet')
read_json('/tmp/a.json')
read_json_auto('/tmp/a.json')
read_ndjson('/tmp/a.json')
read_json_objects('/tmp/a.json')
read_duckdb('/tmp/a.duckdb')
sniff_csv('/etc/passwd')
glob('/**')
query('SELECT 1')
query('SELECT * FROM read_text(''/etc/passwd'')')
query_table('trades')
query_table(['trades', 'duckdb_settings'])
json_execute_serialized_sql('{}')
sql_auto_complete('SEL')
duckdb_settings()
duckdb_secrets()
duckdb_extensions()
duckdb_logs()
duckdb_memory()
duckdb_temporary_files()
duckdb_variables()
duckdb_prepared_statements()
duckdb_external_file_cache()
duckdb_approx_database_count()
duckdb_connection_count()
duckdb_secret_types()
duckdb_log_contexts()
duckdb_logs_parsed('FileSystem')
duckdb_optimizers()
duckdb_table_sample('trades')
pragma_platform()
pragma_user_agent()
pragma_metadata_info('trades')
pragma_last_profiling_output()
pragma_database_size()
pragma_storage_info('trades')
which_secret('s3://a', 's3')
enable_logging(storage = 'file')
enable_logging('QueryLog', storage := 'file', storage_path := '/tmp/x')
disable_logging()
enable_profiling()
truncate_duckdb_logs()
checkpoint()
force_checkpoint()
seq_scan('trades')
arrow_scan(1, 2, 3)
histogram_values('trades', 'price')
enable_peg_parser()
duckdb_profiling_settings()
`);

const scalarCalls = lines(`
current_setting('memory_limit')
current_setting('Time' || 'Zone')
current_setting('TimeZone', true)
current_setting(NULL)
current_setting((SELECT 'threads'))
current_setting('allowed_configs')
getvariable('x')
getenv('HOME')
sum(1) EXPORT_STATE
string_agg(DISTINCT 'a' ORDER BY 1) EXPORT_STATE
count(*) FILTER (WHERE true) EXPORT_STATE
nextval('s')
currval('s')
current_query()
txid_current()
current_connection_id()
write_log('x')
sleep_ms(10000)
pg_catalog.pg_sleep(10)
json_serialize_sql('SELECT 1')
json_serialize_plan('SELECT * FROM ''/etc/passwd''')
json_deserialize_sql('{}')
from_json('[]', repeat('[', 100000) || repeat(']', 100000))
json_transform(j, j)
variant_bytes_to_variant(x)
variant_to_parquet_variant(x)
stats(1)
get_block_size('x')
make_type('VARIANT')
get_type(1)
__internal_compress_string_ubigint('a')
st_geomfromwkb(x)
read_text('/etc/passwd')
query('SELECT 1')
unpivot_list(1, 2)
pg_postmaster_start_time()
pg_conf_load_time()
inet_server_addr()
`);

const tables = lines(`
pg_catalog.pg_settings
duckdb_settings
duckdb_secrets
duckdb_logs
duckdb_memory
pg_settings
"PG_SETTINGS"
pg_prepared_statements
pg_catalog.pg_prepared_statements
main.pg_settings
main.duckdb_logs
main.main.trades
information_schema.no_such_view
information_schema.duckdb_settings
pg_catalog.duckdb_settings
temp.information_schema.tables
memory.information_schema.tables
other.pg_catalog.pg_class
acme.information_schema.tables
system.main.duckdb_settings
temp.x
temp.main.x
memory.main.x
memory.trades
framehold.information_schema.tables
frames.duckdb_tables
frames.sqlite_master
analytics.information_schema.tables
analytics.main.duckdb_settings
analytics.pg_catalog.pg_class
analytics.sqlite_master
_other.sales
_warm_1.frame
recurring.sales
framehold.framehold.sales
acme.duckdb_tables
acme.pg_class
other.main.sales
analytics2.main.sales
"tsdb?abcdefgh".query
framehold."tsdb?abcdefgh".query
memory.tsdb.trades
system.tsdb.trades
tsdb.main.trades
tsdb.tsdb.trades
`);

const statements = lines(`
CREATE TABLE tsdb.t AS SELECT 1
CREATE TABLE framehold.tsdb.t (a INT)
CREATE VIEW tsdb.v AS SELECT 1
INSERT INTO tsdb.t VALUES (1)
UPDATE tsdb.t SET a = 1
DELETE FROM tsdb.t
TRUNCATE tsdb.t
MERGE INTO tsdb.t USING u ON t.a = u.a WHEN MATCHED THEN DELETE
ALTER TABLE tsdb.t ADD COLUMN a INT
DROP TABLE tsdb.t
DROP TABLE framehold.tsdb.t
SELECT tsdb.query('select 1')
CALL tsdb.query('select 1')
FROM tsdb.query()
FROM tsdb.query(NULL)
FROM tsdb.query(1)
FROM tsdb.query('select 1', 'select 2')
FROM tsdb.query(q := 'select 1')
FROM tsdb.query($1)
FROM tsdb.query('select ' || '1')
FROM tsdb.query(lower('select 1'))
FROM tsdb.query((SELECT content FROM read_text('/etc/passwd')))
FROM tsdb.query(getenv('HOME'))
FROM tsdb.query(E'select 1')
FROM tsdb.query(x'73656c6563742031')
FROM tsdb.query('select 1'::VARCHAR)
FROM tsdb.query(['select 1'])
FROM framehold.tsdb.query('select 1')
FROM tsdb.query_table('trades')
FROM tsdb.read_csv('/etc/passwd')
FROM other.query('select 1')
FROM tsdb.query('select 1') WITH ORDINALITY
FROM tsdb.query('drop table trades')
FROM tsdb.query('insert into trades values (1)')
FROM tsdb.query('with x as (select 1) insert into trades select * from x')
FROM tsdb.query('with x as (select 1) update trades set a = 1')
FROM tsdb.query('update trades set a = 1')
FROM tsdb.query('trades')
FROM tsdb.query('show tables')
FROM tsdb.query('copy trades to ''x''')
FROM tsdb.query('select 1; drop table trades')
FROM tsdb.query('select 1;')
FROM tsdb.query('select 1 -- ; ')
FROM tsdb.query('select 1 /* ; */')
FROM tsdb.query('select 1) drop (select 2')
FROM tsdb.query('select 1) union (select 2')
FROM tsdb.query('select ''a')
FROM tsdb.query('select "a')
FROM tsdb.query('select 1 from trades where a = ''x'' ; drop table trades; select ''y''')
FROM tsdb.query('')
FROM tsdb.query('select')
FROM tsdb.query('select * from read_parquet(''x.parquet'')')
FROM tsdb.query('select * from "read_parquet"(''x.parquet'')')
FROM tsdb.query('select * from parquet_scan(''x.parquet'')')
FROM tsdb.query('select * from import_files()')
FROM tsdb.query('select * from glob(''*'')')
FROM tsdb.query('select * from query_activity()')
FROM tsdb.query('select * from query_activity')
FROM tsdb.query('select cancel_query(1)')
FROM tsdb.query('select flush_query_cache()')
FROM tsdb.query('select * from pg_catalog.pg_class')
FROM tsdb.query('select * from pg_class()')
FROM tsdb.query('select * from information_schema.columns()')
FROM tsdb.query('select * from sys.acl')
FROM tsdb.query('select * from "sys.acl"')
FROM tsdb.query('select * from telemetry')
FROM tsdb.query('select * from _query_trace')
FROM tsdb.query('select simulate_crash(''0'')')
FROM tsdb.query('select 1'), duckdb_tables()
SELECT * FROM tsdb.trades, duckdb_tables()
SELECT * FROM tsdb.query('select 1'), read_csv('/etc/passwd')
SELECT * FROM tsdb.trades WHERE x = (SELECT content FROM read_text('/etc/passwd'))
SELECT NULL::ENUM('a')[], (SELECT content FROM read_text('/etc/passwd'))
SELECT NULL::ENUM('a')[], getenv('HOME')
SELECT NULL::ENUM('a')[], enum('a')
SELECT NULL::ENUM('a')[] FROM enum('a')
WITH enum('a') AS (SELECT NULL::ENUM('a')[]) FROM char
SELECT NULL::ENUM('a')[] FROM '/etc/passwd' enum('a')
SELECT NULL::ENUM(getenv('HOME'))[]
SELECT NULL::ENUM((SELECT content FROM read_text('/etc/passwd')))[]
CREATE TABLE t (a ENUM(SELECT content FROM read_text('/etc/passwd'))[])
SELECT NULL::ENUM('a')[]; SELECT 1
SELECT NULL::STRUCT(a ENUM('a'), b my_type)
COPY trades TO '/tmp/x.csv'
COPY (SELECT 1) TO '/tmp/x.parquet' (FORMAT parquet)
COPY trades FROM '/etc/passwd'
COPY FROM DATABASE a TO b
ATTACH '/tmp/x.db' AS x
ATTACH DATABASE ':memory:' AS x
ATTACH IF NOT EXISTS 'x.db'
DETACH analytics
DETACH DATABASE IF EXISTS analytics
INSTALL httpfs
INSTALL '/tmp/evil.so'
FORCE INSTALL httpfs
LOAD httpfs
LOAD '/tmp/evil.so'
UPDATE EXTENSIONS
SET memory_limit = '100GB'
SET GLOBAL threads = 64
SET SESSION search_path = 'main'
SET VARIABLE x = 1
SET enable_external_access = true
SET TimeZone = 'UTC'
SET allowed_configs = ['threads']
RESET memory_limit
RESET ALL
PRAGMA enable_profiling
PRAGMA memory_limit = '1GB'
PRAGMA table_info
PRAGMA table_info()
PRAGMA table_info('trades', 'x')
PRAGMA table_info('trades'); DROP TABLE t
PRAGMA table_info('trades') UNION SELECT 1
PRAGMA table_info(getenv('HOME'))
PRAGMA table_info = 'trades'
PRAGMA "table_info"('trades')
PRAGMA show_tables = 1
PRAGMA show_tables; DROP TABLE t
PRAGMA version()
PRAGMA storage_info('trades')
PRAGMA database_size
PRAGMA user_agent
PRAGMA platform
PRAGMA functions
PRAGMA metadata_info
PRAGMA
CALL pragma_version()
CALL enable_logging()
CALL range(3)
EXPORT DATABASE '/tmp/x'
IMPORT DATABASE '/tmp/x'
USE analytics
USE main
CHECKPOINT
FORCE CHECKPOINT
VACUUM
VACUUM ANALYZE
ANALYZE
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE p
BEGIN
BEGIN TRANSACTION
START TRANSACTION
COMMIT
END
ROLLBACK
ABORT
CREATE RECURSIVE VIEW v(a) AS SELECT 1
CREATE MATERIALIZED VIEW v AS SELECT 1
CREATE VIEW v AS SELECT * FROM read_text('/etc/passwd')
CREATE VIEW v AS FROM '/etc/passwd'
CREATE VIEW v AS SELECT 1) AS x; SELECT (1
CREATE VIEW v AS SELECT 1) AS x, (SELECT 2
CREATE VIEW v AS SELECT 1 UNION (SELECT 2)) AS x JOIN (SELECT 3
CREATE VIEW v AS COPY (SELECT 1) TO '/tmp/x'
CREATE VIEW v AS DROP TABLE trades
CREATE VIEW v AS INSERT INTO trades VALUES (1)
CREATE VIEW v AS SELECT * FROM duckdb_settings()
CREATE VIEW v AS SELECT * FROM duckdb_views
CREATE VIEW v AS SHOW ALL TABLES
CREATE VIEW v (a) AS SELECT 1) AS "v"("b
CREATE VIEW v ("a") AS "b") AS SELECT 1
CREATE VIEW v (a, (SELECT 1)) AS SELECT 1
CREATE VIEW information_schema.v AS SELECT 1
CREATE VIEW temp.v AS SELECT 1
CREATE VIEW analytics.main.v AS SELECT 1
CREATE VIEW v AS EXPLAIN SELECT 1
CREATE VIEW v AS PIVOT trades ON symbol USING sum(price)
CREATE VIEW v AS SELECT $1
CREATE VIEW v AS SELECT * FROM _warm_1.main.frame
CREATE TEMP TABLE t AS FROM read_text('/etc/passwd')
CREATE TEMP TABLE temp.main.insert_target AS SELECT 1
CREATE TEMP SEQUENCE s
CREATE LOCAL TEMPORARY TABLE t (a INT)
CREATE TEMP VIEW v AS FROM read_text('/etc/passwd')
CREATE MACRO m(a) AS read_text(a)
CREATE MACRO m(a) AS (SELECT content FROM read_text(a))
CREATE MACRO m(a) AS (FROM read_csv('/etc/passwd'))
CREATE MACRO m(a) AS TABLE FROM read_text(a)
CREATE MACRO m(a) AS TABLE FROM '/etc/passwd'
CREATE MACRO m(a) AS TABLE FROM query(a)
CREATE MACRO m(a) AS TABLE FROM query_table(a)
CREATE MACRO m(a) AS TABLE FROM duckdb_settings()
CREATE MACRO m(a) AS TABLE FROM pg_settings
CREATE MACRO m(a) AS TABLE FROM _target.trades
CREATE MACRO m(a) AS TABLE FROM temp.main.insert_target
CREATE MACRO m(a) AS TABLE FROM _warm_1.main.frame
CREATE MACRO m(a) AS TABLE SELECT rowid FROM trades
CREATE MACRO m(a) AS TABLE PIVOT trades ON symbol USING sum(price)
CREATE MACRO m(a) AS TABLE SELECT 1; DROP TABLE t
CREATE MACRO m(a) AS TABLE DROP TABLE t
CREATE MACRO m(a) AS TABLE INSERT INTO t VALUES (1)
CREATE MACRO m(a) AS TABLE COPY t TO 'x'
CREATE MACRO m(a) AS TABLE SELECT 1) UNION ALL (SELECT 2
CREATE MACRO m(a) AS a; DROP TABLE t
CREATE MACRO m(a) AS a FROM t
CREATE MACRO m(a) AS a) FROM read_text('/etc/passwd') --
CREATE MACRO m(a) AS a) /*
CREATE MACRO m(a) AS getenv(a)
CREATE MACRO m(a) AS getvariable('x')
CREATE MACRO m(a) AS current_setting(a)
CREATE MACRO m(a) AS system.main.getenv('x')
CREATE MACRO m(a) AS nextval('s')
CREATE MACRO m(a) AS a::my_type
CREATE MACRO m(a) AS $1
CREATE MACRO m(a) AS ?
CREATE MACRO m(a) AS DEFAULT
CREATE MACRO m(a) AS
CREATE MACRO m(a)
CREATE MACRO m AS 1
CREATE MACRO m(a, A) AS a
CREATE MACRO m(a := getenv('x')) AS a
CREATE MACRO m(a := (FROM read_text('/etc/passwd'))) AS a
CREATE MACRO m(a := (SELECT 1)) AS a
CREATE MACRO m(a := ?) AS a
CREATE MACRO m(a := 1)) AS (SELECT 1
CREATE MACRO m(a := 1, b) AS a
CREATE MACRO m(a INTEGER) AS a
CREATE MACRO m("a"") AS 1) AS a
CREATE MACRO m(a) AS m(a)
CREATE MACRO m(a) AS "m"(a)
CREATE MACRO m(a) AS frames.m(a)
CREATE MACRO m(a) AS a, (b) AS b
CREATE MACRO m(a) AS a, (b, c) AS TABLE SELECT b
CREATE MACRO m(a) AS x IN a
CREATE MACRO m(a) AS list_transform([1], lambda a: getenv(a))
CREATE MACRO "m m"(a) AS a
CREATE MACRO "m""m"(a) AS a
CREATE MACRO "../../m"(a) AS a
CREATE TABLE pg_type (a INT)
CREATE TABLE "PG_Settings" AS SELECT 1 AS a
CREATE TABLE frames.duckdb_tables AS SELECT 1 AS a
CREATE TEMP TABLE sqlite_master (a INT)
CREATE VIEW duckdb_logs AS SELECT 1 AS a
CREATE OR REPLACE VIEW main.pg_class AS SELECT 1 AS a
ALTER TABLE trades RENAME TO pg_views
CREATE MACRO acme.m(a) AS a
CREATE MACRO system.main.m(a) AS a
CREATE MACRO temp.main.m(a) AS a
CREATE MACRO analytics.main.m(a) AS a
CREATE MACRO sum(a) AS 1
CREATE MACRO "SUM"(a) AS 1
CREATE MACRO abs(a) AS 0
CREATE MACRO json_structure(a) AS 0
CREATE MACRO read_csv(a) AS TABLE SELECT 1
CREATE MACRO read_text(a) AS 1
CREATE MACRO sqlite_scan(a) AS TABLE SELECT 1 FROM getenv('x')
CREATE MACRO range(a) AS TABLE SELECT 1
CREATE MACRO duckdb_settings() AS TABLE SELECT 1
CREATE MACRO duckdb_tables() AS TABLE SELECT 1
CREATE MACRO getenv(a) AS 1
CREATE MACRO current_setting(a) AS 1
CREATE MACRO coalesce(a) AS a
CREATE MACRO "if"(a) AS a
CREATE MACRO cast(a) AS a
CREATE MACRO grouping(a) AS a
CREATE MACRO columns(a) AS a
CREATE MACRO "select"(a) AS a
CREATE OR REPLACE MACRO IF NOT EXISTS m(a) AS a
CREATE FUNCTION f(a) RETURNS INT LANGUAGE c AS 'x'
CREATE PERSISTENT MACRO m(a) AS a
CREATE TYPE t AS ENUM ('a') FROM read_text('/etc/passwd')
CREATE TYPE t AS ENUM (FROM read_text('/etc/passwd'))
CREATE TYPE t AS ENUM ()
CREATE TYPE t AS ENUM (1)
CREATE TYPE t AS INTEGER) FROM read_text('/etc/passwd') --
CREATE TYPE t AS INTEGER), (SELECT 1
CREATE TYPE t AS t
CREATE TYPE t AS STRUCT(a t)
CREATE TYPE t AS my_type
CREATE TYPE t AS INTEGER[?]
CREATE TYPE t AS
CREATE TYPE t
CREATE TYPE integer AS VARCHAR
CREATE TYPE "INT" AS VARCHAR
CREATE TYPE text AS INTEGER
CREATE TYPE enum AS INTEGER
CREATE TYPE json AS INTEGER
CREATE TYPE "my type" AS INTEGER
CREATE TYPE acme.t AS INTEGER
CREATE TYPE information_schema.t AS INTEGER
CREATE SCHEMA s
CREATE INDEX i ON t (a)
CREATE UNIQUE INDEX i ON t (a)
CREATE SEQUENCE s
CREATE SECRET s (TYPE s3)
CREATE PERSISTENT SECRET s (TYPE s3)
CREATE DATABASE d
CREATE TABLE t
CREATE TABLE t AS
CREATE TABLE t AS SELECT * FROM read_csv('/etc/passwd')
CREATE TABLE t AS EXECUTE p
CREATE TABLE t AS COPY x TO 'y'
CREATE TABLE t AS SELECT 1; DROP TABLE t
CREATE TABLE t (a INT DEFAULT nextval('s'))
CREATE TABLE t (a INT DEFAULT (SELECT 1))
CREATE TABLE t (a INT DEFAULT (FROM u))
CREATE TABLE t (a INT DEFAULT (VALUES (1)))
CREATE TABLE t (a INT DEFAULT getenv('x'))
CREATE TABLE t (a INT DEFAULT getvariable('x'))
CREATE TABLE t (a INT DEFAULT current_setting('threads'))
CREATE TABLE t (a INT DEFAULT $1)
CREATE TABLE t (a INT DEFAULT ?)
CREATE TABLE t (a INT DEFAULT 1::my_type)
CREATE TABLE t (a INT DEFAULT DEFAULT)
CREATE TABLE t (a INT DEFAULT)
CREATE TABLE t (a INT DEFAULT 1 DEFAULT 2)
CREATE TABLE t (a INT DEFAULT [1)])
CREATE TABLE t (a INT DEFAULT 1 FROM u)
CREATE TABLE t (a INT DEFAULT 1 AS b)
CREATE TABLE t (a INT DEFAULT CASE 1) , b INT DEFAULT (2 END)
CREATE TABLE t (a INT DEFAULT 1); COPY u TO 'x'
CREATE TABLE t (a INT CHECK ())
CREATE TABLE t (a INT CHECK a > 1)
CREATE TABLE t (a INT CHECK (a > 1) , (b)
CREATE TABLE t (a INT CHECK (a > 1, b > 1))
CREATE TABLE t (a INT CHECK (1) FROM u)
CREATE TABLE t (a INT CHECK (SELECT 1))
CREATE TABLE t (a INT CHECK (EXISTS (FROM u)))
CREATE TABLE t (a INT CHECK (a IN (FROM read_csv('x'))))
CREATE TABLE t (a INT CHECK (a > ANY (SELECT 1)))
CREATE TABLE t (a INT CHECK (list_transform([1], lambda x: (SELECT x)) IS NULL))
CREATE TABLE t (a INT CHECK (row_number() OVER () > 1))
CREATE TABLE t (a INT CHECK (COLUMNS(*) > 1))
CREATE TABLE t (a INT CHECK (pg_sleep(1) IS NULL))
CREATE TABLE t (a INT, CHECK (a > $name))
CREATE TABLE t (a INT AS (read_text('/etc/passwd')))
CREATE TABLE t (a AS (read_text('/etc/passwd')), b INT)
CREATE TABLE t (a AS (b) FROM u, b INT)
CREATE TABLE t (a INT, b AS (#1))
CREATE TABLE t (a AS ((SELECT 1)), b INT)
CREATE TABLE t (a AS (b), (c AS (1)), b INT)
CREATE TABLE t (a INT GENERATED BY DEFAULT AS IDENTITY)
CREATE TABLE t (a INT GENERATED ALWAYS AS IDENTITY)
CREATE TABLE t (a INT REFERENCES u ON DELETE SET NULL)
CREATE TABLE t (a INT REFERENCES u ON UPDATE CASCADE)
CREATE TABLE t (a INT COLLATE nocase)
CREATE TABLE t (a INT CONSTRAINT)
CREATE TABLE t (a INT CONSTRAINT c)
CREATE TABLE t (a INT, CONSTRAINT c)
CREATE TABLE t (a INT, PRIMARY KEY ())
CREATE TABLE t (a INT, PRIMARY KEY (a) USING INDEX x)
CREATE TABLE t (PRIMARY KEY (a))
CREATE TABLE t (a INT, LIKE u)
CREATE TABLE t (a INT, EXCLUDE (a))
CREATE TABLE t (a, a) AS SELECT 1, 2
CREATE TABLE t (a) AS FROM read_csv('x')
CREATE TABLE t (a) AS SELECT 1) AS x, (SELECT 1
CREATE TABLE t ("a) AS x, (SELECT 1", b) AS FROM duckdb_settings()
CREATE TABLE t (a my_type)
CREATE TABLE t (a no_such_type)
CREATE TABLE t (a INT) AS SELECT 1
CREATE TABLE t ()
CREATE TABLE t (a INT
CREATE TABLE t (a INT) AS x, (SELECT 1
CREATE TABLE t (a INT) FROM read_csv('x'); --
CREATE TABLE t (a STRUCT(b INT)) WITH (x = 1)
CREATE TABLE t (a INT) PARTITIONED BY (a)
CREATE OR REPLACE TABLE IF NOT EXISTS t AS SELECT 1
CREATE TABLE analytics.main.t AS SELECT 1
CREATE TABLE analytics.t AS SELECT 1
CREATE TABLE a.b.c.d AS SELECT 1
CREATE TABLE 'x.parquet' AS SELECT 1
CREATE TABLE select AS SELECT 1
DROP VIEW v, w
DROP VIEW v CASCADE
DROP VIEW IF EXISTS v RESTRICT
DROP TABLE t CASCADE
DROP TABLE IF EXISTS t RESTRICT
DROP TABLE t CASCADE RESTRICT
ALTER TABLE t DROP COLUMN a CASCADE
ALTER TABLE t DROP a RESTRICT
DROP VIEW analytics.main.v
DROP SCHEMA frames CASCADE
DROP TABLE a, b
DROP TABLE
DROP TABLE analytics.main.t
DROP DATABASE analytics
DROP SECRET s
DROP MACRO m, n
DROP MACRO acme.m
DROP MACRO "m m"
DROP MACRO
DROP TYPE t, u
DROP TYPE acme.t
DROP FUNCTION m(a)
DROP TABLE x; SELECT 1
UPDATE t SET a = (SELECT content FROM read_text('/etc/passwd'))
UPDATE t SET a = getenv('HOME')
UPDATE t SET (a, b) = (1, current_setting('memory_limit'))
UPDATE t SET a = 1 WHERE b IN (FROM duckdb_settings())
UPDATE t SET a = 1 FROM read_csv('x')
UPDATE t SET a = 1 FROM duckdb_settings
UPDATE t SET a = 1 RETURNING current_setting('memory_limit')
UPDATE t SET a = 1 RETURNING (SELECT max(content) FROM read_text('/etc/passwd'))
UPDATE t SET a = 1 RETURNING (SELECT 1 FROM u)
UPDATE t SET a = 1 RETURNING a FROM u
UPDATE t SET a = 1 RETURNING DISTINCT a
UPDATE t SET a = 1 RETURNING a UNION ALL SELECT 1
UPDATE t SET a = 1 RETURNING
UPDATE t SET a = 1) FROM u --
UPDATE t SET a = 1 WHERE b) UNION (SELECT 1
UPDATE t SET a = 1 WHERE b) UNION ALL (FROM u WHERE (c
UPDATE t SET a = 1 WHERE (b]
UPDATE t SET a = 1 WHERE CASE WHEN b THEN 1
UPDATE t SET a = 1 WHERE b END
UPDATE t SET a = 1 WHERE true GROUP BY b
UPDATE t SET a = 1 WHERE true ORDER BY b LIMIT 1
UPDATE t SET a = 1 WHERE true UNION ALL SELECT 1
UPDATE t SET a = 1 WHERE true; DROP TABLE t
UPDATE t SET a = 1 FROM u GROUP BY b
UPDATE t SET a = 1 FROM u LIMIT 1
UPDATE t SET a = 1 FROM u UNION SELECT 1, 'UPDATE', 2
UPDATE t SET a = 1 FROM
UPDATE t SET a = 1 WHERE
UPDATE t SET a = 1, a = 2
UPDATE t SET a =
UPDATE t SET = 1
UPDATE t SET
UPDATE t SET a
UPDATE t SET t.a = 1
UPDATE t SET a == 1
UPDATE t SET (a, b) = (1, 2, 3)
UPDATE t SET (a, b) = (SELECT 1, 2)
UPDATE t SET (a, b + 1) = (1, 2)
UPDATE t SET a = 1 FROM _target.t
UPDATE t SET a = 1 FROM framehold._target.u
UPDATE t SET a = (SELECT count(*) FROM "_target".t)
UPDATE t SET a = (SELECT count(*) FROM "_TARGET".t)
UPDATE _target.t SET a = 1
UPDATE analytics.main.t SET a = 1
UPDATE system.main.t SET a = 1
UPDATE duckdb_settings() SET a = 1
UPDATE ONLY t SET a = 1
UPDATE OR REPLACE t SET a = 1
UPDATE t, u SET a = 1
UPDATE t SET a = DEFAULT + 1
EXPLAIN UPDATE t SET a = 1
DESCRIBE UPDATE t SET a = 1
SELECT * FROM (UPDATE t SET a = 1 RETURNING *)
CREATE TABLE x AS UPDATE t SET a = 1 RETURNING *
DELETE t
DELETE FROM t u v WHERE a = 1
DELETE FROM t WHERE a IN (FROM read_csv('x'))
DELETE FROM t USING read_parquet('x.parquet') WHERE true
DELETE FROM t USING _target.u WHERE true
DELETE FROM t USING u ORDER BY 1
DELETE FROM t WHERE true RETURNING getenv('HOME')
DELETE FROM t WHERE true LIMIT 1
DELETE FROM _target.t
DELETE FROM analytics.main.t
DELETE FROM information_schema.tables
DELETE FROM t; DELETE FROM u
EXPLAIN DELETE FROM t
TRUNCATE analytics.main.t
TRUNCATE _target.t
TRUNCATE t, u
TRUNCATE TABLE t CASCADE
TRUNCATE
WITH a AS (FROM read_csv('x')) UPDATE t SET b = 1 FROM a
WITH a AS (FROM _target.t) DELETE FROM t USING a
WITH a AS (SELECT 1) SELECT 2 UNION (SELECT 3) UPDATE t SET b = 1
WITH a AS (SELECT 1) FROM (u) UPDATE t SET b = 1
WITH a AS (SELECT 1) TRUNCATE t
WITH "a.csv" AS (SELECT 1) DELETE FROM t WHERE true
INSERT INTO t VALUES (1) RETURNING getenv('HOME')
INSERT INTO t VALUES (1) RETURNING (SELECT 1 FROM u)
INSERT INTO t RETURNING a
INSERT INTO t SELECT 1 FROM _target.t RETURNING a
WITH a AS (FROM duckdb_settings()) INSERT INTO t FROM a
MERGE INTO t USING read_csv('x') u ON t.a = u.a WHEN MATCHED THEN DELETE
MERGE INTO t USING _target.t u ON t.a = u.a WHEN MATCHED THEN DELETE
MERGE INTO t USING u ON t.a = getenv('HOME') WHEN MATCHED THEN DELETE
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.b IN (FROM duckdb_settings()) THEN DELETE
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET a = getenv('HOME')
MERGE INTO t USING read_csv('x') u ON t.a = u.a WHEN MATCHED THEN UPDATE
MERGE INTO t USING (FROM duckdb_settings()) u ON t.a = u.a WHEN NOT MATCHED THEN INSERT
MERGE INTO t USING _target.t u ON t.a = u.a WHEN NOT MATCHED THEN INSERT BY NAME
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT VALUES (getenv('HOME'))
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT VALUES (1), (2)
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT * RETURNING (SELECT 1 FROM u)
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET *, a = 1
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE BY NAME x
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED BY SOURCE THEN UPDATE
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN INSERT (a) VALUES (1)
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT (a, a) VALUES (1, 2)
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT (a) VALUES (1), (2)
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT (a) SELECT 1
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN DELETE
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN ERROR getenv('HOME')
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE RETURNING (SELECT 1 FROM u)
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE x
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED
MERGE INTO t USING u ON t.a = u.a
MERGE INTO t USING u WHEN MATCHED THEN DELETE
MERGE INTO t USING u, v ON t.a = u.a WHEN MATCHED THEN DELETE
MERGE INTO t USING u JOIN v ON true ON t.a = u.a WHEN MATCHED THEN DELETE
MERGE INTO t USING (FROM u) ON true WHEN NOT MATCHED BY SOURCE THEN DELETE
MERGE INTO t USING u ON t.a = u.a) WHERE (true WHEN MATCHED THEN DELETE
MERGE INTO analytics.main.t USING u ON t.a = u.a WHEN MATCHED THEN DELETE
MERGE INTO _target.t USING u ON t.a = u.a WHEN MATCHED THEN DELETE
ALTER DATABASE a SET ALIAS TO b
ALTER VIEW v ADD COLUMN a INT
ALTER VIEW v RENAME a TO b
ALTER VIEW analytics.main.v RENAME TO w
ALTER VIEW v SET SCHEMA other
ALTER SEQUENCE s OWNED BY t
ALTER SCHEMA s RENAME TO t
ALTER TABLE analytics.main.t ADD COLUMN a INT
ALTER TABLE t ADD COLUMN a INT DEFAULT getenv('HOME')
ALTER TABLE t ADD COLUMN a INT DEFAULT (SELECT 1)
ALTER TABLE t ADD COLUMN a VARCHAR DEFAULT 'x') AS VARCHAR) AS a FROM read_text('/etc/passwd') --
ALTER TABLE t ALTER a TYPE INT USING (SELECT max(b) FROM u)
ALTER TABLE t ALTER a TYPE VARCHAR USING a) AS VARCHAR) AS a) FROM duckdb_settings() --
ALTER TABLE t ALTER a TYPE USING read_text('/etc/passwd')
ALTER TABLE t ALTER a TYPE USING a) AS a) FROM duckdb_settings() --
ALTER TABLE t ADD COLUMN s.a VARCHAR DEFAULT getenv('HOME')
ALTER TABLE t ADD COLUMN s.a VARCHAR DEFAULT (SELECT max(b) FROM u)
ALTER TABLE t ADD COLUMN s.a VARCHAR DEFAULT 'x') AS VARCHAR)) FROM read_text('/etc/passwd') --
ALTER TABLE t ADD COLUMN s.a INT), (getenv('HOME')
ALTER TABLE t DROP COLUMN s.a) FROM read_text('/etc/passwd') --
ALTER TABLE t RENAME s.a TO b FROM u
ALTER TABLE t ALTER a SET DEFAULT current_setting('memory_limit')
ALTER TABLE t ADD CONSTRAINT c CHECK (true)
ALTER TABLE t SET SCHEMA other
ALTER TABLE t SET PARTITIONED BY (a)
COMMENT ON TABLE t IS 'x'
WITH a AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM a
WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a
INSERT INTO t
INSERT INTO t VALUES (DEFAULT + 1)
INSERT INTO t VALUES ((SELECT DEFAULT))
INSERT INTO t VALUES ([DEFAULT])
INSERT INTO t SELECT DEFAULT
INSERT INTO t FROM (VALUES (DEFAULT))
INSERT INTO t VALUES (1) ORDER BY DEFAULT
INSERT INTO t (a) BY NAME SELECT 1 AS a
INSERT INTO t BY NAME DEFAULT VALUES
INSERT INTO t (a) DEFAULT VALUES
INSERT INTO t DEFAULT VALUES, (1)
INSERT INTO t DEFAULT VALUES RETURNING sum(a)
INSERT INTO t DEFAULT VALUES RETURNING (SELECT content FROM read_text('/etc/passwd'))
DELETE FROM t RETURNING JSON_GROUP_ARRAY(a)
UPDATE t SET a = 1 RETURNING rank() OVER ()
INSERT INTO t AS SELECT 1
INSERT OR ABORT INTO t VALUES (1)
INSERT OR INTO t VALUES (1)
INSERT OR IGNORE OR REPLACE INTO t VALUES (1)
INSERT OR REPLACE INTO t
INSERT OR IGNORE INTO t FROM read_csv('x')
INSERT OR IGNORE INTO t SELECT 1 FROM _target.t
INSERT OR REPLACE INTO _target.t VALUES (1)
INSERT OR REPLACE INTO analytics.main.t VALUES (1)
INSERT OR REPLACE INTO duckdb_settings() VALUES (1)
INSERT OR REPLACE INTO t VALUES (1); DROP TABLE t
INSERT OR IGNORE INTO t VALUES (1) ON CONFLICT DO NOTHING
INSERT OR IGNORE INTO t VALUES (1) RETURNING getenv('HOME')
EXPLAIN ANALYZE INSERT OR REPLACE INTO t VALUES (1)
WITH a AS (INSERT OR IGNORE INTO t VALUES (1) RETURNING *) FROM a
INSERT INTO t VALUES (1) ON CONFLICT
INSERT INTO t VALUES (1) ON CONFLICT DO
INSERT INTO t VALUES (1) ON CONFLICT DO DELETE
INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE
INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING WHERE true
INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING; DROP TABLE t
INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING ON CONFLICT DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT (a) WHERE a > 1 DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT () DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT (a,) DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT (t.a) DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT (a, (b)) DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT (lower(a)) DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT ((SELECT 1 FROM read_csv('x'))) DO NOTHING
INSERT INTO t ON CONFLICT DO NOTHING
INSERT INTO t DEFAULT VALUES, (1) ON CONFLICT DO NOTHING
INSERT INTO t SELECT * FROM read_text('/etc/passwd') ON CONFLICT DO NOTHING
INSERT INTO t SELECT 1 UNION SELECT value FROM duckdb_settings() ON CONFLICT DO NOTHING
INSERT INTO t VALUES (1)) AS x, read_csv('x') AS y ON CONFLICT DO NOTHING
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b =
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET t.b = 1
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1, b = 2
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = DEFAULT + 1
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = getenv('HOME')
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = excluded.b || getenv('HOME')
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = (SELECT content FROM read_text('/etc/passwd'))
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = (SELECT max(b) FROM u)
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = (SELECT max(b) FROM _target.t)
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = EXISTS (FROM "framehold rows")
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = sum(b)
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = rank() OVER ()
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1) FROM read_csv('x') --
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 END AS b) FROM duckdb_settings() --
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 FROM u
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 LIMIT 1
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE getenv('HOME') = 'x'
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE b IN (FROM u)
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE true ORDER BY b
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE true UNION ALL SELECT 1, 'INSERT', 2
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE true) UNION ALL (SELECT 1, 'INSERT', 2
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 RETURNING (SELECT 1 FROM u)
INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 RETURNING getenv('HOME')
INSERT INTO excluded VALUES (1) ON CONFLICT (a) DO UPDATE SET b = excluded.b
INSERT INTO t (a, b SELECT 1
INSERT INTO t SELECT * FROM read_text('/etc/passwd')
INSERT INTO t SELECT * FROM duckdb_settings()
INSERT INTO analytics.main.t VALUES (1)
INSERT INTO t VALUES (1); DROP TABLE t
INSERT t VALUES (1)
EXPLAIN COPY t TO 'x'
EXPLAIN ANALYZE COPY t TO 'x'
EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1
EXPLAIN ANALYZE INSERT INTO t VALUES (1)
EXPLAIN ANALYZE DELETE FROM t
EXPLAIN EXPLAIN SELECT 1
EXPLAIN ("analyze") SELECT 1
EXPLAIN (ANALYZE true) SELECT 1
EXPLAIN ANALYZE EXPLAIN SELECT 1
EXPLAIN ANALYZE FROM read_csv('x')
EXPLAIN (ANALYZE) FROM duckdb_settings()
EXPLAIN ANALYZE (FORMAT json) SELECT 1
EXPLAIN (ANALYZE, FORMAT evil) SELECT 1
EXPLAIN ANALYZE SET threads = 1
EXPLAIN ANALYZE DROP TABLE t
EXPLAIN DROP TABLE t
EXPLAIN CREATE VIEW v AS SELECT 1
EXPLAIN CREATE TABLE t (a INT)
EXPLAIN CREATE TABLE t AS FROM read_csv('x')
EXPLAIN CREATE TABLE analytics.main.t AS SELECT 1
EXPLAIN INSERT INTO t SELECT * FROM read_text('/etc/passwd')
EXPLAIN INSERT INTO duckdb_settings SELECT 1
EXPLAIN INSERT INTO t SELECT 1; DROP TABLE t
EXPLAIN "analyze" SELECT 1
EXPLAIN VERBOSE SELECT 1
EXPLAIN (FORMAT 'json') SELECT 1
EXPLAIN PRAGMA version
EXPLAIN SET threads = 1
EXPLAIN FROM read_csv('x')
EXPLAIN (FORMAT json) FROM duckdb_settings()
EXPLAIN (FORMAT evil) SELECT 1
EXPLAIN (FORMAT json, x) SELECT 1
EXPLAIN
EXPLAIN PIVOT t ON getenv(a) USING sum(b)
EXPLAIN SELECT 1; DROP TABLE t
SHOW VARIABLES
FROM (SHOW VARIABLES)
SELECT * FROM duckdb_tables(), trades
SELECT * FROM trades JOIN information_schema.columns ON true
SELECT (SELECT count(*) FROM duckdb_tables()) FROM trades
SELECT has_table_privilege('trades', 'select') FROM trades
SELECT format_type(23, -1) FROM main.trades
SELECT * FROM pg_class WHERE oid IN (SELECT id FROM analytics.main.instruments)
FROM (SHOW TABLES), trades
CREATE TABLE t (a VARCHAR DEFAULT pg_get_viewdef(1))
CREATE TABLE t (a VARCHAR DEFAULT format_type(23, -1))
CREATE TABLE t (a INT, b VARCHAR AS (pg_get_viewdef(a)))
CREATE TABLE t (a INT CHECK (pg_get_viewdef(a) IS NULL))
CREATE TABLE t (a VARCHAR[] DEFAULT current_schemas(true))
INSERT INTO t VALUES (pg_get_viewdef(1))
ALTER TABLE t ALTER a TYPE VARCHAR USING pg_get_viewdef(a)
ALTER TABLE t ADD COLUMN b VARCHAR DEFAULT pg_get_viewdef(1)
INSERT INTO t SELECT sql FROM duckdb_views()
INSERT INTO t FROM (SHOW TABLES)
EXPLAIN INSERT INTO t FROM duckdb_views()
FROM (DESCRIBE trades), duckdb_columns()
WITH x AS (FROM acme.sales) FROM x, pg_class
FROM pragma_table_info((SELECT name FROM trades))
PIVOT duckdb_tables() ON schema_name USING count(*)
CREATE TABLE x AS PIVOT pg_class ON relkind USING count(*)
SUMMARIZE duckdb_settings
SUMMARIZE FROM read_csv('x')
DESCRIBE FROM read_csv('x')
DESCRIBE SELECT (SELECT content FROM read_text('/etc/passwd')) FROM trades
DESCRIBE SELECT * FROM trades JOIN (DESCRIBE FROM read_csv('x')) AS d ON true
DESCRIBE SELECT getenv('HOME') FROM trades
SELECT * FROM (DESCRIBE FROM read_text('/etc/passwd'))
SELECT 1; SELECT 2
SELECT 1; COPY t TO 'x'
SELECT 1;; DROP TABLE t
; SELECT 1; ; SELECT 2
SELECT x::my_type FROM t
SELECT main.json_structure(j) FROM t
SELECT system.main.json_structure(j) FROM t
SELECT "main".json_group_structure(j) FROM t
SELECT t.j.json_structure() FROM t
SELECT TRY_CAST(x AS my_type[]) FROM t
SELECT x::STRUCT(a INT, b STRUCT(c my_type)) FROM t
SELECT x::MAP(VARCHAR, my_type) FROM t
SELECT x::AGGREGATE_STATE FROM t
SELECT x::GEOMETRY((SELECT content FROM read_text('/etc/passwd'))) FROM t
SELECT * FROM test_vector_types(getenv('HOME'))
FROM histogram_values(duckdb_settings, name)
FROM histogram_values('duckdb_settings', name)
FROM histogram_values('t', a)
FROM histogram_values(information_schema.tables, table_name)
FROM histogram("information_schema.tables", table_name)
FROM histogram_values(system.main.duckdb_settings, name)
FROM histogram_values("/etc/passwd", a)
FROM histogram_values("t.csv", a)
FROM histogram_values((SELECT 1), a)
FROM histogram_values(t, getenv(a))
FROM histogram_values(t, source := duckdb_settings, col_name := name)
FROM histogram_values(col_name := name, source := duckdb_settings)
FROM histogram_values(concat('duckdb', '_settings'), name)
FROM histogram_values()
WITH duckdb_settings AS (SELECT 1 AS name) FROM histogram_values(duckdb_settings, name)
FROM summary((FROM read_csv('x')))
FROM summary((FROM duckdb_settings()))
SELECT x::my_type FROM t
SELECT x::main.my_type FROM t
SELECT x::"JSON".y FROM t
SELECT DEFAULT
SELECT $name, $1
SELECT $2
SELECT $1 + $3
SELECT no_such_function(1)
SELECT * FROM no_such_function(1)
SELECT * FROM abs(1)
SELECT * FROM t PIVOT (sum(a) FOR b IN my_enum)
PIVOT t ON a IN my_enum USING sum(b)
PIVOT t ON a USING getvariable('x')
PIVOT (FROM read_csv('x')) ON a USING sum(b)
PIVOT read_csv('x') ON a USING sum(b)
PIVOT '/etc/passwd' ON current_setting('x') USING sum(b)
PIVOT t ON a USING sum(b); DROP TABLE t
FROM (PIVOT duckdb_settings ON name USING first(value))
FROM (PIVOT (FROM read_csv('x')) ON a USING sum(b))
FROM (PIVOT t ON current_setting(a) USING sum(b))
FROM (PIVOT t ON a IN (SELECT name FROM duckdb_settings()) USING sum(b))
WITH duckdb_settings AS (SELECT 1 AS a) FROM (PIVOT duckdb_settings ON a USING count(*))
WITH duckdb_databases AS (SELECT 1 AS a) PIVOT duckdb_databases ON a USING count(*)
WITH pg_class AS (SELECT 1 AS a) SELECT * FROM (PIVOT (FROM pg_class) ON a USING count(*))
SELECT * FROM (PIVOT t ON a USING sum(b)), (FROM read_text('x'))
FROM (PIVOT t ON a USING sum(b)); DROP TABLE t
FROM (PIVOT t ON a IN (0) USING sum(b)) UNION FROM (PIVOT t ON $x USING sum(b))
CREATE TABLE x AS FROM (PIVOT read_csv('/etc/passwd') ON a USING sum(b))
WITH "/etc/passwd" AS (SELECT 1) SELECT * FROM "/etc/passwd"
WITH "a.csv" AS (SELECT 1) SELECT 1
SELECT
SELEC 1
SELECT * FROM
SELECT 'unterminated
SELECT "unterminated
SELECT $$unterminated
SELECT /* unterminated
SELECT U&'a'
)
(
;
--
/* */
`);

/** Spellings of a call that mean the same to DuckDB. */
function spellings(call: string): string[] {
  const name = /^[\w.]+/.exec(call)?.[0] ?? '';
  const rest = call.slice(name.length);
  const bare = name.split('.').at(-1) ?? '';
  return [
    call,
    name.toUpperCase() + rest,
    `"${bare}"${rest}`,
    `main.${bare}${rest}`,
    `system.main."${bare.toUpperCase()}"${rest}`,
    `${bare} /* x */ ${rest}`,
    `${bare}\u00a0--\n${rest}`,
  ];
}

const corpus = [
  ...tableFunctions.flatMap((call) => [
    ...spellings(call).map((spelling) => `SELECT * FROM ${spelling}`),
    `FROM ${call} SELECT 1`,
    `SELECT (SELECT count(*) FROM ${call})`,
    `WITH x AS (FROM ${call}) SELECT 1`,
    `SELECT 1 FROM t, LATERAL (FROM ${call})`,
    `SELECT 1 UNION ALL (SELECT 1 FROM ${call})`,
  ]),
  ...scalarCalls.flatMap((call) => [
    ...spellings(call).map((spelling) => `SELECT ${spelling}`),
    `SELECT 1 FROM t WHERE ${call} IS NULL`,
    `SELECT 1 FROM t ORDER BY ${call}`,
    `SELECT 1 LIMIT ${call}`,
    `SELECT [${call} FOR x IN l] FROM t`,
    `SELECT sum(1) FILTER (WHERE ${call} = 1) OVER (PARTITION BY ${call}) FROM t`,
    `SELECT * REPLACE (${call} AS a) FROM t`,
    `FROM range(${call})`,
    `VALUES (${call})`,
  ]),
  ...tables.flatMap((table) => [
    `SELECT * FROM ${table}`,
    `TABLE ${table}`,
    `DESCRIBE ${table}`,
    `SELECT 1 WHERE EXISTS (FROM ${table})`,
    `SELECT 1 FROM t JOIN ${table} ON true`,
    `PIVOT ${table} ON a USING sum(b)`,
  ]),
  ...statements,
  ...statements.map((sql) => `/* ; */ ${sql.charAt(0).toLowerCase()}${sql.slice(1)}`),
  '',
  '   ',
  'SELECT 1\0',
  "SELECT '\0'",
  'SELECT \ud800',
];

describe('what could harm is refused', () => {
  test('there is enough of it', () => {
    expect(new Set(corpus).size).toBeGreaterThan(1_000);
  });

  const size = 500;
  const starts = Array.from({ length: Math.ceil(corpus.length / size) }, (_, index) => index * size);
  test.each(starts)('from the text %i on', async (start) => {
    const texts = corpus.slice(start, start + size);
    const passed: string[] = [];
    for (const sql of texts) {
      const outcome = await analyzeSql(connection, sql).catch((error: unknown) => error);
      const refused = outcome instanceof AppError && ['sql_error', 'sql_forbidden'].includes(outcome.code);
      if (!refused)
        passed.push(`${JSON.stringify(sql)}: ${outcome instanceof Error ? outcome.stack : JSON.stringify(outcome)}`);
    }
    expect(passed).toEqual([]);
  });
});

/** Macros and types of a tenant, one of them with a body that somebody has written into its file. */
const definitions: readonly Definition[] = [
  macro('twice', ['(', 0, ' + ', 0, ')'], 'x'),
  macro('pair', [0, ' || ', 1], 'a', 'b'),
  macro('forged', ["getenv('HOME')"]),
  macro('escaped', ['1) FROM read_text(', "'/etc/passwd'", ') --']),
  macro('counted', ['(SELECT count(*) FROM trades WHERE price > ', 0, ')'], 'x'),
  macro('found', [0, ' IN (SELECT price FROM trades WHERE price > ', 0, ')'], 'x'),
  macro('queried', ["(SELECT max(content) FROM read_text('/etc/passwd') WHERE content <> ", 0, ')'], 'x'),
  macro('unclosed', ['(SELECT 1 WHERE 1 = ', 0, " FROM read_text('/etc/passwd')"], 'x'),
  macro('overclosed', ['(SELECT ', 0, ')) FROM read_text(', "'/etc/passwd'", ') --'], 'x'),
  { ...macro('numbers', ['SELECT range AS n FROM range(', 0, ')'], 'n'), kind: 'table macro' },
  { ...macro('forged_rows', ["SELECT content FROM read_text('/etc/passwd')"]), kind: 'table macro' },
  { ...macro('escaped_rows', ["SELECT 1) CROSS JOIN read_text('/etc/passwd') --"]), kind: 'table macro' },
  { ...macro('mood', ["ENUM ('sad', 'ok')"]), kind: 'type' },
  { ...macro('forged_type', ["INTEGER), getenv('HOME'), (1"]), kind: 'type' },
];

function macro(name: string, body: readonly (string | number)[], ...parameters: readonly string[]): Definition {
  const forms = [{ parameters: parameters.map((each) => ({ name: each })), sql: body.join(''), body }];
  return { kind: 'macro', name, id: name, forms };
}

describe('what a macro or a type stands for is checked where it is used', () => {
  test.each([
    'SELECT twice(1)',
    'SELECT "TWICE"(x := pair(1, 2)), frames.twice(1)',
    "SELECT twice((SELECT max(n) FROM numbers(3))) WHERE 'ok'::mood = mood 'sad'",
    'FROM numbers(twice(2)) AS n (i)',
    'SELECT counted(price), counted(twice(trades.price)), found(counted(price)) FROM trades WHERE found(price)',
    'UPDATE trades SET price = counted(price)',
    'CREATE VIEW v AS SELECT found(price) FROM trades',
    'CREATE MACRO m(a) AS found(counted(a))',
    'SELECT list_transform([1], lambda price: twice(price)) FROM trades',
    'INSERT INTO trades SELECT twice(n) FROM numbers(3)',
    'UPDATE trades SET price = twice(price) WHERE pair(a, b) IS NULL RETURNING twice(price)',
    'CREATE TABLE t (m mood, a INT CHECK (twice(a) > 0), b INT DEFAULT twice(1), c AS (twice(a)))',
    'CREATE VIEW v AS SELECT twice(a) FROM trades, numbers(3)',
    'CREATE MACRO thrice(x) AS twice(x) + x',
    'EXPLAIN SELECT twice(1)',
  ])('%s passes', async (sql) => {
    await analyzeSql(connection, sql, definitions);
  });

  test.each([
    'SELECT forged()',
    'SELECT escaped()',
    'FROM forged_rows()',
    'FROM escaped_rows()',
    'SELECT (FROM forged_rows())',
    'SELECT queried(1)',
    'SELECT queried(price) FROM trades',
    'SELECT unclosed(price) FROM trades',
    'SELECT overclosed(price) FROM trades',
    "SELECT counted(price || getenv('HOME')) FROM trades",
    "SELECT found(price + (SELECT 1 FROM read_text('/etc/passwd'))) FROM trades",
    'SELECT counted(sum(price) OVER ()) FROM trades',
    'SELECT counted(price) FROM _target.trades',
    'SELECT 1::forged_type',
    'SELECT CAST(1 AS STRUCT(a forged_type))',
    "SELECT forged_type '1'",
    'CREATE TABLE t (a forged_type)',
    'CREATE TABLE t (a INT DEFAULT forged())',
    'CREATE TABLE t (a INT CHECK (forged() IS NULL))',
    'CREATE TABLE t (a INT DEFAULT twice((SELECT 1)))',
    'CREATE TABLE t (a INT CHECK (a IN (FROM numbers(3))))',
    'CREATE VIEW v AS SELECT forged()',
    'CREATE MACRO m() AS forged()',
    'CREATE MACRO m() AS TABLE FROM forged_rows()',
    'INSERT INTO trades SELECT forged()',
    'UPDATE trades SET price = forged()',
    'DELETE FROM trades WHERE forged() IS NULL',
    "SELECT twice(getenv('HOME'))",
    "SELECT twice(x := read_text('/etc/passwd'))",
    "SELECT twice((FROM read_text('/etc/passwd')))",
    'SELECT twice(1) FROM _target.trades',
    'UPDATE trades SET price = twice((SELECT max(price) FROM _target.trades))',
    'SELECT twice(1, 2)',
    'SELECT twice()',
    'SELECT twice(*)',
    'SELECT twice(y := 1)',
    'SELECT twice(x := 1, x := 2)',
    'SELECT pair(a := 1, 2)',
    'SELECT twice(1) OVER ()',
    'SELECT twice(DISTINCT 1)',
    'SELECT twice(1 ORDER BY 1)',
    'SELECT twice(1) FILTER (WHERE true)',
    'SELECT (1).twice()',
    'SELECT a.twice() FROM trades',
    'SELECT acme.twice(1)',
    'SELECT system.main.twice(1)',
    'SELECT 1 IN twice(1)',
    'SELECT numbers(1)',
    'FROM twice(1)',
    'FROM numbers(1) WITH ORDINALITY',
    'SELECT mood(1)',
    'SELECT 1::twice',
    'PIVOT trades ON a IN mood',
  ])('%s is refused', async (sql) => {
    await expect(analyzeSql(connection, sql, definitions)).rejects.toMatchObject({
      code: expect.stringMatching(/^sql_(?:error|forbidden)$/),
    });
  });

  test('a macro that doubles its argument cannot make a statement too large, however deep it is nested', async () => {
    const nested = `${'twice('.repeat(40)}1${')'.repeat(40)}`;
    for (const sql of [`SELECT ${nested}`, `CREATE MACRO m(a) AS ${nested}`, `CREATE VIEW v AS SELECT ${nested}`]) {
      const start = performance.now();
      await expect(analyzeSql(connection, sql, definitions)).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:too_large|sql_error)$/),
      });
      expect(performance.now() - start).toBeLessThan(20_000);
    }
  });

  test('an error tells where it stands in the text of the caller', async () => {
    for (const [sql, word] of [
      ['SELECT pair(1, nosuch(2)), 3', 'nosuch'],
      ['SELECT twice(1), forged(), 3', 'forged'],
      ['SELECT twice(1), twice(2, 3)', 'twice(2'],
      ['INSERT INTO trades SELECT twice(n), nosuch(1) FROM numbers(3)', 'nosuch'],
      ['CREATE MACRO m(x) AS twice(x) + nosuch(x)', 'nosuch'],
    ] as const) {
      const error = await analyzeSql(connection, sql, definitions).catch((thrown: unknown) => thrown);
      const { position = -1 } = error as AppError;
      expect(sql.slice(position)).toMatch(word === 'twice(2' ? /^(?:twice)?\(2/ : new RegExp(`^${word}`));
    }
  });
});

async function refusedAtOnce(_: string, sql: string): Promise<void> {
  const start = performance.now();
  await expect(analyzeSql(connection, sql)).rejects.toMatchObject({ code: 'sql_error' });
  expect(performance.now() - start).toBeLessThan(20_000);
}

describe('text that would keep DuckDB busy is refused at once', () => {
  test.each([
    ['parentheses', `SELECT ${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
    ['brackets', `SELECT ${'['.repeat(50_000)}1${']'.repeat(50_000)}`],
    ['conditions', `SELECT 1 WHERE ${'a AND '.repeat(100_000)}b`],
    ['alternatives', `SELECT 1 WHERE ${'a OR '.repeat(100_000)}b`],
    ['a sum', `SELECT ${'1+'.repeat(50_000)}1`],
    ['calls', `SELECT ${'abs('.repeat(500)}1${')'.repeat(500)}`],
    ['cases', `SELECT ${'CASE WHEN a THEN '.repeat(300)}1${' END'.repeat(300)}`],
    ['comments', `SELECT 1 ${'/*'.repeat(10_000)}${'*/'.repeat(10_000)}`],
    ['values', `VALUES (1)${',(1)'.repeat(200_000)}`],
    ['quotes', `SELECT '${"''".repeat(300_000)}`],
    ['negations', `SELECT ${'NOT '.repeat(50_000)}true`],
  ])('%s', refusedAtOnce);

  // On koffi's own stacks of 128 KiB for calls off the loop, DuckDB's recursion runs into other memory.
  test.skipIf((koffi.config().async_stack_size ?? 0) < 4_000_000).each([
    ['a sum of moderate length', `SELECT ${'1+'.repeat(900)}1`],
    ['subqueries', `SELECT ${'(SELECT '.repeat(40)}1${')'.repeat(40)}`],
    ['lambdas', `SELECT ${'x -> '.repeat(40)}1`],
    ['joins', `SELECT 1 FROM a${' JOIN b ON x'.repeat(900)}`],
    ['types', `SELECT 1::INT${'[]'.repeat(900)}`],
  ])('%s', refusedAtOnce);

  test('a statement of more than 1 MiB', async () => {
    await expect(analyzeSql(connection, `SELECT '${'x'.repeat(1 << 20)}'`)).rejects.toMatchObject({
      code: 'too_large',
    });
  });

  test('thousands of names of WITH are read in good time', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `a${index} AS (FROM b)`);
    const start = performance.now();
    await analyzeSql(connection, `WITH ${names.join()} FROM a1`);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
