import { isLiveTable, type LiveCondition, type LiveRead } from '../../../../../core/sql/live-read.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { listOf, nameIn, type TreeNode } from '../tree/parse-tree.ts';
import { walk } from '../tree/walk.ts';
import { conditionsIn, conjuncts } from './live-conditions.ts';
import { limitOf } from './live-limit.ts';

/** The parts of a live table that a statement uses at one place. */
export type LiveUse = Pick<LiveRead, 'columns' | 'conditions' | 'limit' | 'isDescribed'>;

interface Select {
  readonly node: TreeNode;
  /** It uses columns in another way than by their names. */
  usesAll: boolean;
  /** Used by DESCRIBE. */
  readonly isDescribed: boolean;
}

/** A table of FROM, and the joins around it, the outermost first. */
interface Leaf {
  readonly node: TreeNode;
  readonly joins: readonly Step[];
}

interface Step {
  readonly join: TreeNode;
  readonly side: 'left' | 'right';
}

/** The uses of a whole statement. */
interface Survey {
  readonly selects: readonly Select[];
  /** Every part of every name in an expression, and the columns of USING. In lower case. */
  readonly names: ReadonlySet<string>;
  /** Last parts of names, and names before `.*`: if such a name is a table, its row is used. */
  readonly rows: ReadonlySet<string>;
}

const everything: LiveUse = { conditions: [] };

/**
 * The uses of each live table, derived from the statement alone: a column that is not named is not used, and rows that do not meet a
 * condition do not change the result. A table outside of FROM of a SELECT is used as a whole.
 */
export function liveUses(statement: TreeNode): (table: TreeNode) => LiveUse {
  const seen = survey(statement);
  const uses = new Map<TreeNode, LiveUse>();
  for (const select of seen.selects) {
    const leaves = leavesOf(select.node.from_table, []);
    const isWhole = statement.node === select.node;
    for (const leaf of leaves)
      if (isLive(leaf.node)) uses.set(leaf.node, useOf(leaf, leaves, { ...select, isWhole }, seen));
  }
  return (table) => uses.get(table) ?? everything;
}

function useOf(
  leaf: Leaf,
  leaves: readonly Leaf[],
  { node: select, usesAll, isDescribed, isWhole }: Select & { readonly isWhole: boolean },
  { names, rows }: Survey,
): LiveUse {
  const { node, joins } = leaf;
  const isRenamed = node.column_name_alias !== undefined;
  const needsAll = usesAll || isRenamed || rows.has(aliasOf(node)) || joins.some(({ join }) => isNatural(join));
  const conditions = isRenamed ? [] : conditionsOn(leaf, leaves, select);
  // All of WHERE must be among them.
  const written = conjuncts(select.where_clause);
  const isAll = written.every((each) => conditionsIn(each).length > 0) && conditions.length >= written.length;
  const isOnly = leaves.length === 1 && node.sample === undefined && !isRenamed;
  const limit = isOnly && isAll ? limitOf(select, { isWhole }) : undefined;
  return {
    conditions,
    ...(!needsAll && { columns: [...names] }),
    ...(limit !== undefined && { limit }),
    ...(isDescribed && { isDescribed }),
  };
}

function survey(statement: TreeNode): Survey {
  const selects = new Map<TreeNode | undefined, Select>();
  const names = new Set<string>();
  const rows = new Set<string>();
  walk(statement, (node, { select, isDescribed }) => {
    if (node.type === 'SELECT_NODE') selects.set(node, { node, usesAll: false, isDescribed });
    if (node.type === 'JOIN') for (const name of namesOf(node.using_columns)) names.add(name);
    if (node.class === 'COLUMN_REF') {
      const path = namesOf(node.column_names);
      for (const part of path) names.add(part);
      rows.add(path.at(-1) ?? '');
    }
    if (node.class === 'STAR' && typeof node.relation_name === 'string') rows.add(asciiLower(node.relation_name));
    else if (node.class === 'STAR' || node.class === 'POSITIONAL_REFERENCE') {
      const around = selects.get(select);
      if (around !== undefined) around.usesAll = true;
    }
  });
  return { selects: [...selects.values()], names, rows };
}

