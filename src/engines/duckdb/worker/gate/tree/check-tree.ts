import { AppError } from '../../../../../core/errors/app-error.ts';
import { isLiveTable } from '../../../../../core/sql/live-read.ts';
import { isAnalytics, type TableName, targetSchema } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { checkLiveCall, type LiveNodes } from '../live/gated-reads.ts';
import { isLiveQuery } from '../live/live-queries.ts';
import { checkFunction, checkTableFunction, sourceTable } from '../rules/check-function.ts';
import { checkType } from '../rules/check-type.ts';
import { aggregateFunctions } from '../rules/function-rules.ts';
import { checkReadable, isCatalogView } from '../rules/table-access.ts';
import { isNode, nameIn, positionOf, type TreeNode } from './parse-tree.ts';
import { type RowIdUse, rowIdUse } from './row-ids.ts';
import { type ViewTextUse, viewTextOf, viewTextsOf } from './view-texts.ts';
import { hasName, noNames, type WithNames, withNames } from './with-names.ts';

/** The tables and parameters of an allowed query. */
export interface TreeFacts {
  readonly tables: readonly TableName[];
  /** The same each time that they are named. */
  readonly references: readonly { readonly table: TableName; readonly at: number | undefined }[];
  /** Its parameters, as written without the $; `?` are numbered. */
  readonly parameters: ReadonlySet<string>;
  /** Undefined if it does not use row numbers. */
  readonly rowIds: RowIdUse | undefined;
  /** It reads DuckDB's catalogs, and then no table. */
  readonly readsCatalogs: boolean;
  /** Places where it reads the texts of views. */
  readonly viewTexts: readonly ViewTextUse[];
  /** It reads no rows of its tables: each is named only inside a DESCRIBE. */
  readonly describesTables: boolean;
  readonly live: LiveNodes;
}

/** A clause whose expressions are values of one row. */
export type ClauseOfRow = 'RETURNING' | 'DO UPDATE';

interface Scope {
  /** Names of WITH that are visible. */
  readonly names: WithNames;
  readonly depth: number;
  /** Subqueries used as values, and lambdas, around this place. */
  readonly nested: number;
  /** Inside a DESCRIBE, which reads no rows. */
  readonly isDescribed?: boolean;
}

/** DuckDB needs about a second to bind an expression, or a chain of joins, of this depth. */
const maxDepth = 250;
/** Binding takes twice the time with each: a second for 20. */
const maxNested = 16;

const expressionClasses = new Set(
  `BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA OPERATOR PARAMETER
  POSITIONAL_REFERENCE STAR SUBQUERY WINDOW`.split(/\s+/),
);

const operatorTypes = new Set(
  `ARRAY_CONSTRUCTOR ARRAY_EXTRACT ARRAY_SLICE ARROW COMPARE_IN COMPARE_NOT_IN GROUPING_FUNCTION OPERATOR_COALESCE
  OPERATOR_IS_NOT_NULL OPERATOR_IS_NULL OPERATOR_NOT OPERATOR_TRY OPERATOR_UNPACK STRUCT_EXTRACT`.split(/\s+/),
);

/** Types of nodes that are no expressions and need no look of their own: only their parts do. */
const plainTypes = new Set(
  `SELECT_NODE SET_OPERATION_NODE CTE_NODE EMPTY EXPRESSION_LIST JOIN PIVOT SUBQUERY
  DISTINCT_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER ORDER_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING
  ANY_TYPE_INFO ARRAY_TYPE_INFO DECIMAL_TYPE_INFO ENUM_TYPE_INFO GENERIC_TYPE_INFO LIST_TYPE_INFO STRING_TYPE_INFO
  STRUCT_TYPE_INFO UNBOUND_TYPE_INFO USER_TYPE_INFO`.split(/\s+/),
);

/**
 * Walks the whole tree of a query: every node must be of a known kind, every function, table and type on the allow
 * list. `sql`: its text.
 */
