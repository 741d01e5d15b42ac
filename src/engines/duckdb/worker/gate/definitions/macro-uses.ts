import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { isNode, nodesOf, positionOf, type TreeNode } from '../tree/parse-tree.ts';

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
  const pending: unknown[] = [tree];
  const add = (node: TreeNode, kind: MacroUse['kind'], name: string): void => {
    uses.push({
      name,
      position: positionOf(node),
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
      const at = positionOf(node);
      if (node.class === 'WINDOW' && at !== undefined) windows.push(at);
      const name = asciiLower(node.function_name);
      if (macros.has(name)) add(node, 'value', name);
    } else if (node.class === 'COLUMN_REF' && Array.isArray(node.column_names)) {
      const name = asciiLower(String(node.column_names[0]));
      const at = positionOf(node);
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
  return isNode(lhs) && positionOf(lhs) !== undefined && columnsNaming(expr, new Set(names)).length === 0;
}

function columnsNaming(part: unknown, names: ReadonlySet<string>): readonly TreeNode[] {
  return [...nodesOf(part)].filter(
    ({ column_names: path }) => Array.isArray(path) && names.has(asciiLower(String(path[0]))),
  );
}