function leavesOf(from: unknown, joins: readonly Step[]): readonly Leaf[] {
  const node = from as TreeNode | undefined;
  if (node === undefined) return [];
  if (node.type !== 'JOIN') return [{ node, joins }];
  return [
    ...leavesOf(node.left, [...joins, { join: node, side: 'left' }]),
    ...leavesOf(node.right, [...joins, { join: node, side: 'right' }]),
  ];
}

/** The conditions of WHERE, and those of ON of each join around it. */
function conditionsOn(leaf: Leaf, leaves: readonly Leaf[], select: TreeNode): readonly LiveCondition[] {
  // Rows are drawn before WHERE looks at them.
  if (leaf.node.sample !== undefined) return [];
  const meant = columnOf(leaf, leaves);
  const found: LiveCondition[] = [];
  const take = (expression: unknown): void => {
    for (const { path, ...condition } of conjuncts(expression).flatMap(conditionsIn)) {
      const column = meant(path);
      if (column !== undefined) found.push({ column, ...condition });
    }
  };
  if (select.sample === undefined && leaf.joins.every(keepsConditions)) take(select.where_clause);
  for (const [index, step] of leaf.joins.entries()) {
    if (leaf.joins.slice(index + 1).every(keepsConditions) && isHeldToOn(step)) take(step.join.condition);
  }
  return found;
}

/**
 * Whether a row of this side that fails a condition on the join's result may be left out. If the other side is then filled with NULL,
 * the condition does not accept that row either. The right side of ASOF and POSITIONAL would give another row.
 */
function keepsConditions({ join, side }: Step): boolean {
  const type = String(join.join_type ?? 'INNER');
  switch (String(join.ref_type ?? 'REGULAR')) {
    case 'REGULAR':
    case 'CROSS':
    case 'NATURAL':
      return ['INNER', 'LEFT', 'RIGHT', 'FULL'].includes(type) || (side === 'left' && ['SEMI', 'ANTI'].includes(type));
    case 'ASOF':
      return side === 'left' && (type === 'INNER' || type === 'LEFT');
    default:
      return false;
  }
}

/** Whether a row of this side that fails a condition of ON has no part in the join's result. */
function isHeldToOn({ join, side }: Step): boolean {
  if (String(join.ref_type ?? 'REGULAR') !== 'REGULAR') return false;
  const type = String(join.join_type ?? 'INNER');
  return type === 'INNER' || type === (side === 'right' ? 'LEFT' : 'RIGHT');
}

/** The column of the table that a name means; undefined where it may mean another table's. */
function columnOf(leaf: Leaf, leaves: readonly Leaf[]): (path: readonly string[]) => string | undefined {
  const alias = aliasOf(leaf.node);
  const isOnly = leaves.length === 1;
  const isAlone = leaves.every((other) => other === leaf || aliasOf(other.node) !== alias);
  const merged = new Set(leaves.flatMap(({ joins }) => joins).flatMap(({ join }) => namesOf(join.using_columns)));
  const hasNatural = leaves.some(({ joins }) => joins.some(({ join }) => isNatural(join)));
  return (path) => {
    const column = path.at(-1);
    // In a join a name of several tables is an error, unless USING merges them.
    if (path.length === 1) return isOnly || !(hasNatural || merged.has(column ?? '')) ? column : undefined;
    return path.length === 2 && path[0] === alias && isAlone ? column : undefined;
  };
}

function aliasOf({ alias, table_name: name }: TreeNode): string {
  return asciiLower(String(alias ?? name ?? ''));
}

function isNatural({ ref_type: type }: TreeNode): boolean {
  return type === 'NATURAL';
}

function isLive({ type, schema_name: schema, catalog_name: catalog }: TreeNode): boolean {
  return type === 'BASE_TABLE' && isLiveTable({ schema: nameIn(schema), catalog: nameIn(catalog) });
}

function namesOf(value: unknown): readonly string[] {
  return listOf<string>(value).map(asciiLower);
}
