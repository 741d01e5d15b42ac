import { describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../test/support/duckdb-connection.ts';
import type { TableName } from '../../../../core/sql/sql.ts';
import { tableText } from '../../../../core/sql/sql.ts';
import { analyzeSql } from './analyze.ts';
import { suggestedTypeNames } from './rules/check-type.ts';

const connection = duckDbConnection();

const analyze = (sql: string): ReturnType<typeof analyzeSql> => analyzeSql(connection, sql);
const table = (name: string, schema?: string, catalog?: string): TableName => ({ catalog, schema, name });

describe('tables of a query', () => {
  test.each([
    ['SELECT 1', ''],
    ['SELECT * FROM a, b JOIN a USING (x)', 'a b'],
    [
      'FROM a WHERE x IN (SELECT y FROM b) OR EXISTS (FROM c) ORDER BY (SELECT 1 FROM d) LIMIT (SELECT 1 FROM e)',
      'a b c d e',
    ],
    [
      'FROM frames.a, framehold.frames.b, framehold.c, analytics.d, analytics.main.e',
      'analytics.d analytics.main.e framehold.c framehold.frames.b frames.a',
    ],
    [`FROM 'a.parquet', "x/y.csv"`, '"a.parquet" "x/y.csv"'],
    ['FROM a, A', 'A a'],
    ['SUMMARIZE a', 'a'],
    ['FROM (DESCRIBE a)', 'a'],
    ['PIVOT a ON x USING sum(y)', 'a'],
    ['FROM range(10), unnest([1]), a', 'a'],
    // A name of WITH hides a table only where it is visible.
    ['WITH a AS (SELECT 1) FROM a', ''],
    ['WITH a AS (FROM b) FROM a, c', 'b c'],
    ['WITH a AS (FROM a) FROM a', 'a'],
    ['WITH "A" AS (SELECT 1) FROM a', ''],
    ['WITH b AS (FROM a), a AS (SELECT 1) FROM b', 'a'],
    ['WITH a AS (SELECT 1), b AS (FROM a) FROM b', ''],
    ['WITH a AS (SELECT 1) FROM frames.a', 'frames.a'],
    // Whether such a tenant shares them is checked when they are opened.
    ['WITH a AS (SELECT 1) FROM acme.a, framehold."team-a".b', 'acme.a framehold."team-a".b'],
    ['SELECT * FROM (WITH a AS (SELECT 1) FROM a) x, a', 'a'],
    ['(WITH a AS (SELECT 1) FROM a) UNION ALL FROM a', 'a'],
    ['WITH a AS (SELECT 1) FROM a UNION ALL FROM a', ''],
    ['WITH a AS (SELECT 1) SELECT (WITH b AS (FROM a) SELECT 1 FROM b), (SELECT 1 FROM b)', 'b'],
    ['WITH a AS (WITH b AS (SELECT 1) FROM b) FROM a, b', 'b'],
    ['WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) FROM r', ''],
    ['WITH RECURSIVE r AS (FROM r UNION ALL SELECT n + 1 FROM r WHERE n < 3) FROM r', 'r'],
    ['WITH RECURSIVE r AS (FROM r) FROM r', 'r'],
    ['WITH RECURSIVE r(n, m) USING KEY (n) AS (SELECT 1, 2 UNION SELECT n, m FROM recurring.r) FROM r', ''],
    ['WITH "k" AS (SELECT 1) FROM "\u212a"', '"\u212a"'],
  ])('%s', async (sql, expected) => {
    const statement = await analyze(sql);
    if (statement.kind !== 'query') throw new Error(statement.kind);
    expect(statement.query.tables.map(tableText).sort().join(' ')).toBe(expected);
  });
});

describe('DuckDB sees the names of WITH where we do', async () => {
  const own = duckDbConnection();
  await own.run(`CREATE TABLE a AS SELECT 'table' AS v`);
  test.each([
    [`WITH a AS (SELECT v || '!' AS v FROM a) FROM a`, 'table!'],
    [`WITH b AS (FROM a), a AS (SELECT 'with' AS v) FROM b`, 'table'],
    [`WITH RECURSIVE a AS (SELECT v || '!' AS v FROM a UNION ALL SELECT v FROM a WHERE false) FROM a`, 'table!'],
    [`WITH a AS (SELECT 'with' AS v) FROM (WITH a AS (SELECT v || '?' AS v FROM a) FROM a)`, 'with?'],
    [`SELECT (WITH a AS (SELECT 'with' AS v) SELECT v FROM a) || v AS v FROM a`, 'withtable'],
  ])('%s', async (sql, expected) => {
    expect(await own.rows(sql)).toEqual([{ v: expected }]);
  });
});

describe('statements', () => {
  test('a query is what stands between spaces, comments and semicolons', async () => {
    expect(await analyze(' ; -- x\n /* y */ SELECT\u00a01 -- z\n;; ')).toEqual({
      kind: 'query',
      query: {
        sql: 'SELECT 1',
        pieces: [{ built: 0, written: 17, length: 8 }],
        tables: [],
        parameterCount: 0,
      },
    });
  });

  test.each([
    ['CREATE TABLE x AS FROM t', table('x'), 'fail', 'FROM t'],
    ['create or replace table "A b" as (from t);', table('A b'), 'replace', '(from t)'],
    ['CREATE TABLE IF NOT EXISTS framehold.frames.x AS FROM t', table('x', 'frames', 'framehold'), 'keep', 'FROM t'],
    ['CREATE TABLE x AS FROM t WITH DATA', table('x'), 'fail', 'FROM t'],
    ['CREATE TABLE x AS FROM t WITH NO DATA', table('x'), 'fail', 'SELECT * FROM (FROM t) LIMIT 0'],
    [
      'CREATE TABLE x (a INT, "b ""c" DECIMAL(4, 1) NULL -- z\n)',
      table('x'),
      'fail',
      'SELECT CAST(NULL AS INT) AS "a", CAST(NULL AS DECIMAL(4, 1)) AS "b ""c" WHERE false',
    ],
    [
      'CREATE TABLE x (a INT, b INT,)',
      table('x'),
      'fail',
      'SELECT CAST(NULL AS INT) AS "a", CAST(NULL AS INT) AS "b" WHERE false',
    ],
  ])('%s', async (sql, name, ifTaken, query) => {
    expect(await analyze(sql)).toMatchObject({ kind: 'createTable', table: name, ifTaken, query: { sql: query } });
  });

  test.each([
    ['INSERT INTO x VALUES (1)', undefined, 'VALUES (1)'],
    ['INSERT INTO x (a, "B c") FROM t', ['a', 'B c'], 'FROM t'],
    ['INSERT INTO x (FROM t)', undefined, '(FROM t)'],
    ['INSERT INTO x ((SELECT 1))', undefined, '((SELECT 1))'],
    ['INSERT INTO x (VALUES (1))', undefined, '(VALUES (1))'],
  ])('%s', async (sql, columns, query) => {
    expect(await analyze(sql)).toMatchObject({ kind: 'insert', table: table('x'), columns, query: { sql: query } });
  });

  test('CREATE VIEW, with the places of the tables in its query', async () => {
    const sql =
      'create or replace view v (a) as with c as (select 1) select "é".a from frames.trades "é", c, "ü", acme.b';
    const made = await analyze(sql);
    if (made.kind !== 'createView') throw new Error(made.kind);
    expect(made).toMatchObject({
      table: table('v'),
      ifTaken: 'replace',
      query: { sql: sql.slice(sql.indexOf('with')) },
    });
    const { sql: text, references } = made.definition;
    expect(text).toBe(`SELECT * FROM (\n${made.query.sql}\n) AS "v"("a")`);
    expect(references.map(({ start, end }) => text.slice(start, end)).sort()).toEqual([
      '"ü"',
      'acme.b',
      'frames.trades',
    ]);
  });

  test.each([
    ['SELECT * FROM a, a AS b WHERE EXISTS (FROM a)', ['a', 'a', 'a']],
    ['FROM a SELECT x', ['a']],
    ['TABLE a', ['a']],
    ['PIVOT a ON x IN (1, 2) USING sum(y)', ['a']],
    ['UNPIVOT a ON x', ['a']],
    ['SELECT * FROM a POSITIONAL JOIN b ASOF JOIN c USING (x)', ['a', 'b', 'c']],
    ['DESCRIBE a', ['a']],
    ['SUMMARIZE a', ['a']],
    ['SELECT * FROM (SUMMARIZE a)', ['a']],
    ['VALUES ((SELECT max(x) FROM a))', ['a']],
    ['SELECT a.x FROM a UNION ALL BY NAME FROM framehold.frames.a', ['a', 'framehold.frames.a']],
    ['SELECT (SELECT 1 FROM b WHERE b.x = a.x) FROM a, LATERAL (SELECT * FROM c WHERE c.x = a.x)', ['a', 'b', 'c']],
    ['WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r, a WHERE n < 5) FROM r', ['a']],
  ])('the places of the tables of %s', async (query, names) => {
    const made = await analyze(`CREATE VIEW v AS ${query}`);
    if (made.kind !== 'createView') throw new Error(made.kind);
    const { sql, references } = made.definition;
    expect(references.map(({ start, end }) => sql.slice(start, end)).sort()).toEqual(names);
  });

  test('DROP VIEW', async () => {
    expect(await analyze('drop view if exists v')).toEqual({
      kind: 'drop',
      what: 'view',
      table: table('v'),
      ifAbsent: 'ignore',
    });
  });

  test('DROP TABLE and SHOW TABLES', async () => {
    expect(await analyze('DROP TABLE x')).toEqual({ kind: 'drop', what: 'table', table: table('x'), ifAbsent: 'fail' });
    expect(await analyze('drop table if exists frames."X"')).toEqual({
      kind: 'drop',
      what: 'table',
      table: table('X', 'frames'),
      ifAbsent: 'ignore',
    });
    expect(await analyze('show tables;')).toEqual({ kind: 'showTables' });
  });

  test.each([
    ['SELECT ?, ?', 2],
    ['SELECT $1, $2, $1', 2],
    ['SELECT $2 + $1', 2],
    ['SELECT 1 WHERE ? = ANY (SELECT ?)', 2],
    ['SELECT \'?\', "?" FROM t', 0],
    ['INSERT INTO t VALUES (?, ?)', 2],
    ['EXPLAIN SELECT ?', 1],
  ])('%s has %i parameters', async (sql, parameterCount) => {
    expect(await analyze(sql)).toMatchObject({ query: { parameterCount } });
  });
});

test.each([
  ['SELECT $b, $a, $b', ['b', 'a']],
  ['SELECT $Name + $name + $from', ['Name', 'from']],
  ['WITH x AS (SELECT $z AS d) SELECT $y FROM x WHERE d > $x', ['z', 'y', 'x']],
  ['INSERT INTO t VALUES ($b, $a)', ['b', 'a']],
  ['CREATE TABLE t AS SELECT $a AS a WITH NO DATA', ['a']],
  ['EXPLAIN SELECT $a', ['a']],
])('%s has the parameters %j', async (sql, parameterNames) => {
  expect(await analyze(sql)).toMatchObject({ query: { parameterNames, parameterCount: parameterNames.length } });
});

test('the constraints of a definition keep the text of their expressions, without comments', async () => {
  const sql = `CREATE TABLE t ("a ""b" DECIMAL(10, 2) DEFAULT CASE WHEN 1 IS NOT NULL THEN 2 END NOT NULL, c VARCHAR
    CONSTRAINT "x""y" CHECK (c <> ')' -- ) no end
    AND c IN ('a', /* ) */ 'b')) REFERENCES u, d AS (c || 'x') STORED, UNIQUE (C, "A ""B"), PRIMARY KEY (c))`;
  expect(await analyze(sql)).toMatchObject({
    constraints: {
      notNull: ['a "b', 'c'],
      defaults: [{ column: 'a "b', sql: 'CASE WHEN 1 IS NOT NULL THEN 2 END' }],
      generated: [{ column: 'd', sql: "c || 'x'" }],
      checks: [{ name: 'x"y', sql: "c <> ')' AND c IN ('a', 'b')" }],
      unique: [{ columns: ['c', 'a "b'] }],
      primaryKey: { columns: ['c'] },
      foreignKeys: [{ columns: ['c'], table: 'u' }],
    },
  });
});

describe('errors say what is wrong, where, and what to do', () => {
  test.each([
    ['', 'sql_error', 'the statement is empty', 0],
    ['SELECT 1; SELECT 2', 'sql_error', 'only one statement at a time', 10],
    ['SELECT 1 FORM t x', 'sql_error', 'syntax error at or near "t"', 14],
    ["SELECT 'é😀' FORM t x", 'sql_error', 'syntax error at or near "t"', 18],
    ['CREATE TABLE x AS\nSELECT 1 FORM t x', 'sql_error', 'syntax error at or near "t"', 32],
    [
      'INSERT INTO t (a) SELECT lenght(a) FROM t',
      'sql_error',
      'function lenght does not exist; did you mean length?',
      25,
    ],
    ['EXPLAIN DELETE FROM t', 'sql_forbidden', 'EXPLAIN takes queries, CREATE TABLE … AS and INSERT', 8],
    [
      'EXPLAIN ANALYZE WITH a AS (SELECT 1) UPDATE t SET b = 1',
      'sql_forbidden',
      'EXPLAIN takes queries, CREATE TABLE … AS and INSERT',
      16,
    ],
    [
      'ALTER TABLE t DROP CONSTRAINT c',
      'sql_forbidden',
      'constraints stay as they were when the table was created',
      19,
    ],
    ["SELECT U&'\\0041'", 'sql_error', "U&'… is not supported", 7],
    ['SELECT 1 AS u&"a"', 'sql_error', 'u&"… is not supported', 12],
    ['EXPLAIN SELECT lenght(a) FROM t', 'sql_error', 'function lenght does not exist; did you mean length?', 15],
    ["SELECT 'é' FROM read_csv('x')", 'sql_forbidden', 'function read_csv is not allowed: it reads files', 16],
    [
      '/*é*/ SELECT * FROM duckdb_settings()',
      'sql_forbidden',
      'function duckdb_settings is not allowed: it tells about the server, not about frames',
      20,
    ],
    [
      'FROM a JOIN temp.information_schema.tables USING (x)',
      'sql_forbidden',
      'temp.information_schema.tables is not a table that may be read here',
      12,
    ],
    [
      'FROM a JOIN information_schema.tables USING (x)',
      'sql_forbidden',
      'one statement cannot read catalogs and rows of tables',
      12,
    ],
    ['CREATE TABLE t (a INT, b foo)', 'sql_error', 'type foo does not exist', 25],
    ['CREATE TABLE t (a INT, intt VARCHAR, b intt)', 'sql_error', 'type intt does not exist; did you mean int?', 39],
    ['select 1::intt', 'sql_error', 'type intt does not exist; did you mean int?', 10],
    ["select '😀', intt::intt[] from t", 'sql_error', 'type intt does not exist; did you mean int?', 19],
    ['select cast(varchr as Varchr)', 'sql_error', 'type Varchr does not exist; did you mean varchar?', 22],
    ["SELECT {'a': 1}::STRUCT(a intt)", 'sql_error', 'type intt does not exist; did you mean int?', 26],
    ['SELECT 1::"Dubble"', 'sql_error', 'type Dubble does not exist; did you mean double?', 10],
    ['SELECT 1::zzzzq', 'sql_error', 'type zzzzq does not exist', 10],
    ['CREATE TABLE t (a INT NULL NOT NULL)', 'sql_error', 'column "a" is both NULL and NOT NULL', 35],
    [
      "CREATE TABLE t (a INT DEFAULT 'é' || getenv('x'))",
      'sql_forbidden',
      'function getenv is not allowed: it reads or changes settings of the server',
      37,
    ],
    [
      'CREATE TABLE t (a INT, b INT CHECK (b > 0 AND b < (SELECT 1)))',
      'sql_error',
      'a subquery cannot stand in DEFAULT, CHECK or a generated column',
      50,
    ],
    [
      'CREATE TABLE t (a INT, b AS (lenght(a)))',
      'sql_error',
      'function lenght does not exist; did you mean length?',
      29,
    ],
    ['CREATE TABLE t (a INT, PRIMARY KEY (b))', 'sql_error', 'column "b" of a key is not in the table', 23],
    ['CREATE TABLE t (a INT, UNIQUE (a, a))', 'sql_error', 'column "a" is twice in a key', 23],
    [
      'CREATE TABLE t (a INT GENERATED BY DEFAULT AS IDENTITY)',
      'sql_forbidden',
      'a column that numbers its rows is not supported: there are no sequences',
      22,
    ],
    ['CREATE TABLE t (a INT COLLATE nocase)', 'sql_forbidden', 'a column has no collation of its own', 22],
    ['CREATE TABLE t (a INT NOT)', 'sql_error', 'expected a comma or a closing parenthesis, found NOT', 22],
    ['CREATE TABLE t (a, b INT)', 'sql_error', 'expected the type of column "a", found ,', 17],
    [
      "SELECT 'ä'::ENUM ('ä', /* b */ 'it''s')[], x::STRUCT(a ENUM('b')), getenv('a')",
      'sql_forbidden',
      'function getenv is not allowed: it reads or changes settings of the server',
      67,
    ],
    [
      'CREATE TABLE t ("HeLlO" INT, "HELLO" INT)',
      'sql_error',
      'column "HELLO" is there already; case does not tell names apart',
      29,
    ],
    ['CREATE TABLE t (a INT,,)', 'sql_error', 'expected the name of a column, found ,', 22],
    ['CREATE TABLE t (,)', 'sql_error', 'expected the name of a column, found ,', 16],
    ['CREATE TEMP SEQUENCE s', 'sql_forbidden', 'CREATE TEMP SEQUENCE is not allowed', 0],
    ['COPY t TO x', 'sql_forbidden', 'COPY is not allowed', 0],
    ['CREATE x', 'sql_forbidden', 'CREATE X is not allowed', 0],
    ['SELECT $name, ?', 'sql_error', 'Mixing named and positional parameters is not supported yet', undefined],
    ['PIVOT t ON a USING sum(b) WHERE', 'sql_error', 'syntax error at or near "WHERE"', undefined],
  ])('%s', async (sql, code, message, position) => {
    const error = await analyze(sql).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message });
    if (position !== undefined) expect(error).toMatchObject({ position });
  });

  test('no position is given of a type that could stand in two places', async () => {
    const error = await analyze('SELECT intt, NULL::STRUCT(a intt) FROM t').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: 'type intt does not exist; did you mean int?', position: undefined });
  });

  test.each(suggestedTypeNames)('the type %s, which may be suggested, is allowed', async (type) => {
    const members: Record<string, string> = { struct: '(a INT)', map: '(INT, INT)', union: '(a INT)', enum: "('a')" };
    await analyze(`SELECT NULL::${type}${members[type] ?? ''}`);
  });

  test.each([
    ['CREATE UNIQUE INDEX i ON t (a)', /CREATE UNIQUE INDEX is not allowed/, /statistics/],
    ['CREATE SEQUENCE s', /CREATE SEQUENCE is not allowed/, /uuid/],
    ['CREATE TABLE t (a BIGSERIAL)', /no sequences/, /uuid/],
    ['BEGIN', /BEGIN is not allowed/, /atomic, and durable/],
    ['FROM pg_settings', /pg_settings/, /SHOW TABLES/],
    ['PRAGMA memory_limit', /PRAGMA is not allowed/, /PRAGMA table_info/],
    ['SELECT count(*) FROM pg_class, x', /catalogs and rows/, /CREATE TABLE x AS FROM information_schema/],
  ])('%s', async (sql, message, hint) => {
    const error = await analyze(sql).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'sql_forbidden',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});
