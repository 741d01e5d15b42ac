import { AppError } from '../../src/core/errors/app-error.ts';
import { readStatement } from '../../src/engines/spark/sql/read-statement.ts';
import type { Dialect } from '../../src/engines/spark/sql/statement-size.ts';

const nested = (first: string, around: (inner: string, level: number) => string) => (levels: number) => {
  let sql = first;
  for (let level = 1; level <= levels; level++) sql = around(sql, level);
  return sql;
};
const inFrom = (clauses: (from: string) => string) => nested('SELECT 1 AS a', (inner) => clauses(`(${inner}) x`));
const fromIds = (query: (from: string) => string) =>
  nested('SELECT id AS a FROM range(3)', (inner) => query(`(${inner}) x`));
const inWith = (first: string, next: (name: string) => string) => (levels: number) => {
  const queries = [`w0 AS (${first})`];
  for (let level = 1; level <= levels; level++) queries.push(`w${level} AS (${next(`w${level - 1}`)})`);
  return `WITH ${queries.join(', ')} SELECT * FROM w${levels}`;
};
const listed = (of: (index: number) => string, between: string, around: (list: string) => string) => (count: number) =>
  around(Array.from({ length: count }, (_, index) => of(index)).join(between));

const selected = (of: (size: number) => string) => (size: number) => `SELECT ${of(size)} AS a FROM range(3)`;

