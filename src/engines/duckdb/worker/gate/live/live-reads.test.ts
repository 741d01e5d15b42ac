import { describe, expect, test } from 'vitest';
import { duckDbConnection } from '../../../../../../test/support/duckdb-connection.ts';
import type { LiveRead } from '../../../../../core/sql/live-read.ts';
import type { Query } from '../../../../../core/sql/sql.ts';
import { editedText } from '../../../../../core/text/source-text.ts';
import { analyzeSql } from '../analyze.ts';

const connection = duckDbConnection();

async function gated(sql: string): Promise<Query> {
  const statement = await analyzeSql(connection, sql);
  if (!('query' in statement)) throw new Error(statement.kind);
  return statement.query;
}

async function readsOf(sql: string): Promise<readonly LiveRead[]> {
  return (await gated(sql)).live?.reads ?? [];
}

/** `columns | conditions | limit`, for a comparison. */
function shown({ columns, conditions, limit }: LiveRead): string {
  const each = conditions.map(({ column, operator, values }) => {
    return `${column} ${operator} ${values.map(({ type, text }) => (type === 'text' ? text : `${type}:${text}`)).join(',')}`;
  });
  const order = limit?.order === undefined ? '' : ` by ${limit.order.column} ${limit.order.direction}`;
  const cut = limit === undefined ? '' : ` | ${limit.rows ?? 'all'}${order}`;
  return `${columns === undefined ? '*' : [...columns].sort().join(' ')} | ${each.join('; ')}${cut}`;
}

describe('columns that a statement may use of a live table are those that it names', () => {
  test.each([
    ['SELECT price FROM tsdb.t', 'price'],
    [
      'SELECT max(Price) AS p FROM tsdb.t WHERE side = $1 GROUP BY symbol HAVING min(amount) > 1 ORDER BY p, ts',
      'amount p price side symbol ts',
    ],
    ['SELECT count(*) FROM tsdb.t', ''],
    ['SELECT f.x, t.y FROM f JOIN tsdb.t USING (s)', 'f s t x y'],
    ['SELECT f.*, t.y FROM f JOIN tsdb.t ON f.s = t.s', 'f s t y'],
    ['SELECT * FROM tsdb.t', '*'],
    ['FROM tsdb.t', '*'],
    ['TABLE tsdb.t', '*'],
    ['SELECT t.* FROM f, tsdb.t', '*'],
    ['SELECT q.* FROM f, tsdb.t AS q', '*'],
    ['SELECT T.* EXCLUDE (x) FROM tsdb.t', '*'],
    ["SELECT COLUMNS(c -> c LIKE 'p%') FROM tsdb.t", '*'],
    ['SELECT max(COLUMNS(*)) FROM tsdb.t', '*'],
    ['SELECT #1 FROM tsdb.t', '*'],
    ['SELECT t FROM tsdb.t', '*'],
    ['SELECT row_to_json(t) FROM tsdb.t', '*'],
    ['SELECT a FROM tsdb.t AS q(a, b)', '*'],
    ['SELECT x FROM f NATURAL JOIN tsdb.t', '*'],
    ['PIVOT tsdb.t ON side IN (1) USING sum(price)', '*'],
    ['SUMMARIZE tsdb.t', '*'],
    ['FROM histogram(tsdb.t, price)', '*'],
    ['SELECT a FROM (SELECT price AS a FROM tsdb.t) ORDER BY ALL', 'a price'],
    ['SELECT * FROM (SELECT price FROM tsdb.t)', 'price'],
    ['WITH x AS (SELECT price FROM tsdb.t) SELECT * FROM x', 'price'],
    ['SELECT (SELECT max(price) FROM tsdb.t WHERE t.s = f.s), f.* FROM f', 'f price s t'],
    ['SELECT price FROM tsdb.t UNION BY NAME SELECT 1 AS price', 'price'],
  ])('%s', async (sql, expected) => {
    const reads = await readsOf(sql);
    expect(reads.map(shown).map((text) => text.split(' | ')[0])).toEqual([expected]);
  });
});

