import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { isNode, listOf, nodesOf, positionOf, type TreeNode } from '../tree/parse-tree.ts';
import { walk } from '../tree/walk.ts';

/** A use of a macro, or of a parameter of the macro that is being made, in a query's tree. */
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
  const add = (node: TreeNode, kind: MacroUse['kind'], name: string): void => {
    uses.push({
      name,
      position: positionOf(node),
      kind,
      node,
      isColumn: selected.has(node) && node.alias === undefined,
    });
  };
  walk(tree, (node) => {
    for (const item of listOf(node.select_list)) selected.add(item);
    const at = positionOf(node);
    if (node.type === 'TABLE_FUNCTION' && isNode(node.function)) {
      const name = asciiLower(String(node.function.function_name));
      if (macros.has(name)) add({ ...node.function, with_ordinality: node.with_ordinality }, 'table', name);
    } else if (typeof node.class === 'string' && typeof node.function_name === 'string') {
      if (node.class === 'WINDOW' && at !== undefined) windows.push(at);
      const name = asciiLower(node.function_name);
      if (macros.has(name)) add(node, 'value', name);
    } else if (node.class === 'COLUMN_REF' && Array.isArray(node.column_names)) {
      const name = asciiLower(String(node.column_names[0]));
      if (at !== undefined) columns.push(at);
      if (parameters.has(name) && !own.has(node)) add(node, 'parameter', name);
    } else if (node.class === 'LAMBDA') {
      const names = lambdaNames(node.lhs);
      // JSON's arrow has the same tree.
      if (isArrow(node, names)) return undefined;
      for (const column of columnsNaming(node.expr, new Set(names))) own.add(column);
      return node.lhs;
    }
    return undefined;
  });
  return { uses, columns, windows };
}

/** `x -> …` has one, `(x, y) -> …` several. */
function lambdaNames(lhs: unknown): readonly string[] {
  if (!isNode(lhs)) return [];
  if (Array.isArray(lhs.column_names)) return [asciiLower(String(lhs.column_names[0]))];
  return listOf(lhs.children).flatMap(lambdaNames);
}

/** Whether `a -> b` can be no function of `a`. */
function isArrow({ lhs, expr }: TreeNode, names: readonly string[]): boolean {
  return isNode(lhs) && positionOf(lhs) !== undefined && columnsNaming(expr, new Set(names)).length === 0;
}

function columnsNaming(part: unknown, names: ReadonlySet<string>): readonly TreeNode[] {
  return [...nodesOf(part)].filter(
    ({ column_names: path }) => Array.isArray(path) && names.has(asciiLower(String(path[0]))),
  );
}
