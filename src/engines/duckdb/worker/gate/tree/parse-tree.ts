import { sqlString } from '@framehold/columns';
import { type Connection, DuckDbError } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { sqlError } from '../errors/sql-error.ts';

/** A node of DuckDB's parse tree. Its `query_location` counts characters of the text. */
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
  const isAscii = Buffer.byteLength(sql) === sql.length;
  if (!isAscii) placeNodes(statement, offsetsOfBytes(sql));
  return statement;
}

/** Moves the places of all nodes. */
export function placeNodes(tree: TreeNode, place: (at: number) => number): void {
  for (const node of nodesOf(tree)) {
    const position = positionOf(node);
    if (position !== undefined) Object.assign(node, { query_location: place(position) });
  }
}

/** All nodes in a part of a tree, however deep, each before those in it. */
export function* nodesOf(part: unknown): Generator<TreeNode, void, undefined> {
  const pending: unknown[] = [part];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (isNode(value)) yield value;
    for (const each of Object.values(value)) if (typeof each === 'object') pending.push(each);
  }
}

export function isNode(value: unknown): value is TreeNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf<T = TreeNode>(value: unknown): readonly T[] {
  return Array.isArray(value) ? value : [];
}

/** The name of a table, schema or database; undefined if it has none. */
export function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** DuckDB writes the value of a literal such as 1e400 in a form that is not JSON. */
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

/** The place of a node in the text; undefined if the parser does not give it. */
export function positionOf(node: TreeNode): number | undefined {
  const position = node.query_location;
  return typeof position === 'number' && Number.isSafeInteger(position) ? position : undefined;
}

/** Offsets of a text by those of its bytes in UTF-8: DuckDB counts bytes or code points, callers UTF-16 units, as JavaScript does. */
function offsetsOfBytes(text: string): (byte: number) => number {
  const offsets = new Uint32Array(Buffer.byteLength(text));
  let byte = 0;
  for (let offset = 0; offset < text.length; ) {
    const codePoint = text.codePointAt(offset) ?? 0;
    const end = byte + (codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x1_0000 ? 3 : 4);
    offsets.fill(offset, byte, end);
    byte = end;
    offset += codePoint > 0xffff ? 2 : 1;
  }
  return (at) => offsets[at] ?? text.length;
}

/** The same by its code points. */
function offsetOfCodePoint(text: string, codePoints: number): number {
  let offset = 0;
  for (let count = 0; count < codePoints && offset < text.length; count++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}
