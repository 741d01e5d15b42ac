import { AppError } from '../../../../core/app-error.ts';
import { bytePosition, type TreeNode } from './parse-tree.ts';

const maxLength = 10_000;

/**
 * The second argument of from_json and its like describes a type in JSON. DuckDB reads it by recursion without a
 * limit, so that a computed one ('[' a hundred thousand times) takes the whole process down: it must be a literal.
 */
export function checkJsonStructure(call: TreeNode): void {
  const structure = (call.children as readonly TreeNode[] | undefined)?.[1];
  if (structure === undefined) return;
  const value = structure.class === 'CONSTANT' ? (structure.value as TreeNode | undefined)?.value : undefined;
  if (typeof value === 'string' && value.length <= maxLength && (value.match(/[[{]/g) ?? []).length <= 100) return;
  throw new AppError(
    'sql_forbidden',
    `the structure for ${String(call.function_name)} must be a literal of moderate depth`,
    {
      hint: `for example from_json(column, '{"a": "INTEGER"}')`,
      position: bytePosition(call),
    },
  );
}

export const takesJsonStructure: ReadonlySet<string> = new Set([
  'from_json',
  'from_json_strict',
  'json_transform',
  'json_transform_strict',
]);
