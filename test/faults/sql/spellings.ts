import type { Random } from '../harness/random.ts';

type Spelling = (sql: string, random: Random) => string;

const isPlain = (sql: string): boolean => !/['"$\\]|--|\/\*/.test(sql);
const isQuery = (sql: string): boolean => /^\s*(?:select|from|with|values|table|pivot|unpivot)\b/i.test(sql);

/** Other ways to write the same, or to hide it in something else. Each leaves alone what it would break. */
const spellings: readonly Spelling[] = [
  (sql) => sql,
  (sql) => sql.replace(/^\w+/, (word) => word.toLowerCase()),
  (sql, random) => (isPlain(sql) ? mixedCase(sql, random) : sql),
  (sql) => (isPlain(sql) ? sql.replaceAll(' ', '/* ; \' " $$ */') : sql),
  (sql) => (isPlain(sql) ? sql.replaceAll(' ', ' -- ; \' "\n') : sql),
  (sql) => (isPlain(sql) ? sql.replaceAll(' ', '\u00a0\t\r\n\f\v') : sql),
  (sql) => `/* ' */ ${sql} /* " */`,
  (sql) => `;;${sql};;`,
  (sql) => sql.replaceAll(/\b(read_\w+|glob|query\w*|duckdb_\w+|enable_\w+|pragma_\w+)\s*\(/g, '"$1"/**/('),
  (sql) => sql.replaceAll(/\b(read_\w+|glob|query\w*|duckdb_\w+|enable_\w+|pragma_\w+)\s*\(/g, 'system.main.$1 ('),
  (sql) => sql.replaceAll(/\b(read_\w+|glob|query\w*|duckdb_\w+|enable_\w+)\s*\(/g, (call) => call.toUpperCase()),
  (sql) => sql.replaceAll(/'((?:@|\/)[^'$]*)'/g, '$$$$$1$$$$'),
  (sql) => sql.replaceAll(/'((?:@|\/)[^'\\]*)'/g, "E'$1'"),
  (sql) => sql.replaceAll(/'((?:@|\/)[^'\\]*)'/g, "('' || '$1')"),
  ...[
    (sql: string) => `SELECT * FROM (${sql})`,
    (sql: string) => `SELECT count(*) FROM (${sql}) t`,
    (sql: string) => `WITH h AS (${sql}) SELECT * FROM h`,
    (sql: string) => `WITH h AS MATERIALIZED (${sql}) SELECT * FROM h, h g LIMIT 3`,
    (sql: string) => `SELECT (SELECT to_json(t) FROM (${sql}) t LIMIT 1)`,
    (sql: string) => `SELECT 1 WHERE EXISTS (${sql})`,
    (sql: string) => `(${sql}) UNION ALL BY NAME (${sql})`,
    (sql: string) => `SELECT * FROM trades t, LATERAL (${sql}) h LIMIT 3`,
    (sql: string) => `SELECT * FROM trades POSITIONAL JOIN (${sql}) h LIMIT 3`,
    (sql: string) => `EXPLAIN ${sql}`,
    (sql: string) => `EXPLAIN ANALYZE ${sql}`,
    (sql: string) => `DESCRIBE ${sql}`,
    (sql: string) => `SUMMARIZE ${sql}`,
    (sql: string) => `SELECT * FROM (SUMMARIZE ${sql})`,
    (sql: string) => `CREATE OR REPLACE TABLE @scratch AS ${sql}`,
    (sql: string) => `INSERT INTO @scratch ${sql}`,
    (sql: string) => `PIVOT (${sql}) ON 1 USING count(*)`,
    (sql: string) => `COPY (${sql}) TO '@dir/written.csv'`,
    (sql: string) => `SELECT * FROM query($query$${sql}$query$)`,
    (sql: string) => `SELECT COLUMNS(*) FROM (${sql}) t LIMIT 3`,
  ].map(
    (hidden): Spelling =>
      (sql) =>
        isQuery(sql) ? hidden(sql) : sql,
  ),
];

/** Half of the time as it stands. */
export function respelled(sql: string, random: Random): string {
  return random.chance(0.5) ? sql : random.pick(spellings)(sql, random);
}

function mixedCase(sql: string, random: Random): string {
  return sql.replaceAll(/[a-z]/gi, (letter) => (random.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase()));
}
