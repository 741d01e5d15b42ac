import { AppError } from '../../../../../core/errors/app-error.ts';
import { isLiveTable } from '../../../../../core/sql/live-read.ts';
import { isAnalytics, type TableName, targetSchema } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import type { LiveNodes } from '../live/gated-reads.ts';
import { isLiveQuery } from '../live/live-queries.ts';
import { sourceTable, type Use } from '../rules/check-function.ts';
import { checkReadable, isCatalogView } from '../rules/table-access.ts';
import { type ClauseOfRow, checkNode } from './check-node.ts';
import { isNode, listOf, nameIn, nodesOf, positionOf, type TreeNode } from './parse-tree.ts';
import { RowIds, type RowIdUse } from './row-ids.ts';
import { type ViewTextUse, viewTextOf, viewTextsOf } from './view-texts.ts';
import { hasName, type Place, walk } from './walk.ts';

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

export interface TreeRules {
  /** DEFAULT may be a value, as in an INSERT. */
  readonly takesDefault?: boolean;
  /** It reads the frame that the statement changes. */
  readonly hasTarget?: boolean;
  /** It has a PIVOT without a list of its values. */
  readonly isPivoted?: boolean;
  /** Each row of it comes from one row, for this clause: it has no aggregates, windows and subqueries. */
  readonly isOfEachRow?: ClauseOfRow | undefined;
}

/**
 * Walks the whole tree of a query: every node must be of a known kind, every function, table and type on the allow
 * list.
 */
export function checkTree(statement: TreeNode, text: TokenizedText, rules: TreeRules = {}): TreeFacts {
  const { takesDefault = false, isOfEachRow } = rules;
  const nodeRules = { text, defaults: takesDefault ? listedDefaults(statement) : new Set(), isOfEachRow };
  const parameters = new Set<string>();
  const sources = new Sources(rules);
  const rowIds = new RowIds();
  walk(statement, (node, place) => {
    const use = checkNode(node, place, nodeRules);
    if (node.class === 'PARAMETER') parameters.add(String(node.identifier));
    rowIds.visit(node);
    return sources.visit(node, place, use);
  });
  return { ...sources.facts(), parameters, rowIds: rowIds.use(sources.frames) };
}

/** The tables and other sources of rows in a tree. Refuses those that may not be read. */
class Sources {
  /** The nodes of frames. */
  readonly frames = new Set<TreeNode>();
  readonly #rules: TreeRules;
  readonly #tables = new Map<string, TableName>();
  readonly #references: { table: TableName; at: number | undefined }[] = [];
  readonly #viewTexts: (ViewTextUse | undefined)[] = [];
  readonly #selected = new Set<unknown>();
  readonly #liveTables: TreeNode[] = [];
  readonly #liveQueries: LiveNodes['queries'][number][] = [];
  #targets = 0;
  #readsRows = false;
  /** The first use of catalogs. */
  #catalogsAt: number | undefined;

  constructor(rules: TreeRules) {
    this.#rules = rules;
  }

  /** Gives the function of a query of the external database, which has no parts of ours. */
  visit(node: TreeNode, place: Place, use: Use): unknown {
    if (use === 'catalogs') this.#addCatalogs(node);
    for (const item of node.type === 'SELECT_NODE' ? listOf(node.select_list) : []) this.#selected.add(item);
    if (node.type === 'BASE_TABLE') this.#addTable(node, place);
    if (node.type !== 'TABLE_FUNCTION' || !isNode(node.function)) return undefined;
    if (isLiveQuery(node.function)) {
      this.#liveQueries.push({ call: node.function, position: positionOf(node) });
      this.#readsRows ||= !place.isDescribed;
      return node.function;
    }
    // A name of WITH is checked like a table: where DuckDB reads a table by the text of its name, it may not be visible.
    const source = sourceTable(node.function);
    if (source !== undefined) {
      checkReadable(tableOf(source), positionOf(source));
      this.#addTable(source, place);
    }
    return undefined;
  }