export function checkTree(
  statement: TreeNode,
  sql: string,
  {
    takesDefault = false,
    isPivoted = false,
    hasTarget = false,
    isOfEachRow,
  }: {
    readonly takesDefault?: boolean;
    readonly isPivoted?: boolean;
    readonly hasTarget?: boolean;
    readonly isOfEachRow?: ClauseOfRow | undefined;
  } = {},
): TreeFacts {
  const defaults = takesDefault ? listedDefaults(statement) : new Set();
  let targets = 0;
  const tables = new Map<string, TableName>();
  const references: { table: TableName; at: number | undefined }[] = [];
  const parameters = new Set<string>();
  const frames = new Set<TreeNode>();
  const viewTexts: (ViewTextUse | undefined)[] = [];
  const selected = new Set<unknown>();
  let readsRows = false;
  const liveTables: TreeNode[] = [];
  const liveQueries: LiveNodes['queries'][number][] = [];
  /** The first use of catalogs. */
  let catalogsAt: number | undefined;
  const pending: [unknown, Scope][] = [[statement, { names: noNames, depth: 0, nested: 0 }]];

  const askCatalogs = (position = Infinity): void => {
    catalogsAt = Math.min(catalogsAt ?? Infinity, position);
  };

  const visit = (node: TreeNode, outer: Scope): void => {
    const scope = inside(node, outer);
    let skipped: readonly string[] = [];
    if (typeof node.id === 'string') checkType(node, sql);
    if (typeof node.class === 'string') {
      if (!defaults.has(node) && checkExpression(node) === 'catalogs') {
        askCatalogs(positionOf(node));
        viewTexts.push(viewTextOf(node, selected.has(node)));
      }
      if (isOfEachRow !== undefined) refuseBeyondRow(node, isOfEachRow);
      if (node.class === 'PARAMETER') parameters.add(String(node.identifier));
    } else if (typeof node.type === 'string') {
      switch (node.type) {
        case 'BASE_TABLE':
          addTable(node, scope);
          break;
        case 'TABLE_FUNCTION':
          if (!isNode(node.function)) throw unknownPart(node);
          if (isLiveQuery(node.function)) {
            checkLiveCall(node, positionOf(node));
            liveQueries.push({ call: node.function, position: positionOf(node) });
            readsRows ||= scope.isDescribed !== true;
            skipped = ['function'];
            break;
          }
          if (checkTableFunction(node.function) === 'catalogs') {
            askCatalogs(positionOf(node));
            viewTexts.push(viewTextsOf(node, String(node.function.function_name)));
          }
          addSource(node.function, scope);
          // Its name is a table function's, not an expression's; its arguments are expressions.
          pending.push([Object.values(node.function), scope]);
          skipped = ['function'];
          break;
        case 'SELECT_NODE':
          if (Array.isArray(node.select_list)) for (const item of node.select_list) selected.add(item);
          break;
        case 'SHOW_REF':
          if (checkShow(node) === 'catalogs') askCatalogs(positionOf(node));
          pending.push([node.query, { ...scope, isDescribed: node.show_type === 'DESCRIBE' }]);
          skipped = ['query'];
          break;
        case 'RECURSIVE_CTE_NODE':
          // Its first part does not see the name, its second does.
          pending.push([node.right, { ...scope, names: withNames(scope.names, [String(node.cte_name)]) }]);
          skipped = ['right'];
          break;
        default:
          if (!plainTypes.has(node.type)) throw unknownPart(node);
      }
    }
    if (node.pivot_enum !== undefined) {
      throw new AppError('sql_forbidden', 'PIVOT … IN with the name of a type is not allowed', {
        hint: 'list the values: IN (…)',
      });
    }
    const inner = isNode(node.cte_map) ? addNames(node.cte_map, scope) : scope;
    for (const [key, value] of Object.entries(node)) {
      if (key !== 'cte_map' && !skipped.includes(key)) pending.push([value, inner]);
    }
  };

  /** Each name of a WITH sees the names before it. */
  const addNames = (map: TreeNode, scope: Scope): Scope => {
    const entries = (Array.isArray(map.map) ? map.map : []).map(withEntry);
    const names = withNames(
      scope.names,
      entries.map(({ key }) => key),
    );
    for (const [index, { value }] of entries.entries()) {
      pending.push([value, { ...scope, names: { ...names, before: index } }]);
    }
    return { ...scope, names };
  };

  /** A name of WITH is checked like a table: where DuckDB reads a table by the text of its name, it may not be visible. */
  const addSource = (call: TreeNode, scope: Scope): void => {
    const source = sourceTable(call);
    if (source === undefined) return;
    checkReadable(tableOf(source), positionOf(source));
    addTable(source, scope);
  };

  const addTable = (node: TreeNode, scope: Scope): void => {
    const table = tableOf(node);
    const position = positionOf(node);
    const own = hasName(scope.names, table.name) && table.catalog === undefined;
    // The schema by which a recursive query with USING KEY reads all of its rows so far.
    if (own && (table.schema === undefined || asciiLower(table.schema) === 'recurring')) {
      // DuckDB looks for the values of a PIVOT in a statement of its own, and names of WITH may not be in it.
      if (isPivoted) checkReadable(table, position);
      return;
    }
    // Ours is one of them: one more is the caller's.
    if (hasTarget && table.schema === targetSchema && ++targets === 1) {
      // These rows have other numbers than the frame's.
      if (isOfEachRow === undefined) frames.add(node);
      return;
    }
    if (isCatalogView(table)) {
      askCatalogs(position);
      viewTexts.push(viewTextsOf(node, table.name));
      return;
    }
    checkReadable(table, position);
    if (isLiveTable(table)) liveTables.push(node);
    else if (!isAnalytics(table)) frames.add(node);
    readsRows ||= scope.isDescribed !== true;
    references.push({ table, at: position });
    const key = JSON.stringify(table);
    const before = tables.get(key)?.position ?? Infinity;
    const first = Math.min(before, position ?? Infinity);
    tables.set(key, { ...table, position: Number.isFinite(first) ? first : undefined });
  };

  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, scope] = next;
    if (Array.isArray(value)) for (const item of value) pending.push([item, scope]);
    else if (isNode(value)) visit(value, scope);
  }
  if (catalogsAt !== undefined && tables.size + liveQueries.length > 0) throw readsBoth(catalogsAt);
  const rowIds = rowIdUse(statement, frames);
  const readsCatalogs = catalogsAt !== undefined;
  const describesTables = tables.size > 0 && !readsRows;
  const live = { tables: liveTables, queries: liveQueries };
  const texts = viewTexts.filter((use) => use !== undefined);
  const facts = { references, parameters, rowIds, readsCatalogs, viewTexts: texts, describesTables, live };
  return { tables: [...tables.values()].reverse(), ...facts };
}

