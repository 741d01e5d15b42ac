import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { isNode, listOf, type TreeNode } from './parse-tree.ts';

/** What is around a node. */
export interface Place {
  /** Names of WITH that are visible. */
  readonly names: WithNames;
  /** Expressions, joins and set operations around it, up to its SELECT. */
  readonly depth: number;
  /** Subqueries used as values, and lambdas, around it. */
  readonly nested: number;
  /** Inside a DESCRIBE, which reads no rows. */
  readonly isDescribed: boolean;
  readonly select: TreeNode | undefined;
}

/** The names of WITH that are visible at a place of a query. A linked list: thousands of names need no copies. */
interface WithNames {
  readonly outer: WithNames | undefined;
  /** The names of one WITH, by their order. */
  readonly order: ReadonlyMap<string, number>;
  /** Number of visible names before this one. */
  readonly before: number;
}

const start: Place = {
  names: { outer: undefined, order: new Map(), before: 0 },
  depth: 0,
  nested: 0,
  isDescribed: false,
  select: undefined,
};

/**
 * Visits all nodes of a query's tree, each before those in it. The function of a table function is no node of its own: its name is
 * not an expression's. `visit` may return a part of the node that is left out.
 */
export function walk(statement: TreeNode, visit: (node: TreeNode, place: Place) => unknown): void {
  const pending: Pending = [[statement, start]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, outer] = next;
    if (Array.isArray(value)) for (const item of value) pending.push([item, outer]);
    else if (isNode(value)) {
      const place = placeOf(value, outer);
      addParts(pending, value, place, visit(value, place));
    }
  }
}

type Pending = [unknown, Place][];

function placeOf(node: TreeNode, place: Place): Place {
  const kind = node.class ?? node.type;
  const isType = typeof node.id === 'string';
  if (node.class === undefined && !isType && kind !== 'JOIN' && kind !== 'SET_OPERATION_NODE') {
    return kind === 'SELECT_NODE' ? { ...place, depth: 0, select: node } : place;
  }
  const isNested = kind === 'LAMBDA' || (kind === 'SUBQUERY' && node.class !== undefined);
  return { ...place, depth: place.depth + 1, nested: place.nested + (isNested ? 1 : 0) };
}

function addParts(pending: Pending, node: TreeNode, place: Place, leftOut: unknown): void {
  let apart: unknown;
  if (node.type === 'TABLE_FUNCTION' && isNode(node.function)) {
    apart = node.function;
    if (apart !== leftOut) pending.push([Object.values(node.function), place]);
  } else if (node.type === 'SHOW_REF') {
    apart = node.query;
    pending.push([apart, { ...place, isDescribed: node.show_type === 'DESCRIBE' }]);
  } else if (node.type === 'RECURSIVE_CTE_NODE') {
    // Its first part does not see the name, its second does.
    apart = node.right;
    pending.push([apart, { ...place, names: withNames(place.names, [String(node.cte_name)]) }]);
  }
  let inner = place;
  if (node.cte_map !== undefined) {
    const entries = withEntries(node);
    const names = withNames(
      place.names,
      entries.map(({ key }) => key),
    );
    inner = { ...place, names };
    // Each name of a WITH sees the names before it.
    for (const [before, { value }] of entries.entries())
      pending.push([value, { ...place, names: { ...names, before } }]);
  }
  for (const value of Object.values(node)) {
    const isPart = typeof value === 'object' && value !== apart && value !== leftOut && value !== node.cte_map;
    if (isPart) pending.push([value, inner]);
  }
}

/** The names of WITH before a query, with their queries. */
export function withEntries({ cte_map: map }: TreeNode): readonly { readonly key: string; readonly value: unknown }[] {
  return listOf(isNode(map) ? map.map : undefined).map(({ key, value }) => {
    if (typeof key !== 'string') throw new Error('unknown form of WITH in the parse tree');
    return { key, value };
  });
}

/** Names that are visible behind a WITH of these names, and (with a smaller `before`) inside of it. */
function withNames(outer: WithNames, names: readonly string[]): WithNames {
  return { outer, order: new Map(names.map((name, index) => [asciiLower(name), index])), before: names.length };
}

export function hasName(names: WithNames, name: string): boolean {
  const wanted = asciiLower(name);
  for (let at: WithNames | undefined = names; at !== undefined; at = at.outer) {
    const place = at.order.get(wanted);
    if (place !== undefined && place < at.before) return true;
  }
  return false;
}
