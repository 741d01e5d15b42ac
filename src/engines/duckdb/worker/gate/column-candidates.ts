import { schemaOf } from '../../../../core/table-name.ts';
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
     WHERE database_name = 'framehold' AND schema_name = ${sqlString(table.schema)}
       AND lower(table_name) = ${sqlString(table.name)}
     ORDER BY column_index`,
  );
  return rows.map(({ name }) => name);
}

/** The one table that goes by a name; undefined where it is also, or only, the name of a query. */
function tableOf(alias: string, tree: TreeNode): { readonly schema: string; readonly name: string } | undefined {
  const wanted = asciiLower(alias);
  const tables = new Map<string, { readonly schema: string; readonly name: string }>();
  const queries = new Set<string>();
  const pending: unknown[] = [tree];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    for (const part of Object.values(node)) pending.push(part);
    const { type, alias: given, catalog_name, schema_name, table_name, key } = node as TreeNode;
    if (typeof key === 'string') queries.add(asciiLower(key));
    else if (type === 'BASE_TABLE') {
      if (asciiLower(String(given ?? table_name)) !== wanted) continue;
      const named = { catalog: text(catalog_name), schema: text(schema_name), name: asciiLower(String(table_name)) };
      const schema = schemaOf(named);
      tables.set(`${schema}.${named.name}`, { schema, name: named.name });
    } else if (type === 'SUBQUERY' && typeof given === 'string') queries.add(asciiLower(given));
  }
  const [table] = tables.values();
  return tables.size !== 1 || table === undefined || queries.has(wanted) || queries.has(table.name) ? undefined : table;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
