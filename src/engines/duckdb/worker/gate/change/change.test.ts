import { describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../../test/support/duckdb-connection.ts';
import type { Statement } from '../../../../../core/sql/sql.ts';
import { placeIn } from '../../../../../core/text/source-text.ts';
import { analyzeSql } from '../analyze.ts';

const connection = duckDbConnection();
const analyze = (sql: string): Promise<Statement> => analyzeSql(connection, sql);
const row = '"framehold row"';

async function change(sql: string): Promise<Extract<Statement, { kind: 'change' }>> {
  const statement = await analyze(sql);
  if (statement.kind !== 'change') throw new Error(statement.kind);
  return statement;
}

describe('the query of a change', () => {
  test.each([
    [
      'UPDATE t SET a = b + 1',
      `SELECT "t".${row}, 'UPDATE', "t".* EXCLUDE (${row}) REPLACE ((b + 1) AS "a") FROM "_target"."t" AS "t"`,
    ],
    [
      'update frames.t as x set (a, "b") = (1, -2), c=-1 where d is distinct from e',
      `SELECT "x".${row}, 'UPDATE', "x".* EXCLUDE (${row}) REPLACE ((1) AS "a", (-2) AS "b", (-1) AS "c") FROM "_target"."t" AS "x" WHERE (d is distinct from e)`,
    ],
    [
      'UPDATE t SET a = u.a, b = DEFAULT FROM u, v WHERE t.k = u.k',
      `SELECT "t".${row}, 'UPDATE', "t".* EXCLUDE (${row}, "b") REPLACE ((u.a) AS "a") FROM "_target"."t" AS "t", u, v WHERE (t.k = u.k) QUALIFY row_number() OVER (PARTITION BY "t".${row}) = 1`,
    ],
    [
      'UPDATE t SET a = CASE WHEN x.from THEN 1 ELSE (SELECT 2 FROM u) END RETURNING *',
      `SELECT "t".${row}, 'UPDATE', "t".* EXCLUDE (${row}) REPLACE ((CASE WHEN x.from THEN 1 ELSE (SELECT 2 FROM u) END) AS "a") FROM "_target"."t" AS "t"`,
    ],
    ['DELETE FROM t WHERE a -- and b', `SELECT "t".${row}, 'DELETE' FROM "_target"."t" AS "t" WHERE (a)`],
    [
      'WITH RECURSIVE u AS (SELECT 1 AS k) DELETE FROM t x USING u WHERE k = a RETURNING a',
      `WITH RECURSIVE u AS (SELECT 1 AS k) SELECT "x".${row}, 'DELETE', "x".* EXCLUDE (${row}) FROM "_target"."t" AS "x", u WHERE (k = a) QUALIFY row_number() OVER (PARTITION BY "x".${row}) = 1`,
    ],
    [
      'UPDATE t SET a = ? WHERE b = ? RETURNING a + ?',
      `WITH "framehold parameters" AS (SELECT $3) SELECT "t".${row}, 'UPDATE', "t".* EXCLUDE (${row}) REPLACE (($1) AS "a") FROM "_target"."t" AS "t" WHERE (b = $2)`,
    ],
    ...['WITH/**/u', 'WITH recursive', 'WITH RECURSIVE u'].map((names) => [
      `${names} AS (SELECT 1) UPDATE t SET a = ? RETURNING ?`,
      `${names.replace(/^WITH(?: RECURSIVE(?= u))?/, '$& "framehold parameters" AS (SELECT $2), ')} AS (SELECT 1) SELECT "t".${row}, 'UPDATE', "t".* EXCLUDE (${row}) REPLACE (($1) AS "a") FROM "_target"."t" AS "t"`,
    ]),
  ])('of %s', async (sql, expected) => {
    expect((await change(sql)).query.sql).toBe(expected);
  });

  test('of RETURNING is over the rows that are changed', async () => {
    const { returning } = await change('DELETE FROM t AS x WHERE a = ? RETURNING x.a, b AS "from", *');
    expect(returning?.sql).toBe('SELECT x.a, b AS "from", * FROM "_target"."t" AS "x"');
    expect(returning?.parameterCount).toBe(0);
  });

  test('reads the tables that the statement names beside the one that it changes', async () => {
    const { query } = await change('UPDATE t SET a = (SELECT max(a) FROM t) FROM u WHERE b IN (FROM analytics.v)');
    expect(query.tables.map(({ name }) => name).sort()).toEqual(['t', 'u', 'v']);
  });

  test('knows where its pieces stand in the caller’s text', async () => {
    const sql = 'UPDATE t SET aa = ?, bb = ccc WHERE dddd = 1';
    const { query } = await change(sql);
    for (const word of ['ccc', 'dddd']) {
      expect(placeIn(query.pieces ?? [], query.sql.indexOf(word))).toBe(sql.indexOf(word));
    }
    expect(placeIn(query.pieces ?? [], query.sql.indexOf('_target'))).toBeUndefined();
    const withNames = 'WITH eeee AS (SELECT 1) UPDATE t SET aa = ? RETURNING ?';
    const { query: named } = await change(withNames);
    expect(placeIn(named.pieces ?? [], named.sql.indexOf('eeee'))).toBe(withNames.indexOf('eeee'));
  });

  test('of a statement that takes all rows is none', async () => {
    expect(await analyze('DELETE FROM t')).toMatchObject({ kind: 'truncate', table: { name: 't' } });
    expect(await analyze('TRUNCATE TABLE frames."my t"')).toMatchObject({ kind: 'truncate', table: { name: 'my t' } });
  });
});

describe('an error', () => {
  test.each([
    ['UPDATE t SET a = 1 WHERE b = = 2', 29],
    ['UPDATE t SET a = 1, b = getenv(1) WHERE c', 24],
    ['DELETE FROM t WHERE a IN (FROM read_csv(1))', 31],
    ['UPDATE t SET a 1', 15],
    ['UPDATE t SET a = 1 FROM u GROUP BY c', 26],
    ['UPDATE t SET a = 1, A = 2', 20],
  ])('of %s is at character %i', async (sql, position) => {
    const error = await analyze(sql).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ position });
  });
});
