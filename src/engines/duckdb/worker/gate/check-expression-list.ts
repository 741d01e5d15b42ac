import { AppError } from '../../../../core/app-error.ts';
import { bytePosition, type TreeNode } from './parse-tree.ts';

/** Refuses a tree that is not that of so many expressions, each a value alone. Positions are offsets of bytes. */
export function checkExpressionList(statement: TreeNode, count: number): void {
  const node = statement.node as TreeNode;
  const { type, select_list: list, from_table: from, aggregate_handling, ...rest } = node;
  const isPlain = type === 'SELECT_NODE' && (from === undefined || (from as TreeNode).type === 'EMPTY');
  if (!isPlain || Object.keys(rest).length > 0 || !Array.isArray(list) || list.length !== count)
    throw new AppError('sql_error', 'expected one expression');
  const pending: unknown[] = [...list];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    refuseBeyondRow(value as TreeNode);
    for (const part of Object.values(value)) pending.push(part);
  }
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
    position: bytePosition(node),
  });
}