describe('conditions are those that every row must meet', () => {
  test.each([
    ["SELECT x FROM tsdb.t WHERE ts >= '2026-01-01' AND symbol = 'A'", 'ts >= 2026-01-01; symbol = A'],
    [
      "SELECT x FROM tsdb.t WHERE TIMESTAMP '2026-01-01' < ts AND ts <= DATE '2026-01-02'",
      'ts > timestamp:2026-01-01; ts <= date:2026-01-02',
    ],
    ["SELECT x FROM tsdb.t WHERE ts BETWEEN '2026-01-01' AND '2026-01-02'", 'ts >= 2026-01-01; ts <= 2026-01-02'],
    ["SELECT x FROM tsdb.t WHERE symbol IN ('A', 'B')", 'symbol in A,B'],
    ["SELECT x FROM tsdb.t WHERE symbol = 'A' OR t.symbol = 'B'", ''],
    ["SELECT x FROM tsdb.t WHERE symbol = 'A' OR symbol IN ('B', 'C')", 'symbol in A,B,C'],
    ["SELECT x FROM tsdb.t WHERE symbol = 'A' OR price > 1", ''],
    ["SELECT x FROM tsdb.t WHERE NOT symbol = 'A' AND symbol <> 'B' AND symbol NOT IN ('C')", ''],
    ["SELECT x FROM tsdb.t WHERE symbol = NULL AND symbol IN ('A', NULL) AND ts > now()", ''],
    ["SELECT x FROM tsdb.t WHERE symbol = 'A' COLLATE NOCASE AND lower(symbol) = 'a'", ''],
    ["SELECT x FROM tsdb.t WHERE ts::DATE = '2026-01-01' AND ts > TRY_CAST('x' AS TIMESTAMP)", ''],
    ["SELECT x FROM tsdb.t HAVING symbol = 'A'", ''],
    ["SELECT x FROM tsdb.t QUALIFY symbol = 'A'", ''],
    // A join keeps rows that WHERE keeps behind it.
    ["SELECT 1 FROM f JOIN tsdb.t ON f.s = t.s WHERE t.symbol = 'A'", 'symbol = A'],
    ["SELECT 1 FROM f LEFT JOIN tsdb.t ON f.s = t.s WHERE t.symbol = 'A'", 'symbol = A'],
    ["SELECT 1 FROM f FULL JOIN tsdb.t ON f.s = t.s WHERE t.symbol = 'A'", 'symbol = A'],
    ["SELECT 1 FROM tsdb.t, f WHERE symbol = 'A'", 'symbol = A'],
    ["SELECT 1 FROM tsdb.t SEMI JOIN f USING (s) WHERE t.symbol = 'A'", 'symbol = A'],
    ["SELECT 1 FROM f SEMI JOIN tsdb.t ON f.s = t.s WHERE symbol = 'A'", ''],
    // A condition on the row that ASOF finds: without the other rows it would find another.
    ["SELECT 1 FROM f ASOF JOIN tsdb.t ON f.s = t.s AND f.ts >= t.ts WHERE t.symbol = 'A'", ''],
    ["SELECT 1 FROM tsdb.t ASOF JOIN f ON f.s = t.s AND t.ts >= f.ts WHERE t.symbol = 'A'", 'symbol = A'],
    ["SELECT 1 FROM f POSITIONAL JOIN tsdb.t WHERE t.symbol = 'A'", ''],
    ["SELECT 1 FROM tsdb.t TABLESAMPLE 10 ROWS WHERE t.symbol = 'A'", ''],
    ["SELECT 1 FROM tsdb.t WHERE symbol = 'A' USING SAMPLE 3", ''],
    // Conditions of ON on the side whose rows may be missing.
    ["SELECT 1 FROM f JOIN tsdb.t ON t.symbol = 'A' AND f.s = t.s", 'symbol = A'],
    ["SELECT 1 FROM f LEFT JOIN tsdb.t ON t.symbol = 'A' AND f.s = t.s", 'symbol = A'],
    ["SELECT 1 FROM tsdb.t LEFT JOIN f ON t.symbol = 'A' AND f.s = t.s", ''],
    ["SELECT 1 FROM f FULL JOIN tsdb.t ON t.symbol = 'A' AND f.s = t.s", ''],
    ["SELECT 1 FROM tsdb.t RIGHT JOIN f ON t.symbol = 'A' AND f.s = t.s", 'symbol = A'],
    ["SELECT 1 FROM f JOIN (SELECT * FROM g) AS g ON true JOIN tsdb.t ON g.symbol = 'A'", ''],
    // A name that may be another table's.
    ["SELECT 1 FROM f JOIN tsdb.t USING (symbol) WHERE symbol = 'A'", ''],
    ["SELECT 1 FROM f NATURAL JOIN tsdb.t WHERE symbol = 'A'", ''],
    ["SELECT 1 FROM frames.t, tsdb.t WHERE t.symbol = 'A'", ''],
    ["SELECT 1 FROM tsdb.t AS q(symbol, x) WHERE symbol = 'A'", ''],
    ["SELECT 1 FROM tsdb.t WHERE a.b.symbol = 'A'", ''],
    // Each place has its own.
    ["SELECT * FROM (SELECT x FROM tsdb.t WHERE symbol = 'A') WHERE x = 'B'", 'symbol = A'],
    ["SELECT x FROM f WHERE EXISTS (SELECT 1 FROM tsdb.t WHERE t.s = f.s AND t.symbol = 'A')", 'symbol = A'],
  ])('%s', async (sql, expected) => {
    const reads = await readsOf(sql);
    expect(reads.map(shown).map((text) => text.split(' | ')[1])).toEqual([expected]);
  });
});

