import { AppError } from '../../../../../core/errors/app-error.ts';
import { nodesOf, positionOf, type TreeNode } from './parse-tree.ts';

/** Refuses a tree that is not a list of `count` expressions, each a value alone. */
export function checkExpressionList(statement: TreeNode, count: number): void {
  const node = statement.node as TreeNode;
  const { type, select_list: list, from_table: from, aggregate_handling, ...rest } = node;
  const isPlain = type === 'SELECT_NODE' && (from === undefined || (from as TreeNode).type === 'EMPTY');
  if (!isPlain || Object.keys(rest).length > 0 || !Array.isArray(list) || list.length !== count)
    throw new AppError('sql_error', 'expected one expression');
  for (const each of nodesOf(list)) refuseBeyondRow(each);
}

const beyondRow: Readonly<Record<string, string>> = {
  SUBQUERY: 'a subquery',
  PARAMETER: 'a parameter',
  POSITIONAL_REFERENCE: 'the number of a column',
  WINDOW: 'a window',
  STAR: 'a star',
};

function refuseBeyondRow(node: TreeNode): void {
  const what = typeof node.class === 'string' ? beyondRow[node.class] : undefined;
  if (what === undefined) return;
  throw new AppError('sql_error', `${what} cannot stand in DEFAULT, CHECK or a generated column`, {
    position: positionOf(node),
  });
}
