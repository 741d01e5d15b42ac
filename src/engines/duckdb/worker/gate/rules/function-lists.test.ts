import { describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../../test/support/duckdb-connection.ts';
import {
  allowedFunctions,
  allowedTableFunctions,
  catalogFunctions,
  catalogTableFunctions,
  refusalOf,
} from './function-rules.ts';
import { informationViews, reservedWords, systemTables } from './reserved-names.ts';

const connection = duckDbConnection();

/** Not in DuckDB's catalogue: its parser or binder rewrites them. */
const outsideCatalogue = new Set(['->', 'ifnull', 'unlist']);

describe('every function of the installed DuckDB is judged', async () => {
  const functions = await connection.rows<{ name: string; table: boolean; plain: boolean }>(
    `SELECT lower(function_name) AS name, bool_or(function_type IN ('table', 'table_macro')) AS "table",
       bool_or(function_type IN ('scalar', 'aggregate', 'macro')) AS plain
     FROM duckdb_functions() GROUP BY ALL`,
  );
  const names = new Set(functions.map(({ name }) => name));

  test('there are as many as there should be', () => {
    expect(functions.length).toBeGreaterThan(900);
  });

  test('each is either allowed or refused', () => {
    const unjudged = functions.filter(({ name, table, plain }) => {
      if (refusalOf(name) !== undefined) return false;
      if (plain ? catalogFunctions.has(name) : catalogTableFunctions.has(name)) return false;
      if (plain && !allowedFunctions.has(name)) return true;
      return table && !allowedTableFunctions.has(name) && !(plain && allowedFunctions.has(name));
    });
    expect(unjudged.map(({ name }) => name)).toEqual([]);
  });

  test('none is both', () => {
    const allowed = [...allowedFunctions, ...allowedTableFunctions];
    const ofCatalogs = [...catalogFunctions, ...catalogTableFunctions];
    expect([...allowed, ...ofCatalogs].filter((name) => refusalOf(name) !== undefined)).toEqual([]);
    expect(ofCatalogs.filter((name) => allowed.includes(name))).toEqual([]);
  });

  test('each that is allowed exists', () => {
    const ofCatalogs = [...catalogFunctions, ...catalogTableFunctions];
    const absent = [...allowedFunctions, ...allowedTableFunctions, ...ofCatalogs].filter(
      (name) => !names.has(name) && !outsideCatalogue.has(name),
    );
    expect(absent).toEqual([]);
  });

  test('table functions that are allowed read nothing: none has a parameter that names a file', async () => {
    const rows = await connection.rows<{ name: string }>(
      `SELECT DISTINCT function_name AS name FROM duckdb_functions()
       WHERE function_type = 'table' AND list_contains(parameters, 'file_row_number')`,
    );
    for (const { name } of rows) expect(allowedTableFunctions).not.toContain(name);
  });
});

describe('the lists of words are those of the installed DuckDB', () => {
  test('reserved words', async () => {
    const rows = await connection.rows<{ word: string }>(
      `SELECT keyword_name AS word FROM duckdb_keywords() WHERE keyword_category = 'reserved'`,
    );
    expect([...reservedWords].sort()).toEqual(rows.map(({ word }) => word).sort());
  });

  test('views that DuckDB finds without a schema', async () => {
    const rows = await connection.rows<{ name: string }>(
      `SELECT DISTINCT view_name AS name FROM duckdb_views() WHERE internal AND schema_name <> 'information_schema'`,
    );
    expect([...systemTables].sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  test('views of information_schema', async () => {
    const rows = await connection.rows<{ name: string }>(
      `SELECT view_name AS name FROM duckdb_views() WHERE internal AND schema_name = 'information_schema'`,
    );
    expect([...informationViews].sort()).toEqual(rows.map(({ name }) => name).sort());
  });
});
