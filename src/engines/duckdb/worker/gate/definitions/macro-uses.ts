import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { bytePosition, type TreeNode } from '../parse-tree.ts';

/** Where the tree of a query names a macro, or a parameter of the one that is being made. Positions are offsets of bytes. */
export interface MacroUse {
  /** In lower case. */
  readonly name: string;
  readonly position: number | undefined;
  readonly kind: 'value' | 'table' | 'parameter';
  readonly node: TreeNode;
  /** It is a whole column of a SELECT that gives it no name. */
  readonly isColumn: boolean;
}

export interface MacroUses {
  readonly uses: readonly MacroUse[];
  /** Positions of all names of columns, and of all window functions. */
  readonly columns: readonly number[];
  readonly windows: readonly number[];
}

export function macroUses(
  tree: TreeNode,
  { macros, parameters }: { readonly macros: ReadonlySet<string>; readonly parameters: ReadonlySet<string> },
): MacroUses {
  const uses: MacroUse[] = [];
  const columns: number[] = [];
  const windows: number[] = [];
  /** Names in a lambda that are its own. */
  const own = new Set<unknown>();
  const selected = new Set<unknown>();
  const pending: unknown[] = [tree];
  const add = (node: TreeNode, kind: MacroUse['kind'], name: string): void => {
    uses.push({
      name,
      position: bytePosition(node),
      kind,
      node,
      isColumn: selected.has(node) && node.alias === undefined,
    });
  };
  const visit = (node: TreeNode): void => {
    const skipped = new Set<unknown>();
    if (Array.isArray(node.select_list)) for (const item of node.select_list) selected.add(item);
    if (node.type === 'TABLE_FUNCTION' && isNode(node.function)) {
      const name = asciiLower(String(node.function.function_name));
      if (macros.has(name)) add({ ...node.function, with_ordinality: node.with_ordinality }, 'table', name);
      pending.push(...Object.values(node.function));
      skipped.add(node.function);
    } else if (typeof node.class === 'string' && typeof node.function_name === 'string') {
      const at = bytePosition(node);
      if (node.class === 'WINDOW' && at !== undefined) windows.push(at);
      const name = asciiLower(node.function_name);
      if (macros.has(name)) add(node, 'value', name);
    } else if (node.class === 'COLUMN_REF' && Array.isArray(node.column_names)) {
      const name = asciiLower(String(node.column_names[0]));
      const at = bytePosition(node);
      if (at !== undefined) columns.push(at);
      if (parameters.has(name) && !own.has(node)) add(node, 'parameter', name);
    } else if (node.class === 'LAMBDA') {
      const names = lambdaNames(node.lhs);
      // JSON's arrow has the same tree.
      if (!isArrow(node, names)) {
        for (const column of columnsNaming(node.expr, new Set(names))) own.add(column);
        skipped.add(node.lhs);
      }
    }
    for (const value of Object.values(node)) if (!skipped.has(value)) pending.push(value);
  };
  for (let next = pending.pop(); next !== undefined || pending.length > 0; next = pending.pop()) {
    if (Array.isArray(next)) pending.push(...next);
    else if (isNode(next)) visit(next);
  }
  return { uses, columns, windows };
}

/** `x -> …` has one, `(x, y) -> …` several. */
function lambdaNames(lhs: unknown): readonly string[] {
  if (!isNode(lhs)) return [];
  if (Array.isArray(lhs.column_names)) return [asciiLower(String(lhs.column_names[0]))];
  return (Array.isArray(lhs.children) ? lhs.children : []).flatMap(lambdaNames);
}

/** Whether `a -> b` can be no function of `a`. */
function isArrow({ lhs, expr }: TreeNode, names: readonly string[]): boolean {
  return isNode(lhs) && bytePosition(lhs) !== undefined && columnsNaming(expr, new Set(names)).length === 0;
}

function columnsNaming(value: unknown, names: ReadonlySet<string>): readonly TreeNode[] {
  if (Array.isArray(value)) return value.flatMap((each) => columnsNaming(each, names));
  if (!isNode(value)) return [];
  const isColumn = Array.isArray(value.column_names) && names.has(asciiLower(String(value.column_names[0])));
  return [...(isColumn ? [value] : []), ...Object.values(value).flatMap((each) => columnsNaming(each, names))];
}

function isNode(value: unknown): value is TreeNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
