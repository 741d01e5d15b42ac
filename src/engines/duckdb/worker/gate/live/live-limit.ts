import type { LiveLimit } from '../../../../../core/sql/live-read.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { listOf, type TreeNode } from '../tree/parse-tree.ts';

/** More rows are not worth it. */
const mostRows = 1_000_000;
/** Parts of a SELECT in which rows are put together, or which look at more than one row. */
const gathering = ['group_expressions', 'group_sets', 'having', 'qualify', 'sample'];
/** Values of one row alone. Functions may be aggregates. */
const rowValues = new Set(['COLUMN_REF', 'CONSTANT', 'STAR']);

/**
 * The number of rows of its one table that a SELECT needs, if each row that meets its conditions gives one row of the result. Without
 * LIMIT that helps only where the whole result is cut off (`isWhole`).
 */
export function limitOf(select: TreeNode, { isWhole }: { readonly isWhole: boolean }): LiveLimit | undefined {
  const isPlain = gathering.every((part) => select[part] === undefined);
  if (!isPlain || select.aggregate_handling !== 'STANDARD_HANDLING') return undefined;
  const items = listOf(select.select_list);
  if (!items.every(isRowValue)) return undefined;
  const modifiers = [...listOf(select.modifiers)];
  const limit = modifiers.at(-1)?.type === 'LIMIT_MODIFIER' ? modifiers.pop() : undefined;
  if (limit === undefined && !isWhole) return undefined;
  const [rows, offset] = limit === undefined ? [undefined, 0] : [count(limit.limit), countOr0(limit.offset)];
  const isCounted = limit === undefined || (rows !== undefined && offset !== undefined && rows + offset <= mostRows);
  if (!isCounted || modifiers.length > 1) return undefined;
  const needed = rows === undefined ? {} : { rows: rows + (offset ?? 0) };
  if (modifiers.length === 0) return needed;
  const order = orderOf(modifiers[0], items);
  return order && { ...needed, order };
}

function countOr0(expression: unknown): number | undefined {
  return expression === undefined ? 0 : count(expression);
}

function isRowValue(item: TreeNode): boolean {
  if (item.class === 'CAST') return isRowValue(item.child as TreeNode);
  return rowValues.has(String(item.class)) && item.expr === undefined && item.columns !== true;
}

function count(expression: unknown): number | undefined {
  const { class: kind, value } = (expression ?? {}) as TreeNode;
  const { value: number, is_null: isNull } = (value ?? {}) as TreeNode;
  return kind === 'CONSTANT' && isNull !== true && Number.isSafeInteger(number) && Number(number) >= 0
    ? Number(number)
    : undefined;
}

/** By one column whose name is no alias of another value. */
function orderOf(modifier: TreeNode | undefined, items: readonly TreeNode[]): LiveLimit['order'] {
  const [only, ...others] = listOf(modifier?.type === 'ORDER_MODIFIER' ? modifier.orders : undefined);
  const expression = only?.expression as TreeNode | undefined;
  if (only === undefined || others.length > 0 || expression?.class !== 'COLUMN_REF') return undefined;
  const column = asciiLower(listOf<string>(expression.column_names).at(-1) ?? '');
  const isTaken = ({ alias, replace_list: replaced }: TreeNode): boolean =>
    replaced !== undefined || (typeof alias === 'string' && asciiLower(alias) === column);
  if (items.some(isTaken)) return undefined;
  const direction = { ASCENDING: 'ascending', DESCENDING: 'descending' }[String(only.type)] as 'ascending' | undefined;
  return { column, direction: direction ?? 'default' };
}
