import { lines } from './lines.ts';

/** Statements of every kind, several at once, and writes hidden in what looks like reading. `@target` is a frame. */
export const otherStatements = lines(`
ALTER TABLE trades ADD COLUMN x INT
ALTER TABLE trades RENAME TO other
ALTER TABLE trades DROP COLUMN id
ALTER VIEW trades RENAME TO other
ALTER DATABASE framehold SET ALIAS TO x
COMMENT ON TABLE trades IS 'x'
USE analytics
USE main
CHECKPOINT
FORCE CHECKPOINT analytics
VACUUM
VACUUM ANALYZE trades
ANALYZE
PREPARE p AS SELECT 1
EXECUTE p
EXECUTE p(1)
DEALLOCATE p
BEGIN TRANSACTION
BEGIN TRANSACTION READ ONLY
START TRANSACTION
COMMIT
ROLLBACK
ABORT
CREATE VIEW v AS SELECT 1
CREATE OR REPLACE VIEW trades AS SELECT 1
CREATE OR REPLACE VIEW framehold.frames.trades AS SELECT 1
CREATE TEMP TABLE t AS SELECT 1
CREATE OR REPLACE TEMP VIEW trades AS SELECT 1
CREATE RECURSIVE VIEW v(n) AS SELECT 1
CREATE MACRO m(a) AS a + 1
CREATE OR REPLACE MACRO sum(a) AS 'stolen'
CREATE FUNCTION abs(a) AS 0
CREATE TYPE t AS ENUM ('a')
CREATE TYPE integer AS VARCHAR
CREATE SCHEMA s
CREATE INDEX i ON trades (id)
CREATE SEQUENCE s
CREATE DATABASE d
CREATE TABLE analytics.main.t AS SELECT 1
CREATE TABLE analytics.t AS SELECT 1
CREATE TABLE main.t AS SELECT 1
CREATE TABLE temp.t AS SELECT 1
CREATE TABLE system.main.t AS SELECT 1
CREATE TABLE information_schema.tables AS SELECT 1
CREATE TABLE duckdb_settings AS SELECT 1
CREATE TABLE "../escape" AS SELECT 1
CREATE TABLE ".hidden" AS SELECT 1
CREATE TABLE "" AS SELECT 1
CREATE TABLE "a\u0000b" AS SELECT 1
CREATE TABLE @scratch (a INT PRIMARY KEY)
CREATE TABLE @scratch (a INT DEFAULT nextval('s'))
CREATE TABLE @scratch (a INT CHECK (a > (SELECT count(*) FROM duckdb_settings())))
CREATE TABLE @scratch (a INT, b INT GENERATED ALWAYS AS (a + 1))
CREATE TABLE @scratch (a INT REFERENCES trades (id))
CREATE TABLE @scratch (a VARIANT)
CREATE TABLE @scratch (a INT) AS x, (SELECT 1
CREATE TABLE @scratch (a INT)) AS x; DROP TABLE trades; --
CREATE TABLE @scratch AS SELECT 1; DROP TABLE trades
CREATE TABLE @scratch AS EXECUTE p
CREATE TABLE @scratch AS COPY trades TO 'x'
CREATE TABLE @scratch AS DESCRIBE trades
CREATE TABLE @scratch AS SUMMARIZE trades
CREATE TABLE @scratch AS SELECT 1 AS a, 2 AS a, 3 AS "A"
CREATE TABLE @scratch AS SELECT NULL
CREATE TABLE @scratch AS SELECT []
CREATE TABLE @scratch AS SELECT {}
CREATE TABLE @scratch AS SELECT row()
CREATE TABLE @scratch AS SELECT 1 AS ""
CREATE TABLE @scratch AS SELECT * FROM trades WHERE false
CREATE TABLE @scratch AS SELECT union_value(a := 1) AS u, MAP {1: [2]} AS m, 'x'::ENUM ('x') AS e
CREATE OR REPLACE TABLE IF NOT EXISTS @scratch AS SELECT 1
DROP TABLE a, b
DROP TABLE trades; SELECT 1
DROP VIEW trades
DROP VIEW framehold.frames.trades
DROP SCHEMA frames CASCADE
DROP SCHEMA framehold.frames CASCADE
DROP DATABASE framehold
DROP TABLE analytics.main.t
DROP FUNCTION abs
WITH a AS (INSERT INTO trades VALUES (1, 1, 'x') RETURNING *) FROM a
WITH a AS (DELETE FROM trades RETURNING *) SELECT * FROM a
SELECT * FROM (DELETE FROM trades RETURNING *)
SELECT * FROM (INSERT INTO trades VALUES (1, 1, 'x') RETURNING *)
INSERT INTO trades DEFAULT VALUES
INSERT INTO trades VALUES (DEFAULT, DEFAULT, DEFAULT)
INSERT INTO trades BY NAME SELECT 1 AS id
INSERT OR REPLACE INTO trades VALUES (1, 1, 'x')
INSERT INTO trades VALUES (1, 1, 'x') ON CONFLICT DO NOTHING
INSERT INTO trades VALUES (1, 1, 'x'); DROP TABLE trades
INSERT INTO trades VALUES ('no number', 1, 'x')
INSERT INTO trades VALUES (1)
INSERT INTO trades (no_such_column) VALUES (1)
INSERT INTO analytics.main.t VALUES (1)
INSERT INTO duckdb_settings VALUES (1)
EXPLAIN INSERT INTO trades VALUES (1, 1, 'x')
EXPLAIN ANALYZE INSERT INTO trades VALUES (1, 1, 'x')
EXPLAIN ANALYZE DELETE FROM trades
EXPLAIN ANALYZE COPY trades TO '@dir/written.csv'
EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1
EXPLAIN EXPLAIN SELECT 1
EXPLAIN PRAGMA version
SELECT 1; SELECT 2
SELECT 1; DROP TABLE trades
SELECT 1;; DROP TABLE trades
SELECT 1 /* ; */; -- ;
; SELECT 1; ; SELECT 2
SELECT ';' ; DROP TABLE trades
SELECT $$;$$ ; DROP TABLE trades
SELECT $a$ $b$; $a$ ; DROP TABLE trades
SELECT E'\\'; DROP TABLE trades; --'
SELECT 'a\\'; DROP TABLE trades; --'
SELECT '''; DROP TABLE trades; --'
SELECT "a""; DROP TABLE trades; --"
SELECT 1 /* /* */ ; DROP TABLE trades; */
SELECT 1 -- \\
SELECT 1 --\u2028; DROP TABLE trades
SELECT 1\u00a0;\u3000DROP TABLE trades
SELECT 1 UNION ALL BY NAME SELECT 2; DROP TABLE trades
SELECT DEFAULT
SELECT ?
SELECT $1, $3
SELECT $name
SELECT $1::VARIANT
SELECT ? + ? FROM trades LIMIT ?
FROM range($1)
FROM query(?)
SELECT * FROM trades WHERE id = getvariable($1)
`);

/** Whole statements that write; where only reading is allowed they must change nothing. */
export const writes = lines(`
CREATE TABLE @target AS SELECT 1 AS id
CREATE OR REPLACE TABLE @target AS SELECT 1 AS id
CREATE TABLE IF NOT EXISTS @target AS SELECT 1 AS id
CREATE TABLE @target (id BIGINT)
create or replace table frames.@target as from range(3)
CREATE OR REPLACE TABLE framehold.frames."@target" AS SELECT 1 AS id
INSERT INTO @target SELECT * FROM @target
INSERT INTO @target SELECT * FROM @target LIMIT 0
insert into frames.@target (id) values (1)
DROP TABLE IF EXISTS @target
/* x */ DROP TABLE @target
drop table frames.@target
DROP TABLE @target CASCADE
;;DROP TABLE @target;
DROP TABLE @target RESTRICT;
`).flatMap((sql) => [sql, `-- a comment\n${sql}`]);
