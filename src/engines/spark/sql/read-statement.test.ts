import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { goodSparkSql, hidingSparkSql, refusedSparkSql } from '../../../../test/support/spark-sql-corpus.ts';
import { growingSql, largestRead } from '../../../../test/support/tall-spark-sql.ts';
import { AppError } from '../../../core/errors/app-error.ts';
import type { Statement } from '../../../core/sql/sql.ts';
import { readStatement } from './read-statement.ts';

function tablesOf(statement: Statement): string[] {
  return 'query' in statement ? statement.query.tables.map(({ name }) => name).sort() : [];
}

function errorOf(sql: string): AppError {
  try {
    readStatement(sql);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`allowed: ${sql}`);
}

describe('a query that is allowed', () => {
  test.each(goodSparkSql)('has its tables found: $sql', ({ sql, tables }) => {
    const statement = readStatement(sql);
    expect(statement.kind).toBe('query');
    expect(tablesOf(statement)).toEqual(tables);
  });
});

describe('TPC-H', () => {
  const folder = new URL('../../../../bench/clients/tpch/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  const names = new Set(['customer', 'lineitem', 'nation', 'orders', 'part', 'partsupp', 'region', 'supplier']);

  it('has 22 queries', () => expect(files).toHaveLength(22));

  // No column or alias of these queries has the name of a table.
  test.each(files)('%s has its tables found', (file) => {
    const sql = readFileSync(new URL(file, folder), 'utf8');
    const words = sql
      .replace(/'[^']*'/g, '')
      .toLowerCase()
      .match(/\w+/g);
    const expected = [...new Set(words)].filter((word) => names.has(word)).sort();
    expect(tablesOf(readStatement(sql))).toEqual(expected);
  });
});

describe('a table that is hidden', () => {
  test.each(hidingSparkSql)('is found, or the statement refused: %s', (sql) => {
    let statement: Statement;
    try {
      statement = readStatement(sql);
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      return;
    }
    expect(tablesOf(statement)).toContain('secrets');
  });
});

describe('what is not allowed', () => {
  test.each(refusedSparkSql)('is refused: %s', (sql) => {
    const { code, message } = errorOf(sql);
    expect(['sql_error', 'sql_forbidden']).toContain(code);
    expect(message).not.toBe('');
  });
});

describe('refusals', () => {
  it.each([
    ['SET a = 1', 'sql_forbidden', 'SET is not allowed on a cluster engine', 'settings are the operator’s'],
    [
      'SELECT * FROM parquet.`/x`',
      'sql_forbidden',
      'parquet./x is not a table that may be read here',
      'on a cluster engine frames are named without catalog or schema: `x`; SHOW TABLES lists them',
    ],
    [
      'SELECT $1',
      'sql_error',
      'parameters are written ? or :name on this engine, not $1 or $name',
      'for example: WHERE price > ? or WHERE price > :low',
    ],
    [
      'UPDATE t SET a = 1',
      'sql_forbidden',
      'UPDATE is not allowed on a cluster engine',
      'send it to the engine local, or write a new version: CREATE OR REPLACE TABLE x AS SELECT …',
    ],
    [
      'INSERT OR REPLACE INTO t VALUES (1)',
      'sql_forbidden',
      'INSERT OR … on a cluster engine is not supported',
      'send it to the engine local, which looks for the keys of the frame',
    ],
    [
      'INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = excluded.a',
      'sql_forbidden',
      'ON CONFLICT on a cluster engine is not supported',
      'send it to the engine local, which looks for the keys of the frame',
    ],
    [
      "SELECT reflect('a')",
      'sql_forbidden',
      'function reflect is not allowed: it runs code that is not SQL',
      undefined,
    ],
    [
      'SELECT uper(a) FROM t',
      'sql_error',
      'function uper does not exist on a cluster engine; did you mean upper?',
      undefined,
    ],
    ['SELECT a FROM t where, u', 'sql_error', 'expected an expression, found ,', undefined],
    [
      'SELECT a AS from FROM t',
      'sql_error',
      'expected a name behind AS, found from',
      'if from is a name, write it in backticks: `from`',
    ],
    [
      'CREATE VIEW v AS SELECT 1',
      'sql_forbidden',
      'CREATE VIEW is not allowed',
      'a view is a query of the engine local: make it there',
    ],
    [
      'EXPLAIN SELECT 1',
      'sql_forbidden',
      'EXPLAIN is not allowed on a cluster engine',
      'the plan of a cluster names the files of the server: send it to the engine local',
    ],
    [
      'DESCRIBE TABLE EXTENDED t',
      'sql_forbidden',
      'DESCRIBE EXTENDED is not supported',
      'allowed are DESCRIBE x and DESCRIBE SELECT …',
    ],
    [
      'INSERT INTO t VALUES (1, DEFAULT)',
      'sql_forbidden',
      'DEFAULT as a value is not supported',
      'leave the column out: INSERT INTO x (other columns) VALUES …',
    ],
  ])('say what is wrong and what to do: %s', (sql, code, message, hint) => {
    expect(errorOf(sql)).toMatchObject({ code, message, hint });
  });

  it.each([
    ['SELECT a FROM t WHERE `x', 22],
    ['  SELECT a, /* x', 12],
    ["SELECT 'é', reflect('a')", 12],
    ['SELECT 1; SELECT 2', 10],
    ['SELECT * FROM a JOIN b.c', 21],
    ['SELECT a FROM t WHERE', 21],
    [' SET x = 1', 1],
  ])('say where: %s', (sql, position) => {
    expect(errorOf(sql).position).toBe(position);
  });
});

it('a query that names itself is refused where an engine would take the name for a table', () => {
  const sql = 'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r';
  expect(tablesOf(readStatement(sql))).toEqual([]);
  expect(() => readStatement(sql, 'sail')).toThrow('this engine has no WITH RECURSIVE');
});

describe('statements that change frames', () => {
  it('hold their query as it is sent, and where its words come from', () => {
    const sql = ' create or replace table `my frame` as\n with x as (select 1) select * from x, t ; ';
    const statement = readStatement(sql);
    expect(statement).toMatchObject({
      kind: 'createTable',
      table: { catalog: undefined, schema: undefined, name: 'my frame' },
      ifTaken: 'replace',
      query: {
        sql: 'with x as ( select 1 ) select * from x , t',
        tables: [{ catalog: undefined, schema: undefined, name: 't', position: sql.lastIndexOf('t') }],
        parameterCount: 0,
      },
    });
    if (!('query' in statement)) throw new Error('no query');
    expect(statement.query.sourcePosition('with x as ( select 1 ) select'.length)).toBe(sql.indexOf('select *') + 6);
  });

  it.each([
    ['CREATE TABLE x AS SELECT 1', { kind: 'createTable', ifTaken: 'fail' }],
    ['CREATE TABLE IF NOT EXISTS x AS VALUES (1)', { kind: 'createTable', ifTaken: 'keep' }],
    ['INSERT INTO x SELECT * FROM t', { kind: 'insert', columns: undefined }],
    ['INSERT INTO TABLE x VALUES (1, ?)', { kind: 'insert', query: { sql: 'VALUES ( 1 , (?) )', parameterCount: 1 } }],
    ['INSERT INTO x (a, `b c`) SELECT 1, 2', { kind: 'insert', columns: ['a', 'b c'] }],
    ['INSERT INTO x (SELECT 1)', { kind: 'insert', columns: undefined }],
    ['INSERT INTO x WITH y AS (SELECT 1) SELECT * FROM y', { kind: 'insert', query: { tables: [] } }],
    ['INSERT INTO x BY NAME SELECT 1 AS a', { kind: 'insert', match: 'name', columns: undefined }],
    ['INSERT INTO x SELECT default FROM t', { kind: 'insert', query: { sql: 'SELECT default FROM t' } }],
    ['DROP TABLE x', { kind: 'drop', what: 'table', ifAbsent: 'fail' }],
    ['drop table if exists x;', { kind: 'drop', what: 'table', ifAbsent: 'ignore' }],
    ['DROP VIEW IF EXISTS `a-b`', { kind: 'drop', what: 'view', ifAbsent: 'ignore', table: { name: 'a-b' } }],
    ['TRUNCATE TABLE x', { kind: 'truncate', table: { name: 'x' } }],
    ['SHOW TABLES', { kind: 'showTables' }],
  ])('are those that the local engine has: %s', (sql, statement) => {
    expect(readStatement(sql)).toMatchObject(statement);
  });
});

describe('DESCRIBE', () => {
  it.each([
    ['DESCRIBE t', 'TABLE t'],
    ['desc `my t`;', 'TABLE `my t`'],
    ['DESCRIBE TABLE t', 'TABLE t'],
    ['DESCRIBE extended', 'TABLE extended'],
    ['DESCRIBE QUERY SELECT a FROM t', 'SELECT a FROM t'],
    ['DESCRIBE query', 'TABLE query'],
    ['DESC SELECT a, ? FROM t', 'SELECT a , (?) FROM t'],
    ['DESCRIBE WITH x AS (SELECT 1) SELECT * FROM x', 'WITH x AS ( SELECT 1 ) SELECT * FROM x'],
    ['DESCRIBE (SELECT 1)', '( SELECT 1 )'],
    ['DESCRIBE VALUES (1)', 'VALUES ( 1 )'],
  ])('is a query whose columns are asked for, and engines see that query alone: %s', (sql, text) => {
    expect(readStatement(sql)).toMatchObject({ kind: 'query', query: { sql: text, isDescribed: true } });
  });

  it('tells where a name stands in the text of the caller', () => {
    const statement = readStatement('  DESCRIBE trades');
    if (!('query' in statement)) throw new Error('no query');
    expect(statement.query.tables).toMatchObject([{ name: 'trades', position: 11 }]);
    expect(statement.query.sourcePosition('TABLE '.length)).toBe(11);
  });
});

describe('parameters', () => {
  it('are counted, or named in the order of their first use', () => {
    const read = (sql: string): unknown => {
      const statement = readStatement(sql);
      if (!('query' in statement)) return undefined;
      const { parameterCount, parameterNames } = statement.query;
      return { parameterCount, ...(parameterNames && { parameterNames }) };
    };
    expect(read('SELECT ?, ? LIMIT ?')).toEqual({ parameterCount: 3 });
    expect(read('SELECT :b, :a, :b')).toEqual({ parameterCount: 2, parameterNames: ['b', 'a'] });
    expect(read("SELECT ':a', `:b`, a::int, '?' FROM t -- ? :c")).toEqual({ parameterCount: 0 });
  });
});

describe('hostile size', () => {
  const many = (count: number, text: string): string => text.repeat(count);
  it.each([
    ['more than a MiB', `SELECT '${many(1_100_000, 'x')}'`],
    ['parentheses', `SELECT ${many(300_000, '(')}`],
    ['closed parentheses', `SELECT ${many(40_000, '(')}1${many(40_000, ')')}`],
    ['relations in parentheses', `SELECT * FROM ${many(40_000, '(')}t${many(40_000, ')')}`],
    ['cases', `SELECT ${many(30_000, 'CASE WHEN ')}`],
    ['types', `SELECT CAST(1 AS ${many(40_000, 'ARRAY<')}`],
    ['subscripts', `SELECT a${many(90_000, '[')}`],
    ['casts', `SELECT ${many(40_000, 'CAST(')}`],
    ['comments', many(400_000, '/*')],
    ['open quotes', `SELECT ${many(900_000, "'")}a`],
    ['backticks', `SELECT ${many(900_000, '`')}a`],
    ['backslashes', `SELECT '${many(900_000, '\\')}`],
    ['signs', `SELECT ${many(1_000_000, '-+')}`],
    ['nots', `SELECT ${many(240_000, 'NOT ')}`],
    ['lambdas', `SELECT ${many(90_000, 'x->')}`],
    ['lambdas of several', `SELECT ${many(100_000, '(x,y)->')}`],
    ['dots', `SELECT a${many(400_000, '.a')}`],
    ['digits', `SELECT ${many(1_000_000, '1')}a`],
    ['hints', `SELECT /*+ ${many(1_000_000, 'a')}`],
    ['names of WITH', `WITH ${many(20_000, 'x AS (SELECT 1),')}`],
    ['set operations', `SELECT 1${many(60_000, ' UNION SELECT 1')}`],
    ['many conditions', `SELECT 1 WHERE ${many(9_000, 'NOT a = 1 AND ')}true`],
  ])('is refused or read in a moment: %s', (_, sql) => {
    const start = performance.now();
    try {
      readStatement(sql);
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
    }
    expect(performance.now() - start).toBeLessThan(15_000);
  });
});

it('what is nested deeper than a cluster can read is refused', () => {
  const reads = (levels: number, open: string, close = ''): string =>
    `SELECT ${open.repeat(levels)}1${close.repeat(levels)}`;
  for (const [open, close] of [['(', ')'], ['NOT '], ['- '], ['x -> '], ['abs(', ')']] as const) {
    expect(readStatement(reads(100, open, close)).kind).toBe('query');
    expect(errorOf(reads(101, open, close)).message).toBe('the statement is nested more than 100 deep');
  }
});

it('what Sail would plan for ever is refused there', () => {
  const nested = (levels: number, open: string): string => `SELECT ${open.repeat(levels)}1${')'.repeat(levels)}`;
  const forms = ['(SELECT ', '1 IN (SELECT ', 'EXISTS (SELECT ', 'transform(a, x -> '];
  for (const open of forms) {
    expect(readStatement(nested(16, open), 'sail').kind).toBe('query');
    expect(() => readStatement(nested(17, open), 'sail')).toThrow(
      'subqueries as values, or lambdas, are nested more than 16 deep',
    );
  }
  expect(readStatement(nested(17, 'transform(a, x -> '), 'spark').kind).toBe('query');
  const beside = `SELECT ${new Array(20).fill('(SELECT 1), transform(a, x -> x)').join(', ')}`;
  expect(readStatement(beside, 'sail').kind).toBe('query');
  expect(readStatement(`${'SELECT * FROM ('.repeat(50)}SELECT 1${')'.repeat(50)}`, 'sail').kind).toBe('query');
});

it('subqueries for which Spark would wait for ever are refused there', () => {
  const nested = (levels: number): string =>
    `SELECT ${'(SELECT max(a) + '.repeat(levels)}1${' FROM t)'.repeat(levels)}`;
  const beside = (count: number): string => `SELECT ${new Array(count).fill(`(${nested(1)})`).join(', ')}`;
  const named = (uses: number): string =>
    `WITH x AS (${nested(2)} AS a) SELECT * FROM ${new Array(uses).fill('x').join(', ')}`;
  for (const [of, most] of [
    [nested, 16],
    [beside, 15],
    [named, 15],
  ] as const) {
    expect(readStatement(of(most))).toMatchObject({ query: { waitingSubqueries: 15 } });
    expect(errorOf(of(most + 1)).message).toContain('more than 15 subqueries as values hold others');
  }
  expect(readStatement(beside(50), 'sail')).toMatchObject({ query: { waitingSubqueries: 0 } });
  expect(readStatement(`SELECT ${new Array(50).fill('(SELECT max(a) FROM t)').join(', ')}`).kind).toBe('query');
});

describe('what hangs on each other higher than a cluster can read', () => {
  const joined = (count: number, piece: string, between: string): string =>
    new Array<string>(count).fill(piece).join(between);
  const forms: Record<string, readonly [most: number, of: (count: number) => string]> = {
    OR: [198, (count) => `SELECT 1 FROM t WHERE ${joined(count, 'a = 1', ' OR ')} OR a = 1`],
    'AND in a lambda': [198, (count) => `SELECT filter(x, y -> ${joined(count, 'a', ' AND ')} AND a)`],
    '+': [200, (count) => `SELECT ${joined(count, '1', '+')} + 1`],
    '||': [200, (count) => `SELECT ${joined(count, "'a'", '||')} || 'a'`],
    'a name of many parts': [200, (count) => `SELECT a${'.b'.repeat(count)}`],
    '::': [200, (count) => `SELECT 1${'::int'.repeat(count)}`],
    'UNION ALL': [100, (count) => `${joined(count, 'SELECT 1', ' UNION ALL ')} UNION ALL SELECT 1`],
    JOIN: [100, (count) => `SELECT 1 FROM t ${joined(count, 'JOIN t', ' ')}`],
    'a list of tables': [100, (count) => `SELECT 1 FROM t, ${joined(count, 't', ', ')}`],
    'LATERAL VIEW': [99, (count) => `SELECT 1 FROM t ${joined(count, 'LATERAL VIEW explode(a) x AS y', ' ')}`],
    WITH: [200, (count) => `WITH ${joined(count, 'a AS (SELECT 1)', ', ')} SELECT 1`],
    'a chain in each parenthesis': [50, (count) => `SELECT ${'(1+'.repeat(count)}1${'+1+1)'.repeat(count)}`],
  };

  test.each(Object.entries(forms))('is refused: %s', (_, [most, of]) => {
    expect(readStatement(of(most), 'sail').kind).toBe('query');
    expect(() => readStatement(of(most + 1), 'sail')).toThrow(
      expect.objectContaining({
        code: 'sql_error',
        message: expect.stringMatching(/^more than 200 operators and clauses hang on each other/),
        hint: expect.stringContaining('IN (1, 2)'),
      }),
    );
    expect(readStatement(of(most + 1), 'spark').kind).toBe('query');
  });

  it('does not count what stands side by side', () => {
    const columns = joined(500, 'CASE WHEN a + 1 > 2 OR b THEN 1 END', ', ');
    const values = joined(5000, '1', ', ');
    const sql = `SELECT ${columns} FROM t JOIN u USING (a) WHERE a IN (${values}) UNION SELECT * FROM (VALUES ${values}) AS v(x)`;
    expect(readStatement(sql, 'sail').kind).toBe('query');
  });

  it('is refused for Spark, too, at a thousand', () => {
    expect(errorOf(`SELECT ${joined(1002, '1', '+')}`).message).toContain('more than 1000 operators');
  });
});

describe('any text', () => {
  const pieces = fc.constantFrom(
    ...`SELECT FROM WHERE JOIN ON USING ( ) , . ; : ? t u a.b * ' " \` -- /* */ /*+ \\ AS WITH x VALUES TABLE UNION EXCEPT LATERAL
    VIEW explode GROUP BY ORDER LIMIT 1 1e5 -> => :: [ ] CASE WHEN THEN END CAST INT IN EXISTS NOT PIVOT FOR UNPIVOT OVER
    INTERVAL 'x' \`t\` "t" :p $ é \u0000 - + | |> < > = ! INSERT INTO CREATE DROP extract range stream`.split(/\s+/),
    '\n',
    ' ',
  );
  it('is read or refused with an AppError', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        for (const sql of [parts.join(' '), parts.join(''), `SELECT ${parts.join(' ')}`]) {
          try {
            readStatement(sql);
          } catch (error) {
            if (!(error instanceof AppError)) throw error;
          }
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('is read or refused with an AppError, whatever its characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        try {
          readStatement(text);
          readStatement(`SELECT ${text}`);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the text that engines get', () => {
  const printed = (sql: string): string => {
    const statement = readStatement(sql);
    if (!('query' in statement)) throw new Error('no query');
    return statement.query.sql;
  };

  it.each([
    ['comments are left out', 'SELECT/* a */1 -- b\n+ 2', 'SELECT 1 + 2'],
    ['a name has backticks', 'SELECT "a b", `c``d`, e."f" FROM "t"', 'SELECT `a b` , `c``d` , e . `f` FROM `t`'],
    ['operators stay whole', 'SELECT a<=b, a ->b FROM t', 'SELECT a <= b , a -> b FROM t'],
    ['a string keeps its letters', "SELECT 'size: 5 %'", "SELECT 'size: 5 %'"],
    ['other letters are told', "SELECT 'Größe'", "SELECT 'Gr\\u00F6\\u00DFe'"],
    [
      'a parameter stands alone',
      'SELECT 3-:a, :a is null, :a::int FROM t LIMIT:n',
      'SELECT 3 - (:a) , (:a) is null , (:a) :: int FROM t LIMIT (:n)',
    ],
    ['no value can join a word', 'SELECT 3-?, ?is null FROM t LIMIT?', 'SELECT 3 - (?) , (?) is null FROM t LIMIT (?)'],
    ['a quote in a string is no quote', "SELECT 'it''s', 'it\\'s'", "SELECT 'it\\u0027s' , 'it\\u0027s'"],
    ['a variable in a string is none', "SELECT '$\x7benv:HOME}'", "SELECT '\\u0024{env:HOME}'"],
    ['a raw string is a plain one', "SELECT r'a\\d', R\"it's\"", "SELECT 'a\\u005Cd' , 'it\\u0027s'"],
    ['letters before a string stand apart', "SELECT X'1F', DATE'2026-01-01'", "SELECT X '1F' , DATE '2026-01-01'"],
    [
      'escapes are what they mean',
      "SELECT '\\n\\101\\u00e9\\U0001F600\\%\\q'",
      "SELECT '\\u000AA\\u00E9\\U0001F600\\u005C%q'",
    ],
    ['spaces of other kinds are told', "SELECT 'a\u00a0b\u2028c'", "SELECT 'a\\u00A0b\\u2028c'"],
  ])('%s', (_, sql, text) => {
    expect(printed(sql)).toBe(text);
  });

  it.each([
    ['SELECT `a$\x7bb}` FROM t', 'a name cannot hold ${'],
    ['SELECT "$\x7bb}" FROM t', 'a name cannot hold ${'],
    ["SELECT '\\ud83d'", 'not a character'],
    ["SELECT '\\UFFFFFFFF'", 'not a character'],
  ])('%s has none', (sql, message) => {
    expect(errorOf(sql).message).toContain(message);
  });

  it('is read as what the caller wrote, and printed the same again', () => {
    for (const { sql } of goodSparkSql) {
      const text = printed(sql);
      if (!text.includes('(?)') && !text.includes('(:')) expect(printed(text)).toBe(text);
      expect(tablesOf(readStatement(text))).toEqual(tablesOf(readStatement(sql)));
      expect(text).not.toMatch(/\$\{|"|\r|\n/);
    }
  });
});

describe('what names of WITH stand for', () => {
  const names = (levels: number, first: string, next: (name: string) => string): string => {
    const queries = [`a0 AS (${first})`];
    for (let level = 1; level <= levels; level++) queries.push(`a${level} AS (${next(`a${level - 1}`)})`);
    return `WITH ${queries.join(', ')} SELECT * FROM a${levels}`;
  };
  const joined = (name: string): string => `SELECT p.x FROM ${name} p JOIN ${name} q ON p.x = q.x`;

  it('counts for every use of a name', () => {
    for (const dialect of ['spark', 'sail'] as const) {
      expect(readStatement(names(6, 'SELECT 1 AS x', joined), dialect).kind).toBe('query');
      expect(() => readStatement(names(9, 'SELECT 1 AS x', joined), dialect)).toThrow(
        'the statement reads more than 1000 queries, tables and grouping sets',
      );
    }
  });

  it('hangs on each other as if it stood there', () => {
    const clauses = (name: string): string => `SELECT DISTINCT x + 1 AS x FROM ${name} WHERE x > 0 ORDER BY x LIMIT 5`;
    expect(readStatement(names(20, 'SELECT 1 AS x', clauses), 'sail').kind).toBe('query');
    expect(() => readStatement(names(40, 'SELECT 1 AS x', clauses), 'sail')).toThrow('hang on each other');
  });

  it('nests as if it stood there', () => {
    const nested = (name: string): string => `SELECT (SELECT max(x) FROM ${name}) AS x`;
    expect(readStatement(names(15, 'SELECT 1 AS x', nested), 'sail').kind).toBe('query');
    expect(() => readStatement(names(17, 'SELECT 1 AS x', nested), 'sail')).toThrow('nested more than 16 deep');
  });
});

it.each(Object.entries(growingSql).filter(([name]) => /twice|three times|struct/.test(name)))(
  'a statement in which a column stands for more and more is refused before an engine writes it out: %s',
  (_, of) => {
    const largest = largestRead(of, 'sail', 100);
    expect(largest).toBeGreaterThan(5);
    expect(largest).toBeLessThan(20);
    expect(errorOf(of(largest + 1)).message).toMatch(/larger than 5000 columns|more than 1000 queries/);
  },
);

it('columns that are used again and again, but not made of each other, count once for each use', () => {
  const columns = Array.from({ length: 200 }, (_, at) => `CASE WHEN a > ${at} THEN b ELSE c END AS c${at}`);
  const inner = `SELECT a, b, c, ${columns.join(', ')} FROM t`;
  const middle = `SELECT *, c1 + c2 + c3 AS s, row_number() OVER (PARTITION BY a ORDER BY b) AS r FROM (${inner}) x`;
  const outer = `SELECT r, count(*) AS n, sum(s) AS s, max(c7) AS m FROM (${middle}) y WHERE c1 > 0 AND c2 > 0 GROUP BY r`;
  expect(readStatement(`WITH o AS (${outer}) SELECT * FROM o p JOIN o q USING (r) JOIN o USING (r)`).kind).toBe(
    'query',
  );
});

it.each([
  ['CUBE (a, b, c, d, e, f, g, h, i)', true],
  ['CUBE (a, b, c, d, e, f, g, h, i, j)', false],
  ['a, b, c, d, e, f, g, h, i, j WITH CUBE', false],
  ['CUBE (a, b, c, d, e), CUBE (f, g, h, i, j)', false],
  ['ROLLUP (a, b, c, d, e, f, g, h, i, j)', true],
  ['GROUPING SETS (CUBE (a, b, c, d, e), CUBE (f, g, h, i, j), ())', true],
  ['GROUPING SETS (CUBE (a, b, c, d, e, f, g, h, i), CUBE (a, b, c, d, e, f, g, h, i))', false],
])('GROUP BY %s has as many sets as an engine can plan: %s', (grouping, isRead) => {
  const sql = `SELECT count(*) FROM t GROUP BY ${grouping}`;
  if (isRead) expect(readStatement(sql).kind).toBe('query');
  else expect(errorOf(sql).message).toContain('grouping sets');
});

it.each([
  ['SELECT a FROM t ORDER BY a', true],
  ['(SELECT a FROM t ORDER BY a) LIMIT 5', true],
  ['WITH x AS (SELECT a FROM t ORDER BY a) SELECT * FROM x', false],
  ['SELECT a FROM t UNION ALL (SELECT a FROM u ORDER BY a)', false],
  ['SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY a', true],
  ['SELECT rank() OVER (ORDER BY a) FROM t', false],
])('%s has rows in an order: %s', (sql, isOrdered) => {
  expect(readStatement(sql)).toMatchObject({ query: { isOrdered } });
});

it.each([
  'BEGIN SELECT 1; END',
  ';BEGIN SELECT 1; SELECT 2; END',
  'SELECT a FROM t |> WHERE a > 1',
  'FROM t |> SELECT a',
])('%s is not allowed, rather than wrong', (sql) => {
  expect(errorOf(sql).code).toBe('sql_forbidden');
});

it.each([
  'SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY (SELECT max(a) FROM u))',
  'SELECT sum(a) OVER w FROM t ORDER BY a WINDOW w AS (PARTITION BY a IN (SELECT a FROM u))',
  'SELECT `current_user` FROM t',
  'SELECT "user" FROM t',
  'SELECT current_catalog()',
  'SELECT from_json(a, ?) FROM t',
  'SELECT from_json(a, b) FROM t',
  "SELECT from_json(a, concat('x', 'INT')) FROM t",
  `SELECT from_json(a, '{"type":"struct","fields":[]}') FROM t`,
  `SELECT from_csv(a, '"string"') FROM t`,
  "SELECT variant_get(a, '$.b', ?) FROM t",
  "SELECT from_json(schema => 'a INT', json => a) FROM t",
])('%s is not allowed on a cluster', (sql) => {
  expect(errorOf(sql).code).toBe('sql_forbidden');
});

it('subqueries in a set operation nest as any others', () => {
  let sql = '(SELECT max(id) FROM range(1))';
  for (let level = 0; level < 17; level++) {
    sql = `((SELECT max(id) FROM range(1)) INTERSECT SELECT ${sql} + max(id) FROM range(1))`;
  }
  expect(errorOf(`SELECT ${sql}`).message).toContain('hold others');
  expect(() => readStatement(`SELECT ${sql}`, 'sail')).toThrow('nested more than 16 deep');
});

it('a string that is nested too deep for Sail is refused there', () => {
  const nested = (levels: number): string => `${'array<'.repeat(levels)}int${'>'.repeat(levels)}`;
  const sql = (levels: number): string => `SELECT from_json('[]', '${nested(levels)}') AS a`;
  expect(readStatement(sql(500), 'sail').kind).toBe('query');
  expect(() => readStatement(sql(501), 'sail')).toThrow('nested more than 500 deep');
  expect(readStatement(sql(501), 'spark').kind).toBe('query');
});