  facts(): Omit<TreeFacts, 'parameters' | 'rowIds'> {
    const isCatalogs = this.#catalogsAt !== undefined;
    if (isCatalogs && this.#tables.size + this.#liveQueries.length > 0) throw readsBoth(this.#catalogsAt);
    return {
      tables: [...this.#tables.values()].reverse(),
      references: this.#references,
      readsCatalogs: isCatalogs,
      viewTexts: this.#viewTexts.filter((use) => use !== undefined),
      describesTables: this.#tables.size > 0 && !this.#readsRows,
      live: { tables: this.#liveTables, queries: this.#liveQueries },
    };
  }

  #addCatalogs(node: TreeNode, view?: string): void {
    this.#catalogsAt = Math.min(this.#catalogsAt ?? Infinity, positionOf(node) ?? Infinity);
    const name = view ?? (isNode(node.function) ? String(node.function.function_name) : undefined);
    const text = name === undefined ? viewTextOf(node, this.#selected.has(node)) : viewTextsOf(node, name);
    this.#viewTexts.push(text);
  }

  #addTable(node: TreeNode, { names, isDescribed }: Place): void {
    const { isPivoted = false, hasTarget = false, isOfEachRow } = this.#rules;
    const table = tableOf(node);
    const position = positionOf(node);
    const own = hasName(names, table.name) && table.catalog === undefined;
    // The schema by which a recursive query with USING KEY reads all of its rows so far.
    if (own && (table.schema === undefined || asciiLower(table.schema) === 'recurring')) {
      // DuckDB looks for the values of a PIVOT in a statement of its own, and names of WITH may not be in it.
      if (isPivoted) checkReadable(table, position);
      return;
    }
    // Ours is one of them: one more is the caller's.
    if (hasTarget && table.schema === targetSchema && ++this.#targets === 1) {
      // These rows have other numbers than the frame's.
      if (isOfEachRow === undefined) this.frames.add(node);
      return;
    }
    if (isCatalogView(table)) {
      this.#addCatalogs(node, table.name);
      return;
    }
    checkReadable(table, position);
    if (isLiveTable(table)) this.#liveTables.push(node);
    else if (!isAnalytics(table)) this.frames.add(node);
    this.#readsRows ||= !isDescribed;
    this.#references.push({ table, at: position });
    const key = JSON.stringify(table);
    const before = this.#tables.get(key)?.position ?? Infinity;
    const first = Math.min(before, position ?? Infinity);
    this.#tables.set(key, { ...table, position: Number.isFinite(first) ? first : undefined });
  }
}

/** Each DEFAULT that is a whole value of the list that an INSERT adds. */
function listedDefaults({ node }: TreeNode): ReadonlySet<unknown> {
  const from = isNode(node) ? node.from_table : undefined;
  if (!isNode(from) || from.type !== 'EXPRESSION_LIST' || !Array.isArray(from.values)) return new Set();
  return new Set(from.values.flat().filter((value) => isNode(value) && value.class === 'DEFAULT'));
}

/** Refuses a tree that is not a list of `count` expressions, each a value alone. */
export function checkExpressionList(statement: TreeNode, count: number): void {
  const node = statement.node as TreeNode;
  const { type, select_list: list, from_table: from, aggregate_handling, ...rest } = node;
  const isPlain = type === 'SELECT_NODE' && (from === undefined || (from as TreeNode).type === 'EMPTY');
  if (!isPlain || Object.keys(rest).length > 0 || !Array.isArray(list) || list.length !== count)
    throw new AppError('sql_error', 'expected one expression');
  for (const each of nodesOf(list)) refuseExpression(each);
}

const beyondRow: Readonly<Record<string, string>> = {
  SUBQUERY: 'a subquery',
  PARAMETER: 'a parameter',
  POSITIONAL_REFERENCE: 'the number of a column',
  WINDOW: 'a window',
  STAR: 'a star',
};

function refuseExpression(node: TreeNode): void {
  const what = typeof node.class === 'string' ? beyondRow[node.class] : undefined;
  if (what === undefined) return;
  throw new AppError('sql_error', `${what} cannot stand in DEFAULT, CHECK or a generated column`, {
    position: positionOf(node),
  });
}

/** Catalogs are read where the tables have no rows. */
function readsBoth(position = Infinity): AppError {
  return new AppError('sql_forbidden', 'one statement cannot read catalogs and rows of tables', {
    hint: 'keep what the catalogs say as a frame, and read that one: CREATE TABLE x AS FROM information_schema.columns',
    ...(Number.isFinite(position) && { position }),
  });
}

function tableOf(node: TreeNode): TableName {
  return {
    catalog: nameIn(node.catalog_name),
    schema: nameIn(node.schema_name),
    name: nameIn(node.table_name) ?? '',
  };
}
