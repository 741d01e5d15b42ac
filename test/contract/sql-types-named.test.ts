import { describe, expect, test } from 'vitest';
import { useFlightServer } from '../support/flight-server.ts';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { postSql } from '../support/post-sql.ts';

const { server } = await useFlightServer(FlightSqlClient);

const run = (sql: string) => postSql(server.url, sql);

async function ok(sql: string): Promise<unknown[][]> {
  const answer = await run(sql);
  if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
  return answer.json().dataset as unknown[][];
}

describe('a type', () => {
  test('is that of columns, inside of other types, and of casts', async () => {
    await ok("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')");
    expect(
      await ok(`SELECT 'ok'::mood < 'sad'::mood, CAST('sad' AS "MOOD"), mood 'ok', TRY_CAST('x' AS mood)`),
    ).toEqual([[false, 'sad', 'ok', null]]);
    await ok('CREATE TABLE people (name TEXT, m mood, l mood[], s STRUCT(mood mood), d MAP(TEXT, mood) )');
    await ok("INSERT INTO people VALUES ('a', 'ok', ['sad'], {'mood': 'ok'}, MAP {'k': 'happy'})");
    await ok("INSERT INTO people (name, m) VALUES ('b', 'sad')");
    expect(await ok('SELECT name, m FROM people ORDER BY m')).toEqual([
      ['b', 'sad'],
      ['a', 'ok'],
    ]);
    expect(await ok('SELECT column_name, column_type FROM (DESCRIBE people)')).toEqual([
      ['name', 'VARCHAR'],
      ['m', "ENUM('sad', 'ok', 'happy')"],
      ['l', "ENUM('sad', 'ok', 'happy')[]"],
      ['s', "STRUCT(mood ENUM('sad', 'ok', 'happy'))"],
      ['d', "MAP(VARCHAR, ENUM('sad', 'ok', 'happy'))"],
    ]);
    const wrong = await run("INSERT INTO people (m) VALUES ('worse')");
    const error = "'worse' is no value of ENUM('sad', 'ok', 'happy')";
    expect([wrong.status, wrong.json()]).toEqual([400, expect.objectContaining({ code: 'sql_error', error })]);
    for (const sql of ["SELECT 'worse'::mood", "UPDATE people SET m = 'worse'"])
      expect((await run(sql)).json().error, sql).toMatch(/^'worse' is no value of ENUM ?\('sad', ?'ok', ?'happy'\)$/i);
    await ok('ALTER TABLE people ADD COLUMN later mood');
    await ok("ALTER TABLE people ALTER name TYPE mood USING 'happy'");
    expect(await ok('SELECT DISTINCT typeof(name), typeof(later) FROM people')).toEqual([
      ["ENUM('sad', 'ok', 'happy')", "ENUM('sad', 'ok', 'happy')"],
    ]);
  });

  test('that is dropped stays that of the columns', async () => {
    await ok("CREATE TYPE size AS ENUM ('S', 'L')");
    await ok('CREATE TABLE shirts (s size)');
    await ok('DROP TYPE size');
    await ok("INSERT INTO shirts VALUES ('L')");
    expect((await run("INSERT INTO shirts VALUES ('XL')")).status).toBe(400);
    expect((await run("SELECT 'L'::size")).json()).toMatchObject({ error: 'type size does not exist', position: 12 });
    await ok('DROP TYPE IF EXISTS size');
    expect((await run('DROP TYPE size')).status).toBe(404);
  });

  test('is another name of any type, and listed with those that there are', async () => {
    await ok('CREATE TYPE money AS DECIMAL(10, 2)');
    await ok("CREATE TYPE colour AS ENUM ('it''s red', 'blue')");
    await ok('CREATE TYPE item AS STRUCT(price money, colour colour)');
    expect(await ok("SELECT {'price': 1, 'colour': 'it''s red'}::item")).toEqual([
      [{ price: '1.00', colour: "it's red" }],
    ]);
    const listed =
      "SELECT type_name, logical_type, labels FROM duckdb_types() WHERE type_name IN ('colour', 'money', 'item')";
    expect(await ok(`${listed} ORDER BY 1`)).toEqual([
      ['colour', 'ENUM', ["it's red", 'blue']],
      ['item', 'STRUCT', null],
      ['money', 'DECIMAL', null],
    ]);
    await ok('CREATE OR REPLACE TYPE money AS DECIMAL(20, 4)');
    expect(await ok('SELECT 1::money')).toEqual([['1.0000']]);
    expect(await ok("SELECT ({'price': 1, 'colour': 'blue'}::item).price")).toEqual([['1.00']]);
    await ok('CREATE TYPE IF NOT EXISTS money AS TEXT');
    await ok('CREATE MACRO in_cents(x) AS (x::money * 100)::INT');
    expect(await ok('SELECT in_cents(1.5)')).toEqual([[150]]);
  });

  test.each([
    ['CREATE TYPE integer AS TEXT', 403, 'integer is a type of SQL'],
    ["CREATE TYPE t AS ENUM ('a', 'a')", 400, 'duplicate value a'],
    ['CREATE TYPE t AS nothing', 400, 'type nothing does not exist'],
    ['CREATE TYPE t AS STRUCT(a t)', 400, 'type t does not exist'],
    ['CREATE TYPE "my type" AS INTEGER', 400, 'is no name for a type'],
  ])('%s is refused', async (sql, status, error) => {
    const answer = await run(sql);
    expect([answer.status, answer.json()]).toEqual([
      status,
      expect.objectContaining({ error: expect.stringContaining(error) }),
    ]);
  });
});
