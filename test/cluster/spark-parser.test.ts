import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../src/core/app-error.ts';
import type { Query } from '../../src/core/sql.ts';
import { allowedFunctions, allowedTableFunctions } from '../../src/engines/spark/sql/allowed-functions.ts';
import { readStatement } from '../../src/engines/spark/sql/read-statement.ts';
import { refusalOf } from '../../src/engines/spark/sql/refused-functions.ts';
import { needed } from '../support/missing.ts';
import { goodSparkSql, hidingSparkSql, refusedSparkSql } from '../support/spark-sql-corpus.ts';
import { clusterVenv, needJava } from './support/cluster-venv.ts';
import { type SparkParser, startSparkParser } from './support/spark-parser.ts';
import { tpchQueries } from './support/tpch.ts';

const met = await needed('Spark', async () => {
  await needJava();
  return await clusterVenv();
});

/** Words of the grammar that Spark lists as functions. */
const grammarWords = new Set(['and', 'between', 'case', 'cast', 'in', 'not', 'or']);
const startMs = 180_000;

describe.skipIf(met === undefined)('the reader of Spark’s SQL', () => {
  let spark: SparkParser;
  beforeAll(async () => {
    spark = await startSparkParser();
  }, startMs);
  afterAll(async () => {
    await spark?.[Symbol.asyncDispose]();
  });

  test('has judged every function that Spark has', () => {
    const isJudged = (name: string): boolean =>
      allowedFunctions.has(name) || allowedTableFunctions.has(name) || refusalOf(name) !== undefined;
    const names = spark.functions.filter((name) => /^\w+$/.test(name) && !grammarWords.has(name));
    expect(names.length).toBeGreaterThan(400);
    expect(names.filter((name) => !isJudged(name))).toEqual([]);
  });

  test.each([...goodSparkSql, ...tpchQueries()])('finds the tables that Spark finds: $sql', async ({ sql }) => {
    expect(await spark.read(sql)).toEqual({ tables: tablesOf(readQuery(sql)) });
  });

  test('finds every table that Spark finds in what hides one', async () => {
    for (const sql of [...hidingSparkSql, ...refusedSparkSql]) expect(await missedIn(sql), sql).toEqual([]);
  });

  test('finds every table that Spark finds, or refuses, whatever is changed in a statement', async () => {
    const statements = [...goodSparkSql.map(({ sql }) => sql), ...hidingSparkSql];
    const words = fc.oneof(fc.constantFrom(...strangeWords), fc.constantFrom(...statements.flatMap(piecesOf)));
    const edit = fc.record({ at: fc.nat(), drops: fc.nat(2), word: words });
    const edited = fc.record({
      sql: fc.constantFrom(...statements),
      edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
    });
    const changed = edited.map(({ sql, edits }) => {
      const pieces = piecesOf(sql);
      for (const { at, drops, word } of edits) pieces.splice(at % (pieces.length + 1), drops, ' ', word, ' ');
      return pieces.join('');
    });
    await fc.assert(
      fc.asyncProperty(changed, async (sql) => {
        expect(await missedIn(sql), sql).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  }, 300_000);

  /** The tables that Spark would read and that were not found, where both take the statement. */
  async function missedIn(sql: string): Promise<readonly string[]> {
    const query = readQuery(sql);
    if (query === undefined) return [];
    const reading = await spark.read(query.sql);
    const found = new Set(tablesOf(query));
    return 'tables' in reading ? reading.tables.filter((name) => !found.has(name)) : [];
  }
});

const strangeWords =
  `SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET WINDOW QUALIFY JOIN LEFT RIGHT CROSS NATURAL LATERAL
  VIEW SEMI ANTI ON USING AS ( ) , . * s1 \`s2\` UNION EXCEPT MINUS ALL DISTINCT VALUES TABLE WITH RECURSIVE CASE WHEN END IN
  EXISTS NOT PIVOT UNPIVOT FOR TABLESAMPLE STREAM MAP REDUCE TRANSFORM FILTER OVER SORT CLUSTER explode( (SELECT (VALUES (TABLE
  -> => :: : ? [ ] extract( trim( VERSION OF TIMESTAMP INTO IDENTIFIER CHANGES -- /* */ /*+ |>`.split(/\s+/);

function piecesOf(sql: string): string[] {
  return sql.match(/'(?:[^'\\]|\\.|'')*'|`[^`]*`|"[^"]*"|\w+|\s+|./gs) ?? [];
}

function readQuery(sql: string): Query | undefined {
  try {
    const statement = readStatement(sql);
    return 'query' in statement ? statement.query : undefined;
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function tablesOf(query: Query | undefined): string[] | undefined {
  return query?.tables.map(({ name }) => name).sort();
}
