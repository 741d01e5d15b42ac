import { AppError } from '../../../../../core/app-error.ts';
import { type LiveReads, liveFunction, liveSchema } from '../../../../../core/live-read.ts';
import type { TreeNode } from '../parse-tree.ts';
import { argumentOf, liveQueries, nameInPlace } from './live-queries.ts';
import { liveUses } from './live-uses.ts';

/** Nodes of a checked tree that read the external database. */
export interface LiveNodes {
  readonly tables: readonly TreeNode[];
  /** Calls of `tsdb.query`, each with its place. */
  readonly queries: readonly { readonly call: TreeNode; readonly position: number | undefined }[];
}

export function hasLive({ tables, queries }: LiveNodes): boolean {
  return tables.length > 0 || queries.length > 0;
}

/** Refuses what a table in the place of `tsdb.query('…')` cannot have. */
export function checkLiveCall({ with_ordinality: ordinality, alias }: TreeNode, position: number | undefined): void {
  if (ordinality === undefined) return;
  throw new AppError('sql_forbidden', `${liveSchema}.${liveFunction} has no WITH ORDINALITY`, {
    hint: `number the rows: row_number() OVER ()${alias === undefined ? '' : `, ${String(alias)}.*`}`,
    position,
  });
}

/** What a checked statement reads of the external database. `placeOf`: where a node stands in the caller's text. */
export function gatedReads(
  statement: TreeNode,
  sql: string,
  { tables, queries }: LiveNodes,
  placeOf: { readonly node: (node: TreeNode) => number | undefined; readonly offset: (at: number) => number },
): LiveReads {
  const useOf = liveUses(statement);
  const texts = queries.map(({ call, position }) => argumentOf(call, position));
  const found = queries.length === 0 ? [] : liveQueries(sql, texts);
  const schemas = new Map(found.map(({ schema, query }) => [schema, query]));
  if (schemas.size < new Set(texts).size) throw new Error('two queries have the same name');
  return {
    reads: [
      ...tables.map((node) => {
        const name = String(node.table_name);
        return { schema: liveSchema, name, position: placeOf.node(node), ...useOf(node) };
      }),
      ...found.map(({ schema, query, textAt }) => {
        return { schema, name: liveFunction, query, position: placeOf.offset(textAt), conditions: [] };
      }),
    ],
    edits: found.map((each) => ({ at: each.at, text: nameInPlace(each) })),
  };
}
