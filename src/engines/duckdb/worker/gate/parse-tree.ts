import { AppError } from '../../../../core/app-error.ts';
import { sqlString } from '../../protocol/sql-text.ts';
import { DuckDbError } from '../native/duckdb-error.ts';
import type { Connection } from '../native/session.ts';
import { sqlError } from './sql-error.ts';
import { offsetOfCodePoint } from './text-position.ts';

/** A node of DuckDB's parse tree. */
export type TreeNode = Readonly<Record<string, unknown>>;

interface Serialized {
  readonly error: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly position?: string;
  readonly statements?: readonly TreeNode[];
}

/** DuckDB's own reading of a query; undefined when the text is a statement of another kind. Wrong SQL is `sql_error`. */
export async function parseTree(connection: Connection, sql: string): Promise<TreeNode | undefined> {
  const parsed = await serialize(connection, sql);
  if (parsed.error) {
    if (parsed.error_message?.startsWith('Only SELECT statements')) return undefined;
    throw parseError(parsed, sql);
  }
  const statements = parsed.statements ?? [];
  const [statement] = statements;
  if (statement === undefined) throw new AppError('sql_error', 'the statement is empty', { position: 0 });
  if (statements.length > 1) throw new AppError('sql_error', 'only one statement at a time');
  return statement;
}

/** DuckDB writes the value of a literal such as 1e400 as what JSON does not know. */
const stringOrNotFinite = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;
const finite = (token: string): string => (token.startsWith('"') ? token : 'null');

async function serialize(connection: Connection, sql: string): Promise<Serialized> {
  const call = `json_serialize_sql(${sqlString(sql)}, skip_null := true, skip_empty := true, skip_default := true)`;
  try {
    const [row] = await connection.rows<{ tree: string }>(`SELECT CAST(${call} AS VARCHAR) AS tree`);
    if (row === undefined) throw new Error('json_serialize_sql gives no row');
    return JSON.parse(row.tree.replaceAll(stringOrNotFinite, finite)) as Serialized;
  } catch (error) {
    // Some errors of the parser are thrown instead of answered.
    if (error instanceof DuckDbError && error.isCallers) throw sqlError(new DuckDbError(firstLine(error)), sql);
    throw error;
  }
}

function parseError(parsed: Serialized, sql: string): AppError {
  const message = parsed.error_message ?? 'the statement cannot be parsed';
  if (/^memory exhausted|^Max expression depth/.test(message)) {
    return new AppError('sql_error', 'the statement is nested too deeply', {
      hint: 'split it into several, or use WITH',
    });
  }
  // Unlike the places in the tree, which are offsets of bytes.
  const codePoints = Number(parsed.position);
  return new AppError('sql_error', message, {
    ...(Number.isSafeInteger(codePoints) && { position: offsetOfCodePoint(sql, codePoints) }),
    ...(/^syntax error/.test(message) && { hint: 'the SQL is that of DuckDB' }),
  });
}

function firstLine(error: DuckDbError): string {
  return error.message.split('\n', 1)[0] ?? '';
}

/** Where a node stands in the text, counted in bytes; undefined when the parser does not say. */
export function bytePosition(node: TreeNode): number | undefined {
  const position = node.query_location;
  return typeof position === 'number' && Number.isSafeInteger(position) ? position : undefined;
}
