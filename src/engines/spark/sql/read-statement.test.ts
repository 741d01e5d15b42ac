import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { goodSparkSql, hidingSparkSql, refusedSparkSql } from '../../../../test/support/spark-sql-corpus.ts';
import { AppError } from '../../../core/app-error.ts';
import type { Statement } from '../../../core/sql.ts';
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
      'UPDATE is not allowed: frames are immutable',
      'write a new version: CREATE OR REPLACE TABLE x AS SELECT …',
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
      'frames hold rows, not queries; allowed is CREATE [OR REPLACE] TABLE x AS SELECT …',
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

  it('tell to use backticks where double quotes are no names', () => {
    for (const sql of ['SELECT "a" FROM t', 'SELECT r"a" FROM t']) {
      expect(() => readStatement(sql, 'sail')).toThrow('double quotes are not used on this engine');
    }
    expect(tablesOf(readStatement('SELECT \'"\', `"` FROM `t`', 'sail'))).toEqual(['t']);
  });
});

it('a query that names itself is refused where an engine would take the name for a table', () => {
  const sql = 'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r';
  expect(tablesOf(readStatement(sql))).toEqual([]);
  expect(() => readStatement(sql, 'sail')).toThrow('this engine has no WITH RECURSIVE');
});

describe('statements that change frames', () => {
  it('hold exactly the text of their query', () => {
    const sql = ' create or replace table `my frame` as\n with x as (select 1) select * from x, t ; ';
    expect(readStatement(sql)).toEqual({
      kind: 'createTable',
      table: { catalog: undefined, schema: undefined, name: 'my frame' },
      ifTaken: 'replace',
      query: {
        sql: 'with x as (select 1) select * from x, t',
        start: sql.indexOf('with x'),
        tables: [{ catalog: undefined, schema: undefined, name: 't', position: sql.lastIndexOf('t') }],
        parameterCount: 0,
      },
    });
  });

  it.each([
    ['CREATE TABLE x AS SELECT 1', { kind: 'createTable', ifTaken: 'fail' }],
    ['CREATE TABLE IF NOT EXISTS x AS VALUES (1)', { kind: 'createTable', ifTaken: 'keep' }],
    ['INSERT INTO x SELECT * FROM t', { kind: 'insert', columns: undefined }],
    ['INSERT INTO TABLE x VALUES (1, ?)', { kind: 'insert', query: { sql: 'VALUES (1, ?)', parameterCount: 1 } }],
    ['INSERT INTO x (a, `b c`) SELECT 1, 2', { kind: 'insert', columns: ['a', 'b c'] }],
    ['INSERT INTO x (SELECT 1)', { kind: 'insert', columns: undefined }],
    ['INSERT INTO x WITH y AS (SELECT 1) SELECT * FROM y', { kind: 'insert', query: { tables: [] } }],
    ['DROP TABLE x', { kind: 'drop', ifAbsent: 'fail' }],
    ['drop table if exists x;', { kind: 'drop', ifAbsent: 'ignore' }],
    ['SHOW TABLES', { kind: 'showTables' }],
  ])('are those that the local engine has: %s', (sql, statement) => {
    expect(readStatement(sql)).toMatchObject(statement);
  });
});

describe('parameters', () => {
  it('are counted, or named in the order of their first use', () => {
    const read = (sql: string): unknown => {
      const statement = readStatement(sql);
      return 'query' in statement
        ? { ...statement.query, sql: undefined, start: undefined, tables: undefined }
        : undefined;
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
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

it('what is nested deeper than a cluster can read is refused', () => {
  const reads = (levels: number, open: string, close = ''): string =>
    `SELECT ${open.repeat(levels)}1${close.repeat(levels)}`;
  for (const [open, close] of [['(', ')'], ['NOT '], ['- '], ['x -> '], ['(SELECT ', ')'], ['abs(', ')']] as const) {
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
    expect(readStatement(nested(17, open), 'spark').kind).toBe('query');
  }
  const beside = `SELECT ${new Array(20).fill('(SELECT 1), transform(a, x -> x)').join(', ')}`;
  expect(readStatement(beside, 'sail').kind).toBe('query');
  expect(readStatement(`${'SELECT * FROM ('.repeat(50)}SELECT 1${')'.repeat(50)}`, 'sail').kind).toBe('query');
});

describe('what hangs on each other higher than a cluster can read', () => {
  const joined = (count: number, piece: string, between: string): string =>
    new Array<string>(count).fill(piece).join(between);
  const forms: Record<string, readonly [most: number, of: (count: number) => string]> = {
    OR: [199, (count) => `SELECT 1 FROM t WHERE ${joined(count, 'a = 1', ' OR ')} OR a = 1`],
    'AND in a lambda': [198, (count) => `SELECT filter(x, y -> ${joined(count, 'a', ' AND ')} AND a)`],
    '+': [200, (count) => `SELECT ${joined(count, '1', '+')} + 1`],
    '||': [200, (count) => `SELECT ${joined(count, "'a'", '||')} || 'a'`],
    'a name of many parts': [200, (count) => `SELECT a${'.b'.repeat(count)}`],
    '::': [200, (count) => `SELECT 1${'::int'.repeat(count)}`],
    'UNION ALL': [100, (count) => `${joined(count, 'SELECT 1', ' UNION ALL ')} UNION ALL SELECT 1`],
    JOIN: [100, (count) => `SELECT 1 FROM t ${joined(count, 'JOIN t', ' ')}`],
    'a list of tables': [100, (count) => `SELECT 1 FROM t, ${joined(count, 't', ', ')}`],
    'LATERAL VIEW': [99, (count) => `SELECT 1 FROM t ${joined(count, 'LATERAL VIEW explode(a) x AS y', ' ')}`],
    WITH: [199, (count) => `WITH ${joined(count, 'a AS (SELECT 1)', ', ')} SELECT 1`],
    'a chain in each parenthesis': [50, (count) => `SELECT ${'(1+'.repeat(count)}1${'+1+1)'.repeat(count)}`],
  };

  test.each(Object.entries(forms))('is refused: %s', (_, [most, of]) => {
    expect(readStatement(of(most), 'sail').kind).toBe('query');
    expect(() => readStatement(of(most + 1), 'sail')).toThrow(
      expect.objectContaining({
        code: 'sql_error',
        message: expect.stringMatching(/^more than 200 operators hang on each other/),
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

it('refuses a doubled quote where the engine would leave it out, and takes an empty string', () => {
  expect(() => readStatement("SELECT 'it''s'", 'sail')).toThrow('leaves out a quote that is doubled');
  expect(readStatement("SELECT '', 'it\\'s'", 'sail').kind).toBe('query');
  expect(readStatement("SELECT 'it''s'").kind).toBe('query');
});
