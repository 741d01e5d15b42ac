import { sqlString } from '@framehold/columns';
import type { Connection, DuckDbError } from '@framehold/duckdb';
import { schemaOf } from '../../../../../core/sql/table-name.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { nameIn, nodesOf, parseTree, type TreeNode } from '../tree/parse-tree.ts';

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

/** The one table of a name; undefined if a query has the name, too or alone. */
function tableOf(alias: string, tree: TreeNode): { readonly schema: string; readonly name: string } | undefined {
  const wanted = asciiLower(alias);
  const tables = new Map<string, { readonly schema: string; readonly name: string }>();
  const queries = new Set<string>();
  for (const { type, alias: given, catalog_name, schema_name, table_name, key } of nodesOf(tree)) {
    if (typeof key === 'string') queries.add(asciiLower(key));
    else if (type === 'BASE_TABLE') {
      if (asciiLower(String(given ?? table_name)) !== wanted) continue;
      const named = {
        catalog: nameIn(catalog_name),
        schema: nameIn(schema_name),
        name: asciiLower(String(table_name)),
      };
      const schema = schemaOf(named);
      tables.set(`${schema}.${named.name}`, { schema, name: named.name });
    } else if (type === 'SUBQUERY' && typeof given === 'string') queries.add(asciiLower(given));
  }
  const [table] = tables.values();
  return tables.size !== 1 || table === undefined || queries.has(wanted) || queries.has(table.name) ? undefined : table;
}
