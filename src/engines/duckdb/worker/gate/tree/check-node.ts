import { AppError } from '../../../../../core/errors/app-error.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import { checkLiveCall } from '../live/gated-reads.ts';
import { isLiveQuery } from '../live/live-queries.ts';
import { checkFunction, checkTableFunction, type Use } from '../rules/check-function.ts';
import { checkType } from '../rules/check-type.ts';
import { aggregateFunctions } from '../rules/function-rules.ts';
import { isNode, positionOf, type TreeNode } from './parse-tree.ts';
import { type Place, withEntries } from './walk.ts';

/** A clause whose expressions are values of one row. */
export type ClauseOfRow = 'RETURNING' | 'DO UPDATE';

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
  `BASE_TABLE SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE EMPTY EXPRESSION_LIST JOIN PIVOT SUBQUERY
  DISTINCT_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER ORDER_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING
  ANY_TYPE_INFO ARRAY_TYPE_INFO DECIMAL_TYPE_INFO ENUM_TYPE_INFO GENERIC_TYPE_INFO LIST_TYPE_INFO STRING_TYPE_INFO
  STRUCT_TYPE_INFO UNBOUND_TYPE_INFO USER_TYPE_INFO`.split(/\s+/),
);

export interface NodeRules {
  readonly text: TokenizedText;
  /** Each DEFAULT that may stand. */
  readonly defaults: ReadonlySet<unknown>;
  /** Each row comes from one row, for this clause. */
  readonly isOfEachRow: ClauseOfRow | undefined;
}

/** Refuses a node that is not of a known kind, and every function and type that is not on its allow list. */
export function checkNode(node: TreeNode, { depth, nested }: Place, { text, defaults, isOfEachRow }: NodeRules): Use {
  if (depth > maxDepth || nested > maxNested) {
    throw new AppError('sql_error', 'the statement is nested too deeply', {
      hint: 'split it into several, or use WITH',
    });
  }
  let use: Use = 'anywhere';
  if (typeof node.id === 'string') checkType(node, text);
  if (typeof node.class === 'string') {
    if (!defaults.has(node)) use = checkExpression(node);
    if (isOfEachRow !== undefined) refuseBeyondRow(node, isOfEachRow);
  } else if (node.type === 'TABLE_FUNCTION') use = checkTable(node);
  else if (node.type === 'SHOW_REF') use = checkShow(node);
  else if (typeof node.type === 'string' && !plainTypes.has(node.type)) throw unknownPart(node);
  if (node.pivot_enum !== undefined) {
    throw new AppError('sql_forbidden', 'PIVOT … IN with the name of a type is not allowed', {
      hint: 'list the values: IN (…)',
    });
  }
  if (node.cte_map !== undefined) for (const { key } of withEntries(node)) checkOwnName(key);
  return use;
}

function checkExpression(node: TreeNode): Use {
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

/** A function in FROM. */
function checkTable(node: TreeNode): Use {
  if (!isNode(node.function)) throw unknownPart(node);
  if (!isLiveQuery(node.function)) return checkTableFunction(node.function);
  checkLiveCall(node, positionOf(node));
  return 'anywhere';
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
function checkShow(node: TreeNode): Use {
  if (isNode(node.query) && (node.show_type === 'DESCRIBE' || node.show_type === 'SUMMARY')) return 'anywhere';
  if (node.query === undefined && node.show_type === 'SHOW_FROM') return 'catalogs';
  if (node.query === undefined && node.show_type === 'SHOW_UNQUALIFIED' && catalogLists.has(String(node.table_name)))
    return 'catalogs';
  throw new AppError('sql_forbidden', 'this list is not available here', {
    hint: 'SHOW TABLES, as a statement of its own, lists the frames; DESCRIBE "x" the columns of one',
  });
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