/** Each DEFAULT that is a whole value of the list that an INSERT adds. */
function listedDefaults({ node }: TreeNode): ReadonlySet<unknown> {
  const from = isNode(node) ? node.from_table : undefined;
  if (!isNode(from) || from.type !== 'EXPRESSION_LIST' || !Array.isArray(from.values)) return new Set();
  return new Set(from.values.flat().filter((value) => isNode(value) && value.class === 'DEFAULT'));
}

function inside(node: TreeNode, scope: Scope): Scope {
  const kind = node.class ?? node.type;
  const isType = typeof node.id === 'string';
  if (node.class === undefined && !isType && kind !== 'JOIN' && kind !== 'SET_OPERATION_NODE') {
    return kind === 'SELECT_NODE' ? { ...scope, depth: 0 } : scope;
  }
  const depth = scope.depth + 1;
  const nested = scope.nested + (kind === 'LAMBDA' || (kind === 'SUBQUERY' && node.class !== undefined) ? 1 : 0);
  if (depth > maxDepth || nested > maxNested) {
    throw new AppError('sql_error', 'the statement is nested too deeply', {
      hint: 'split it into several, or use WITH',
    });
  }
  return { ...scope, depth, nested };
}

function checkExpression(node: TreeNode): 'anywhere' | 'catalogs' {
  const kind = String(node.class);
  if (kind === 'DEFAULT') {
    throw new AppError('sql_error', 'DEFAULT can only stand for a value of an INSERT', {
      hint: 'write NULL or the value itself',
    });
  }
  if (!expressionClasses.has(kind)) throw unknownPart(node);
  if (kind === 'OPERATOR' && !operatorTypes.has(String(node.type))) throw unknownPart(node);
  return typeof node.function_name === 'string' ? checkFunction(node) : 'anywhere';
}

