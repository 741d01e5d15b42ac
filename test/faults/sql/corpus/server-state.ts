import { lines } from './lines.ts';

/** Settings, extensions, secrets, logs, profiles, the catalogue and whatever else tells about the server or changes it. */
export const serverState = lines(`
SET memory_limit = '100GB'
SET GLOBAL threads = 64
SET SESSION search_path = 'main'
SET temp_directory = '@dir'
SET enable_external_access = true
SET lock_configuration = false
SET allowed_directories = ['/']
SET home_directory = '@dir'
SET secret_directory = '@dir'
SET extension_directory = '@dir'
SET log_query_path = '@dir/written.log'
SET profiling_output = '@dir/written.json'
SET TimeZone = 'Asia/Tokyo'
SET Calendar = 'japanese'
SET default_collation = 'de'
SET schema = 'information_schema'
SET VARIABLE x = (SELECT content FROM read_text('@txt'))
SET errors_as_json = true
SET max_expression_depth = 100000
RESET memory_limit
RESET VARIABLE x
PRAGMA database_list
PRAGMA show_tables
PRAGMA table_info('trades')
PRAGMA storage_info('trades')
PRAGMA version
PRAGMA platform
PRAGMA user_agent
PRAGMA enable_profiling
PRAGMA enable_profiling = 'json'
PRAGMA profile_output = '@dir/written.json'
PRAGMA enable_logging
PRAGMA memory_limit = '1GB'
PRAGMA enable_object_cache
PRAGMA disable_checkpoint_on_shutdown
PRAGMA force_checkpoint
PRAGMA metadata_info
PRAGMA import_database('@dir')
PRAGMA enable_verification
PRAGMA verify_external
PRAGMA explain_output = 'all'
INSTALL httpfs
INSTALL '@dir/evil.duckdb_extension'
FORCE INSTALL httpfs FROM core_nightly
FORCE INSTALL spatial FROM 'http://127.0.0.1:1'
INSTALL h3 FROM community
LOAD httpfs
LOAD '@dir/evil.duckdb_extension'
LOAD postgres_scanner
UPDATE EXTENSIONS
UPDATE EXTENSIONS (httpfs)
CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')
CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')
CREATE OR REPLACE SECRET s IN local_file (TYPE http)
DROP SECRET s
DROP PERSISTENT SECRET s FROM local_file
FROM duckdb_secrets()
FROM which_secret('s3://a', 's3')
SELECT * FROM enable_logging(storage = 'file', storage_path = '@dir/written')
SELECT * FROM enable_logging('QueryLog', storage := 'stdout')
SELECT * FROM enable_logging(level = 'trace', storage = 'memory')
SELECT * FROM disable_logging()
SELECT * FROM truncate_duckdb_logs()
SELECT * FROM duckdb_logs
SELECT * FROM duckdb_logs_parsed('QueryLog')
CALL enable_logging()
CALL enable_profiling()
CALL force_checkpoint()
CALL range(3)
SELECT write_log('x', level := 'error')
SELECT * FROM enable_profiling()
SELECT * FROM enable_peg_parser()
SELECT * FROM checkpoint('analytics')
SELECT * FROM force_checkpoint()
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_settings
SELECT value FROM "duckdb_settings"() WHERE name = 'temp_directory'
SELECT * FROM duckdb_databases()
SELECT path FROM duckdb_databases
SELECT * FROM duckdb_tables()
SELECT sql FROM duckdb_views()
SELECT * FROM duckdb_views
SELECT * FROM duckdb_columns()
SELECT * FROM duckdb_functions()
SELECT * FROM duckdb_extensions()
SELECT * FROM duckdb_temporary_files()
SELECT * FROM duckdb_memory()
SELECT * FROM duckdb_variables()
SELECT * FROM duckdb_prepared_statements()
SELECT * FROM duckdb_external_file_cache()
SELECT * FROM duckdb_optimizers()
SELECT * FROM duckdb_approx_database_count()
SELECT * FROM duckdb_secret_types()
SELECT * FROM duckdb_keywords()
SELECT * FROM pragma_database_list
SELECT * FROM pragma_database_size()
SELECT * FROM pragma_storage_info('trades')
SELECT * FROM pragma_table_info('trades')
SELECT * FROM pragma_user_agent()
SELECT * FROM pragma_last_profiling_output()
SELECT * FROM pragma_detailed_profiling_output()
SELECT * FROM information_schema.tables
SELECT * FROM information_schema.columns
SELECT * FROM framehold.information_schema.tables
SELECT * FROM analytics.information_schema.tables
SELECT * FROM system.information_schema.schemata
SELECT view_definition FROM information_schema.views
SELECT * FROM pg_catalog.pg_settings
SELECT definition FROM pg_catalog.pg_views
SELECT * FROM pg_class
SELECT sql FROM sqlite_master
SELECT * FROM sqlite_temp_master
SELECT * FROM analytics.sqlite_master
SELECT * FROM temp.main.x
SELECT * FROM memory.main.x
SELECT * FROM _warm_1.main.frame
SELECT * FROM _warm_1.frame
SELECT * FROM warm_1.main.frame
SELECT * FROM warm_1.frame
SELECT * FROM framehold.main.trades
SELECT current_setting('temp_directory')
SELECT current_setting('allowed_directories')
SELECT current_query()
SELECT current_schemas(true)
SELECT current_database(), current_schema(), current_user, version()
SELECT getvariable('x')
SELECT getenv('HOME')
SELECT system('id')
SELECT shell('id')
SELECT nextval('s')
SELECT currval('s')
SELECT txid_current()
SELECT current_connection_id()
SELECT pg_get_viewdef(oid) FROM pg_class
SELECT obj_description(1)
SELECT in_search_path('framehold', 'frames')
SELECT stats(id) FROM trades
SELECT get_block_size('framehold')
SELECT make_type('VARIANT')
SELECT cast_to_type('1', 2)
SELECT list_aggregate([1], 'json_group_structure')
SELECT list_aggregate([1], 'duckdb_settings')
SELECT list_aggr(['x'], 'stats')
SELECT filename, file_row_number, file_index FROM trades
SELECT rowid FROM trades
SELECT trades.filename FROM trades
SELECT * EXCLUDE (filename) FROM trades
SHOW DATABASES
SHOW ALL TABLES
SHOW SCHEMAS
SHOW VARIABLES
SHOW TABLES FROM information_schema
SHOW memory_limit
SHOW temp_directory
SHOW ALL
SHOW duckdb_settings
DESCRIBE duckdb_settings
DESCRIBE information_schema.tables
SUMMARIZE duckdb_settings
SUMMARIZE duckdb_databases
FROM (SHOW ALL TABLES)
FROM (SHOW DATABASES)
FROM (DESCRIBE duckdb_settings)
FROM (SUMMARIZE pg_catalog.pg_class)
WITH duckdb_settings AS (SELECT 1 x) FROM (DESCRIBE duckdb_settings)
WITH duckdb_settings AS (SELECT 1 x) FROM (SUMMARIZE duckdb_settings)
WITH duckdb_databases AS (SELECT 1 x) FROM (SUMMARIZE FROM duckdb_databases)
WITH duckdb_databases AS (SELECT 1 x) PIVOT duckdb_databases ON x USING count(*)
WITH duckdb_databases AS (SELECT 1 x) FROM (PIVOT duckdb_databases ON x IN (1) USING count(*))
WITH duckdb_databases AS (SELECT 1 x) FROM duckdb_databases UNPIVOT (v FOR n IN (x))
WITH duckdb_databases AS (SELECT 1 x) FROM range((SELECT count(*) FROM duckdb_databases))
WITH duckdb_databases AS (SELECT 1 x) SELECT (WITH a AS (FROM duckdb_databases) FROM a)
WITH duckdb_databases AS (SELECT 1 x) SELECT list_transform([1], y -> (SELECT count(*) FROM duckdb_databases))
WITH RECURSIVE duckdb_databases AS (FROM duckdb_databases) FROM duckdb_databases
WITH RECURSIVE a AS (FROM duckdb_databases), duckdb_databases AS (SELECT 1) FROM a
WITH RECURSIVE duckdb_databases AS (SELECT 1 x UNION ALL FROM duckdb_databases WHERE x < 0) FROM duckdb_databases
(WITH duckdb_databases AS (SELECT 1 x) SELECT 1) UNION ALL SELECT count(*) FROM duckdb_databases
SELECT 1 FROM (WITH duckdb_settings AS (SELECT 1) SELECT 1), duckdb_settings
EXPLAIN ANALYSE SELECT * FROM trades
EXPLAIN (ANALYZE) SELECT * FROM trades
EXPLAIN (FORMAT json, ANALYZE) SELECT * FROM trades
EXPLAIN (FORMAT json) SELECT * FROM trades
EXPLAIN (FORMAT graphviz) SELECT * FROM trades JOIN trades t USING (id)
EXPLAIN SELECT * FROM trades WHERE price > 2
EXPLAIN FROM duckdb_settings()
SELECT 'a' COLLATE "../../@csv"
SELECT icu_sort_key('a', '../../@csv')
SELECT now() AT TIME ZONE '../../@csv'
SELECT timezone('@txt', now())
SELECT * FROM pg_timezone_names() LIMIT 5
SELECT * FROM icu_calendar_names()
`);