/** Statements that can be made as tall, as long or as wide as one likes. Their tables are all of their own. */
export const growingSql: Readonly<Record<string, (size: number) => string>> = {
  'a query in FROM': inFrom((from) => `SELECT a FROM ${from}`),
  'a computed column': inFrom((from) => `SELECT a + 1 AS a FROM ${from}`),
  DISTINCT: inFrom((from) => `SELECT DISTINCT a FROM ${from}`),
  WHERE: inFrom((from) => `SELECT a FROM ${from} WHERE a > 0`),
  'GROUP BY': inFrom((from) => `SELECT a, count(*) AS n FROM ${from} GROUP BY a`),
  'GROUP BY and HAVING': inFrom((from) => `SELECT a FROM ${from} GROUP BY a HAVING count(*) > 0`),
  'ORDER BY and LIMIT': inFrom((from) => `SELECT a FROM ${from} ORDER BY a LIMIT 5`),
  'every clause': inFrom((from) => `SELECT DISTINCT a + 1 AS a FROM ${from} WHERE a > 0 ORDER BY a LIMIT 5 OFFSET 0`),
  'a window': inFrom((from) => `SELECT a, row_number() OVER (ORDER BY a) AS r FROM ${from}`),
  JOIN: inFrom((from) => `SELECT x.a FROM ${from} JOIN (SELECT 1 AS b) y ON x.a = y.b`),
  UNION: nested('SELECT 1 AS a', (inner) => `SELECT 1 AS a UNION SELECT a FROM (${inner}) x`),
  PIVOT: inFrom((from) => `SELECT 1 AS a FROM ${from} PIVOT (count(*) FOR a IN (1 AS one))`),
  'LATERAL VIEW': inFrom((from) => `SELECT e AS a FROM ${from} LATERAL VIEW explode(array(a)) v AS e`),
  'IN (SELECT)': inFrom((from) => `SELECT a FROM ${from} WHERE a IN (SELECT 1)`),
  'LIMIT in parentheses': nested('SELECT 1 AS a', (inner) => `(${inner}) LIMIT 5`),
  'names of WITH': inWith('SELECT 1 AS a', (name) => `SELECT a + 1 AS a FROM ${name}`),
  'names of WITH with every clause': inWith(
    'SELECT 1 AS a',
    (name) => `SELECT DISTINCT a + 1 AS a FROM ${name} WHERE a > 0 ORDER BY a LIMIT 5`,
  ),
  'names of WITH used twice': inWith(
    'SELECT 1 AS a',
    (name) => `SELECT p.a FROM ${name} p JOIN ${name} q ON p.a = q.a`,
  ),
  'names of WITH in EXISTS': inWith('SELECT 1 AS a', (name) => `SELECT 1 AS a WHERE EXISTS (SELECT 1 FROM ${name})`),
  'names of WITH as values': inWith('SELECT 1 AS a', (name) => `SELECT (SELECT max(a) FROM ${name}) AS a`),
  'subqueries as values': nested('SELECT 1 AS a', (inner) => `SELECT (${inner}) AS a`),
  'subqueries beside each other': listed(
    (at) => `(SELECT max(id) + ${at} FROM range(3)) AS c${at}`,
    ', ',
    (list) => `SELECT ${list}`,
  ),
  'subqueries joined by AND': listed(
    (at) => `id IN (SELECT id + ${at} FROM range(3))`,
    ' AND ',
    (list) => `SELECT id FROM range(3) WHERE ${list}`,
  ),
  'windows beside each other': listed(
    (at) => `sum(id) OVER (ORDER BY id + ${at}) AS c${at}`,
    ', ',
    (list) => `SELECT ${list} FROM range(3)`,
  ),
  'lateral column aliases': listed(
    (at) => `${at === 0 ? 'id' : `c${at - 1}`} + 1 AS c${at}`,
    ', ',
    (list) => `SELECT ${list} FROM range(3)`,
  ),
  'UNION ALL': listed(
    () => 'SELECT 1 AS a',
    ' UNION ALL ',
    (list) => list,
  ),
  OR: listed(
    (at) => `id = ${at}`,
    ' OR ',
    (list) => `SELECT id FROM range(3) WHERE ${list}`,
  ),
  '+': listed(
    () => 'id',
    ' + ',
    (list) => `SELECT ${list} AS a FROM range(3)`,
  ),
  CASE: selected(nested('id', (inner) => `CASE WHEN id > 0 THEN ${inner} END`)),
  functions: selected(nested('id', (inner) => `abs(${inner})`)),
  CUBE: listed(
    (at) => `c${at}`,
    ', ',
    (list) => `SELECT count(*) AS n FROM (SELECT ${list.replaceAll('c', '1 AS c')}) x GROUP BY CUBE (${list})`,
  ),
  'a column used twice': fromIds((from) => `SELECT a + a AS a FROM ${from}`),
  'a column used twice, also in WHERE': fromIds((from) => `SELECT a + a AS a FROM ${from} WHERE a + a >= 0`),
  'a column used three times': fromIds(
    (from) => `SELECT CASE WHEN a > 1 THEN a ELSE a + 1 END AS a FROM ${from} WHERE a >= 0`,
  ),
  'a column used twice under another name': fromIds((from) => `SELECT b + b AS a FROM ${from}(b) WHERE b >= 0`),
  'a column used twice by WITH': inWith(
    'SELECT id AS a FROM range(3)',
    (name) => `SELECT a + a AS a FROM ${name} WHERE a >= 0`,
  ),
  'a column used twice by a subquery': fromIds(
    (from) => `SELECT (SELECT max(x.a + x.a)) AS a FROM ${from} WHERE a >= 0`,
  ),
  'a column used twice by LATERAL': fromIds(
    (from) => `SELECT y.b AS a FROM ${from}, LATERAL (SELECT x.a + x.a AS b) y WHERE y.b >= 0`,
  ),
  'all columns twice': fromIds((from) => `SELECT *, * FROM ${from}`),
  'all columns twice, by name': fromIds((from) => `SELECT x.*, x.* FROM ${from}`),
  'all columns in a struct': fromIds((from) => `SELECT struct(*, a) AS a FROM ${from}`),
  'a struct of a column twice': fromIds((from) => `SELECT struct(a AS p, a AS q) AS a FROM ${from}`),
  'a list of a column twice': fromIds((from) => `SELECT array(a, a) AS a FROM ${from}`),
  coalesce: selected(nested('id', (inner) => `coalesce(${inner}, 1)`)),
  'coalesce of a constant': selected(nested('1', (inner) => `coalesce(${inner}, 1)`)),
  array_insert: selected(nested('1', (inner) => `size(array_insert(array(${inner}), 1, 1))`)),
  array_prepend: selected(nested('1', (inner) => `size(array_prepend(array(${inner}), 1))`)),
  'CASE with an operand': selected(nested('1', (inner) => `CASE ${inner} WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END`)),
  'a value IN a list': selected(nested('1', (inner) => `cast((${inner}) IN (1, 2, 3) AS int)`)),
  'IS DISTINCT FROM': selected(nested('1', (inner) => `cast((${inner}) IS DISTINCT FROM 2 AS int)`)),
  'a field of a struct': selected(nested('1', (inner) => `struct(${inner} AS a).a`)),
  nullifzero: selected(nested('1', (inner) => `nullifzero(${inner})`)),
  decode: selected(nested('1', (inner) => `decode(${inner}, 1, 1, 2, 2, 3)`)),
  'date_add and datediff': selected(
    nested('1', (inner) => `datediff(date_add(DATE '2026-01-01', ${inner}), DATE '2026-01-01')`),
  ),
  'coalesce by WITH': inWith('SELECT id AS a FROM range(3)', (name) => `SELECT coalesce(a, 1) AS a FROM ${name}`),
  'subqueries in set operations': selected(
    nested('1', (inner) => `((SELECT max(id) FROM range(1)) INTERSECT SELECT ${inner} + max(id) FROM range(1))`),
  ),
  'a type in a string': (size) => `SELECT from_json('[]', '${'array<'.repeat(size)}int${'>'.repeat(size)}') AS a`,
  'a document in a string': (size) => `SELECT schema_of_json('${'['.repeat(size)}${']'.repeat(size)}') AS a`,
  'many columns': listed(
    (at) => `id + ${at} AS c${at}`,
    ', ',
    (list) => `SELECT ${list} FROM range(3)`,
  ),
};
/** The largest that the reader takes, at most `limit`. */
export function largestRead(of: (size: number) => string, dialect: Dialect, limit = 2000): number {
  let [taken, refused] = [0, limit + 1];
  while (refused - taken > 1) {
    const size = Math.floor((taken + refused) / 2);
    if (isRead(of(size), dialect)) taken = size;
    else refused = size;
  }
  return taken;
}

function isRead(sql: string, dialect: Dialect): boolean {
  try {
    readStatement(sql, dialect);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}