/** The clause is computed for each row. */
function refuseBeyondRow(node: TreeNode, clause: ClauseOfRow): void {
  const isAggregate = node.class === 'FUNCTION' && aggregateFunctions.has(asciiLower(String(node.function_name)));
  const what = isAggregate ? 'aggregate' : node.class === 'WINDOW' ? 'window' : 'subquery';
  if (what === 'subquery' && node.class !== 'SUBQUERY') return;
  throw new AppError('sql_error', `${clause} takes no ${what}`, {
    hint: 'read the table in a statement of its own',
    position: positionOf(node),
  });
}

/** The lists of SHOW, as the tree names them: SHOW TABLES, SHOW ALL TABLES, SHOW DATABASES, SHOW SCHEMAS. */
const catalogLists = new Set(['"tables"', '__show_tables_expanded', '"databases"', '"schemas"']);

/** DESCRIBE and SUMMARIZE carry the query that they are about; the lists (SHOW DATABASES …) do not. */
function checkShow(node: TreeNode): 'anywhere' | 'catalogs' {
  if (isNode(node.query) && (node.show_type === 'DESCRIBE' || node.show_type === 'SUMMARY')) return 'anywhere';
  if (node.query === undefined && node.show_type === 'SHOW_FROM') return 'catalogs';
  if (node.query === undefined && node.show_type === 'SHOW_UNQUALIFIED' && catalogLists.has(String(node.table_name)))
    return 'catalogs';
  throw new AppError('sql_forbidden', 'this list is not available here', {
    hint: 'SHOW TABLES, as a statement of its own, lists the frames; DESCRIBE "x" the columns of one',
  });
}

/** Catalogs are read where the tables have no rows. */
function readsBoth(position: number): AppError {
  return new AppError('sql_forbidden', 'one statement cannot read catalogs and rows of tables', {
    hint: 'keep what the catalogs say as a frame, and read that one: CREATE TABLE x AS FROM information_schema.columns',
    ...(Number.isFinite(position) && { position }),
  });
}

function withEntry(entry: unknown): { key: string; value: unknown } {
  if (!isNode(entry) || typeof entry.key !== 'string') throw new Error('unknown form of WITH in the parse tree');
  checkOwnName(entry.key);
  return { key: entry.key, value: entry.value };
}

/** If a name of WITH is ever taken for a table by mistake, it must not be a name that DuckDB opens as a file. */
function checkOwnName(name: string): void {
  if (!/[./\\:*?[\]]/.test(name)) return;
  throw new AppError('sql_forbidden', `${JSON.stringify(name)} is not allowed as a name of WITH`, {
    hint: 'use letters, digits and _',
  });
}

function unknownPart(node: TreeNode): AppError {
  return new AppError('sql_forbidden', `${String(node.class ?? node.type)} is not supported here`, {
    position: positionOf(node),
  });
}

function tableOf(node: TreeNode): TableName {
  return {
    catalog: nameIn(node.catalog_name),
    schema: nameIn(node.schema_name),
    name: nameIn(node.table_name) ?? '',
  };
}
