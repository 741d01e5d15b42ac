import { AppError } from '../../../../../core/errors/app-error.ts';
import { settingName } from '../../../../../core/sql/statement-settings.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { notOnList } from '../../../../../core/text/function-lists.ts';
import { listOf, positionOf, type TreeNode } from '../tree/parse-tree.ts';
import {
  allowedFunctions,
  allowedTableFunctions,
  catalogFunctions,
  catalogTableFunctions,
  refusalOf,
} from './function-rules.ts';

/** Whether a function is allowed, and only where catalogs are read. */
export type Use = 'anywhere' | 'catalogs';

/** Refuses a call in an expression of a function that is not allowed. */
export function checkFunction(call: TreeNode): Use {
  const name = asciiLower(String(call.function_name));
  if (name === 'current_setting' && readsSetting(call)) return 'anywhere';
  if (catalogFunctions.has(name)) return 'catalogs';
  if (!allowedFunctions.has(name)) throw notOnList(name, 'values', lists, positionOf(call));
  if (name.endsWith('_structure') && call.schema !== undefined) throw qualifiedStructure(name, call);
  if (call.export_state === true) throw exportedState(call);
  if (takesJsonStructure.has(name)) checkJsonStructure(call);
  return 'anywhere';
}

/** A call of current_setting on a setting that callers may set: its name must be a literal. */
function readsSetting(call: TreeNode): boolean {
  const [argument, ...others] = listOf(call.children);
  if (argument?.class !== 'CONSTANT' || others.length > 0) return false;
  const { value } = (argument.value ?? {}) as TreeNode;
  return typeof value === 'string' && settingName(value) !== undefined;
}

/** DuckDB's own would be called, which deeply nested input crashes, and not ours, which checks its input. */
function qualifiedStructure(name: string, call: TreeNode): AppError {
  return new AppError('sql_forbidden', `${name} is not allowed with the name of a schema`, {
    hint: `write ${name}(…)`,
    position: positionOf(call),
  });
}

/** The bytes of a state hold uninitialised memory of the process. */
function exportedState(call: TreeNode): AppError {
  return new AppError('sql_forbidden', 'EXPORT_STATE is not allowed: it shows memory of the server', {
    hint: 'aggregate the rows in one statement',
    position: positionOf(call),
  });
}

/** Refuses a function in FROM that is not allowed. */
export function checkTableFunction(call: TreeNode): Use {
  const name = asciiLower(String(call.function_name));
  if (catalogTableFunctions.has(name)) return 'catalogs';
  if (!allowedTableFunctions.has(name)) throw notOnList(name, 'tables', lists, positionOf(call));
  return 'anywhere';
}

/** The table that a function in FROM reads by its name, as a node of a table. DuckDB makes a text of the name, and reads that. */
export function sourceTable(call: TreeNode): TreeNode | undefined {
  const name = asciiLower(String(call.function_name));
  if (!takesTable.has(name)) return undefined;
  const [source, ...rest] = listOf(call.children);
  const path = source?.class === 'COLUMN_REF' ? (source.column_names as readonly string[]) : [];
  const isPlain = path.length > 0 && path.length <= 3 && path.every((part) => /^[a-z_][a-z0-9_]*$/i.test(part));
  const isNamed = source?.alias !== undefined || rest.some(({ alias }) => isSource(alias));
  if (source === undefined || !isPlain || isNamed) {
    throw new AppError('sql_forbidden', `the first argument of ${name} must be the name of a table`, {
      hint: `write FROM ${name}(trades, price); a name may have letters, digits and _`,
      position: positionOf(source ?? call),
    });
  }
  const [table_name, schema_name, catalog_name] = [...path].reverse();
  return { table_name, schema_name, catalog_name, query_location: source.query_location };
}

const takesTable: ReadonlySet<string> = new Set(['histogram', 'histogram_values']);

function isSource(alias: unknown): boolean {
  return typeof alias === 'string' && asciiLower(alias) === 'source';
}

const lists = { values: allowedFunctions, tables: allowedTableFunctions, refusalOf };

/** Of the structure of JSON. */
const maxLength = 10_000;

/**
 * The second argument of from_json and its like describes a type in JSON. DuckDB reads it by recursion without a
 * limit, so that a computed one ('[' a hundred thousand times) takes the whole process down: it must be a literal.
 */
function checkJsonStructure(call: TreeNode): void {
  const structure = listOf(call.children)[1];
  if (structure === undefined) return;
  const value = structure.class === 'CONSTANT' ? (structure.value as TreeNode | undefined)?.value : undefined;
  if (typeof value === 'string' && value.length <= maxLength && (value.match(/[[{]/g) ?? []).length <= 100) return;
  throw new AppError(
    'sql_forbidden',
    `the structure for ${String(call.function_name)} must be a literal of moderate depth`,
    {
      hint: `for example from_json(column, '{"a": "INTEGER"}')`,
      position: positionOf(call),
    },
  );
}

const takesJsonStructure: ReadonlySet<string> = new Set([
  'from_json',
  'from_json_strict',
  'json_transform',
  'json_transform_strict',
]);
