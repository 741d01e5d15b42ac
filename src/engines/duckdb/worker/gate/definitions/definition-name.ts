import { sqlString } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { isDefinitionName } from '../../../../../core/sql/definition.ts';
import { framesCatalog } from '../../../../../core/sql/sql.ts';
import { sharedSchema } from '../../../../../core/sql/table-name.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { allowedTypeNames, suggestedTypeNames } from '../rules/check-type.ts';
import { refusalOf } from '../rules/function-rules.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import { listOf, parseTree, type TreeNode } from '../tree/parse-tree.ts';

/** The name of a macro or type, which is in no schema but that of the caller's frames. */
export function takeDefinitionName(
  cursor: StatementCursor,
  what: 'macro' | 'type',
): { name: string; position: number } {
  const { position } = cursor;
  const named = cursor.takeTableName(`the name of a ${what}`);
  const isElsewhere = named.catalog !== undefined && asciiLower(named.catalog) !== framesCatalog;
  if (isElsewhere || sharedSchema(named) !== undefined) {
    throw new AppError('sql_forbidden', `a ${what} is in no schema of another name`, {
      hint: `name it ${JSON.stringify(named.name)} alone`,
      position,
    });
  }
  if (isDefinitionName(named.name)) return { name: named.name, position };
  throw new AppError('sql_error', `${JSON.stringify(named.name.slice(0, 140))} is no name for a ${what}`, {
    hint: 'use 1 to 128 letters (A to Z), digits and _, and no digit first',
    position,
  });
}

/** Functions of DuckDB's own keep their meaning. */
export async function refuseBuiltInFunction(connection: Connection, name: string, position: number): Promise<void> {
  const wanted = asciiLower(name);
  const isKnown = refusalOf(wanted) !== undefined || (await isListed(connection, 'functions', wanted));
  if (!isKnown && (await isPlainCall(connection, wanted))) return;
  throw builtIn('function', name, position);
}

export async function refuseBuiltInType(connection: Connection, name: string, position: number): Promise<void> {
  const wanted = asciiLower(name);
  const isKnown =
    allowedTypeNames.has(wanted) ||
    suggestedTypeNames.includes(wanted) ||
    (await isListed(connection, 'types', wanted));
  if (!isKnown && (await isPlainType(connection, wanted))) return;
  throw builtIn('type', name, position);
}

async function isListed(connection: Connection, what: 'functions' | 'types', name: string): Promise<boolean> {
  const column = what === 'functions' ? 'function_name' : 'type_name';
  const found = `SELECT 1 AS found FROM duckdb_${what}() WHERE lower(${column}) = ${sqlString(name)} LIMIT 1`;
  return (await connection.rows(found)).length > 0;
}

/** Some names are words of DuckDB's grammar. */
async function isPlainCall(connection: Connection, name: string): Promise<boolean> {
  const call = await firstColumn(connection, `SELECT ${name}(NULL)`);
  const children = call?.children;
  return call?.class === 'FUNCTION' && call.function_name === name && Array.isArray(children) && children.length === 1;
}

async function isPlainType(connection: Connection, name: string): Promise<boolean> {
  const cast = await firstColumn(connection, `SELECT NULL::${name}`);
  const info = (cast?.cast_type as TreeNode | undefined)?.type_info as TreeNode | undefined;
  return info?.name === name;
}

async function firstColumn(connection: Connection, sql: string): Promise<TreeNode | undefined> {
  try {
    const node = (await parseTree(connection, sql))?.node as TreeNode | undefined;
    return listOf(node?.select_list)[0];
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function builtIn(what: 'function' | 'type', name: string, position: number): AppError {
  return new AppError('sql_forbidden', `${name} is a ${what} of SQL, which keeps its meaning`, {
    hint: `choose another name, such as my_${name}`,
    position,
  });
}
