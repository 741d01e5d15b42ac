const times = (count: number, before: string, middle: string, after: string): string =>
  before.repeat(count) + middle + after.repeat(count);

const depths = [90, 20_000] as const;

/** Depth: of text, which a parser walks, and of values, which DuckDB's functions walk by recursion. */
export const nesting: readonly string[] = [
  ...depths.flatMap((depth) => [
    `SELECT ${times(depth, '(', '1', ')')}`,
    `SELECT ${times(depth, '[', '1', ']')}`,
    `SELECT ${times(depth, "{'a': ", '1', '}')}`,
    `SELECT ${times(depth, 'abs(', '1', ')')}`,
    `SELECT ${times(depth, 'CASE WHEN true THEN ', '1', ' END')}`,
    `SELECT ${times(depth, '(SELECT ', '1', ')')}`,
    `SELECT * FROM ${times(depth, '(SELECT * FROM ', 'trades', ')')}`,
    `SELECT ${'NOT '.repeat(depth)}true`,
    `SELECT ${'- '.repeat(depth)}1`,
    `SELECT ${'1 + '.repeat(depth)}1`,
    `SELECT ${"'a' || ".repeat(depth)}'b'`,
    `SELECT 1 WHERE ${'true AND '.repeat(depth)}true`,
    `SELECT 1 WHERE ${'id = 1 OR '.repeat(depth)}false`,
    `SELECT 1::INT${'[]'.repeat(depth)}`,
    `SELECT NULL::${times(depth, 'STRUCT (a ', 'INT', ')')}`,
    `SELECT id${'::VARCHAR::BIGINT'.repeat(depth)} FROM trades`,
    `SELECT id${'.abs()'.repeat(depth)} FROM trades`,
    `SELECT ${'x -> '.repeat(depth)}1`,
    `SELECT [${times(depth, '[', 'x', ' FOR x IN [1]]')}]`,
    `SELECT 1 ${'/*'.repeat(depth)}${'*/'.repeat(depth)}`,
    `FROM trades ${'JOIN trades USING (id) '.repeat(depth)}`,
    times(depth, 'WITH a AS (', 'SELECT 1', ') FROM a'),
    `${'SELECT 1 UNION '.repeat(depth)}SELECT 1`,
    `SELECT ${'EXISTS (SELECT '.repeat(depth)}1${')'.repeat(depth)}`,
    `EXPLAIN SELECT ${times(depth, '(', '1', ')')}`,
    `${'EXPLAIN '.repeat(depth)}SELECT 1`,
    times(depth, 'FROM (DESCRIBE ', 'SELECT 1', ')'),
  ]),
  ...[1000, 100_000].flatMap((depth) => {
    const lists = `(repeat('[', ${depth}) || repeat(']', ${depth}))`;
    const objects = `(repeat('{"a":', ${depth}) || '1' || repeat('}', ${depth}))`;
    return [lists, objects].flatMap((deep) => [
      `SELECT json_structure(${deep})`,
      `SELECT ${deep}::JSON::VARIANT`,
      `SELECT json_valid(${deep}), json_type(${deep})`,
      `SELECT len(json_pretty(${deep}))`,
      `SELECT len(json(${deep}))`,
      `SELECT json_merge_patch(${deep}, ${deep})`,
      `SELECT json_contains(${deep}, '1')`,
      `SELECT json_extract(${deep}, '$' || repeat('[0]', ${depth}))`,
      `SELECT json_extract(${deep}, '$..a')`,
      `SELECT json_keys(${deep})`,
      `SELECT count(*) FROM json_tree(${deep})`,
      `SELECT count(*) FROM json_each(${deep})`,
      `SELECT from_json(${deep}, ${deep})`,
      `SELECT from_json(${deep}, '["VARCHAR"]')`,
      `SELECT json_group_structure(${deep})`,
      `SELECT ${deep}::VARCHAR[]`,
      `SELECT ${deep}::VARCHAR[][][]`,
      `SELECT TRY_CAST(${deep} AS STRUCT (a VARCHAR))`,
      `SELECT ${deep}::JSON::STRUCT (a JSON)`,
      `SELECT to_json(${deep}::JSON)`,
      `SELECT ${deep}::JSON = ${deep}::JSON`,
      `CREATE OR REPLACE TABLE @scratch AS SELECT ${deep}::JSON AS j`,
    ]);
  }),
  `SELECT ${Array.from({ length: 60 }).reduce<string>((inner) => `list_transform([1], x -> ${inner})`, 'x')}`,
  `SELECT ${Array.from({ length: 14 }).reduce<string>((inner) => `list_transform([1, 2], x -> ${inner})`, '1')}`,
  `SELECT regexp_matches('a', repeat('(', 100000) || repeat(')', 100000))`,
  `SELECT regexp_matches('a', repeat('(a', 900) || repeat(')*', 900))`,
  `SELECT regexp_matches('a', '((((a{1,100}){1,100}){1,100}){1,100})')`,
  `SELECT format(repeat('{', 100000), 1)`,
];
