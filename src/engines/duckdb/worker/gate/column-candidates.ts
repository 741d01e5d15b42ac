import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { sqlString } from '../../protocol/sql-text.ts';
import type { DuckDbError } from '../native/duckdb-error.ts';
import type { Connection } from '../native/session.ts';
import { parseTree, type TreeNode } from './parse-tree.ts';

/**
 * The columns that an error about `t.prise` may suggest. Frames are views to DuckDB, and of the columns of a view it
 * names none. Empty when the error is another one, or when `t` is not plainly one frame.
 */
export async function columnCandidates(
  connection: Connection,
  { message }: DuckDbError,
  query: string,
): Promise<readonly string[]> {
  const alias = /^Binder Error: Values list "([^\n]*)" does not have a column named "/.exec(message)?.[1];
  const tree = alias === undefined ? undefined : await parseTree(connection, query);
  const table = alias === undefined || tree === undefined ? undefined : tableOf(alias, tree);
  if (table === undefined) return [];
  const rows = await connection.rows<{ name: string }>(
    `SELECT column_name AS name FROM duckdb_columns()
     WHERE database_name = 'framehold' AND schema_name = 'frames' AND lower(table_name) = ${sqlString(table)}
     ORDER BY column_index`,
  );
  return rows.map(({ name }) => name);
}

/** The one table that goes by a name; undefined where it is also, or only, the name of a query. */
function tableOf(alias: string, tree: TreeNode): string | undefined {
  const wanted = asciiLower(alias);
  const tables = new Set<string>();
  const queries = new Set<string>();
  const pending: unknown[] = [tree];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    for (const part of Object.values(node)) pending.push(part);
    const { type, alias: given, table_name: name, key } = node as TreeNode;
    if (typeof key === 'string') queries.add(asciiLower(key));
    else if (type === 'BASE_TABLE') {
      if (asciiLower(String(given ?? name)) === wanted) tables.add(asciiLower(String(name)));
    } else if (type === 'SUBQUERY' && typeof given === 'string') queries.add(asciiLower(given));
  }
  const [table] = tables;
  return tables.size !== 1 || table === undefined || queries.has(wanted) || queries.has(table) ? undefined : table;
}
