import { AppError } from '../../../../../core/errors/app-error.ts';
import { type LiveReads, liveFunction, liveSchema } from '../../../../../core/sql/live-read.ts';
import type { SourceText } from '../../../../../core/text/source-text.ts';
import { positionOf, type TreeNode } from '../tree/parse-tree.ts';
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

/** Refuses options that the table in place of `tsdb.query('…')` cannot have. */
export function checkLiveCall({ with_ordinality: ordinality, alias }: TreeNode, position: number | undefined): void {
  if (ordinality === undefined) return;
  throw new AppError('sql_forbidden', `${liveSchema}.${liveFunction} has no WITH ORDINALITY`, {
    hint: `number the rows: row_number() OVER ()${alias === undefined ? '' : `, ${String(alias)}.*`}`,
    position,
  });
}

/** The reads of the external database in a checked statement. */
export function gatedReads(statement: TreeNode, text: SourceText, { tables, queries }: LiveNodes): LiveReads {
  const useOf = liveUses(statement);
  const texts = queries.map(({ call, position }) => argumentOf(call, position));
  const found = queries.length === 0 ? [] : liveQueries(text, texts);
  const schemas = new Map(found.map(({ schema, query }) => [schema, query]));
  if (schemas.size < new Set(texts).size) throw new Error('two queries have the same name');
  return {
    reads: [
      ...tables.map((node) => {
        const [name, at] = [String(node.table_name), positionOf(node)];
        return { schema: liveSchema, name, position: at === undefined ? at : text.nearest(at), ...useOf(node) };
      }),
      ...found.map(({ schema, query, textAt }) => {
        return { schema, name: liveFunction, query, position: text.nearest(textAt), conditions: [] };
      }),
    ],
    edits: found.map((each) => ({ at: each.at, length: each.end - each.at, text: nameInPlace(each) })),
  };
}