describe('a limit is known where each row of the table is one of the result', () => {
  test.each([
    ['SELECT * FROM tsdb.t LIMIT 10', '10'],
    ['SELECT x, y AS z, 1, x::DATE FROM tsdb.t LIMIT 10 OFFSET 5', '15'],
    ["SELECT x FROM tsdb.t WHERE symbol = 'A' ORDER BY ts DESC LIMIT 10", '10 by ts descending'],
    ['SELECT x FROM tsdb.t ORDER BY t.ts LIMIT 10', '10 by ts default'],
    ['SELECT x FROM tsdb.t', 'all'],
    ['SELECT x FROM tsdb.t ORDER BY ts', 'all by ts default'],
    ['SELECT x FROM tsdb.t WHERE price > 1 LIMIT 10', undefined],
    ['SELECT count(*) FROM tsdb.t LIMIT 10', undefined],
    ['SELECT x + 1 FROM tsdb.t LIMIT 10', undefined],
    ['SELECT DISTINCT x FROM tsdb.t LIMIT 10', undefined],
    ['SELECT x FROM tsdb.t GROUP BY x LIMIT 10', undefined],
    ['SELECT x FROM tsdb.t GROUP BY ALL LIMIT 10', undefined],
    ['SELECT x FROM tsdb.t QUALIFY true LIMIT 10', undefined],
    ['SELECT x FROM tsdb.t LIMIT 10%', undefined],
    ['SELECT x FROM tsdb.t LIMIT $1', undefined],
    ['SELECT x FROM tsdb.t, f LIMIT 10', undefined],
    ['SELECT x FROM tsdb.t TABLESAMPLE 10% LIMIT 10', undefined],
    ['SELECT x FROM tsdb.t ORDER BY ts, x LIMIT 10', undefined],
    ['SELECT x FROM tsdb.t ORDER BY ts + x LIMIT 10', undefined],
    ['SELECT price AS ts FROM tsdb.t ORDER BY ts LIMIT 10', undefined],
    ['SELECT * REPLACE (price AS ts) FROM tsdb.t ORDER BY ts LIMIT 10', undefined],
    ['SELECT x FROM tsdb.t LIMIT 10000000', undefined],
    ['SELECT * FROM (SELECT x FROM tsdb.t)', undefined],
    ['SELECT * FROM (SELECT x FROM tsdb.t LIMIT 3) LIMIT 10', '3'],
    ['SELECT x FROM tsdb.t UNION ALL SELECT 1', undefined],
    ['SELECT x FROM tsdb.t UNION ALL SELECT 1 LIMIT 10', undefined],
  ])('%s', async (sql, expected) => {
    const reads = await readsOf(sql);
    expect(reads.map(shown).map((text) => text.split(' | ')[2])).toEqual([expected]);
  });
});

test('DESCRIBE asks for no rows', async () => {
  expect(await readsOf('DESCRIBE tsdb.t')).toMatchObject([{ isDescribed: true }]);
  expect((await readsOf('SUMMARIZE tsdb.t'))[0]?.isDescribed).toBeUndefined();
});

describe('tsdb.query', () => {
  test('is a table in the text that is run, which has the same length', async () => {
    const sql = "SELECT q.a, query.b FROM tsdb.query('select 1') AS q, TSDB . \"query\" ( $$select 'x' y$$ )";
    const query = await gated(sql);
    const run = editedText(query.sql, query.live?.edits ?? []).sql;
    expect(run).toMatch(
      /^SELECT q\.a, query\.b FROM "tsdb\?[a-z0-9]{8}"\.query {2}AS q, "tsdb\?[a-z0-9]{8}"\.query\s+$/,
    );
    expect(run.length).toBe(sql.length);
    expect(query.live?.reads.map((read) => [read.query, read.position])).toEqual([
      ['select 1', sql.indexOf('select 1')],
      ["select 'x' y", sql.indexOf("select 'x'")],
    ]);
    expect(query.tables).toEqual([]);
  });

  test('has quotes inside doubled', async () => {
    const [read] = await readsOf("FROM tsdb.query('select * from t where s = ''it''''s''')");
    expect(read?.query).toBe("select * from t where s = 'it''s'");
  });

  test('stands behind EXPLAIN, in INSERT, CREATE TABLE and UPDATE', async () => {
    for (const sql of [
      "EXPLAIN FROM tsdb.query('select 1')",
      "INSERT INTO f FROM tsdb.query('select 1')",
      "CREATE TABLE f AS FROM tsdb.query('select 1')",
      "UPDATE f SET x = q.y FROM tsdb.query('select 1') q WHERE f.s = q.s",
      "CREATE TABLE f (a) AS FROM tsdb.query('select 1') WITH NO DATA",
    ]) {
      const query = await gated(sql);
      expect(query.live?.reads.map((read) => read.query)).toEqual(['select 1']);
      const run = editedText(query.sql, query.live?.edits ?? []).sql;
      expect(run).toMatch(/"tsdb\?[a-z0-9]{8}"\.query/);
      expect(run).not.toContain('select 1');
    }
  });

  test('stands in a PIVOT with a list, not without', async () => {
    const query = await gated(
      "PIVOT (FROM tsdb.query('select side, price from t')) ON side IN ('buy') USING sum(price)",
    );
    expect(editedText(query.sql, query.live?.edits ?? []).sql).toMatch(/^PIVOT \(FROM "tsdb\?[a-z0-9]{8}"\.query/);
    await expect(gated('PIVOT tsdb.t ON side USING sum(price)')).rejects.toThrow('must list its values');
  });
});
