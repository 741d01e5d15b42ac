import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Query, Statement, TableName } from '../../../../../core/sql/sql.ts';
import { isSameName } from '../../../../../core/text/ascii-lower.ts';
import { SourceText } from '../../../../../core/text/source-text.ts';
import type { Token, TokenizedText } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import { refuseStatement } from '../rules/refused-statements.ts';
import { checkCreatable } from '../rules/table-access.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import { definedTable, repeatedColumn } from './column-definitions.ts';

/** CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] name, then [(column, …)] AS query [WITH [NO] DATA] or (column type, …). */
export async function createTable(cursor: StatementCursor, text: TokenizedText, gate: GateText): Promise<Statement> {
  const { head } = takeCreate(cursor, text, 'table');
  const created = { kind: 'createTable', table: takeCreatable(cursor), ...head } as const;
  if (cursor.seesMark('(') && !seesNamesBeforeAs(cursor)) return { ...created, ...(await definedTable(cursor, gate)) };
  const names = cursor.seesMark('(') ? takeNames(cursor) : [];
  return { ...created, query: await asQuery(cursor, names, text, gate) };
}

interface CreateHead {
  readonly ifTaken: 'fail' | 'replace' | 'keep';
  readonly isTemporary?: true;
}

/** Whether CREATE [OR REPLACE] [TEMP] with one of these words stands here. */
export function seesCreate(cursor: StatementCursor, ...kinds: readonly string[]): boolean {
  const ahead = cursor.sees('create', 'or', 'replace') ? 3 : 1;
  const isTemporary = ['temp', 'temporary'].includes(cursor.peek(ahead)?.word ?? '');
  return cursor.sees('create') && kinds.includes(cursor.peek(isTemporary ? ahead + 1 : ahead)?.word ?? '');
}

/** CREATE [OR REPLACE] [TEMP] kind [IF NOT EXISTS] */
export function takeCreate(
  cursor: StatementCursor,
  { tokens }: TokenizedText,
  ...kinds: readonly string[]
): { readonly kind: string | undefined; readonly head: CreateHead } {
  const { position } = cursor;
  cursor.takes('create');
  const replace = cursor.takes('or', 'replace');
  const isTemporary = cursor.takes('temp') || cursor.takes('temporary');
  const kind = kinds.find((each) => cursor.takes(each));
  if (kind === undefined) refuseStatement(tokens);
  const keep = cursor.takes('if', 'not', 'exists');
  if (replace && keep) throw new AppError('sql_error', 'OR REPLACE and IF NOT EXISTS exclude each other', { position });
  const ifTaken = replace ? 'replace' : keep ? 'keep' : 'fail';
  return { kind, head: { ifTaken, ...(isTemporary && { isTemporary }) } };
}

export function takeCreatable(cursor: StatementCursor): TableName {
  const { position } = cursor;
  const table = cursor.takeTableName();
  checkCreatable(table, position);
  return table;
}

/** Whether the parentheses that begin here hold names alone, and AS follows them. */
function seesNamesBeforeAs(cursor: StatementCursor): boolean {
  let ahead = 1;
  while (cursor.seesMark(',', ahead + 1)) ahead += 2;
  return cursor.seesMark(')', ahead + 1) && cursor.peek(ahead + 2)?.word === 'as';
}

function takeNames(cursor: StatementCursor): readonly string[] {
  const names = cursor.takeNames();
  const first = (name: string): number => names.findIndex((other) => isSameName(other.name, name));
  const repeated = names.find(({ name }, index) => first(name) < index);
  if (repeated !== undefined) throw repeatedColumn(repeated.name, repeated.position);
  return names.map(({ name }) => name);
}

async function asQuery(
  cursor: StatementCursor,
  names: readonly string[],
  statement: TokenizedText,
  gate: GateText,
): Promise<Query> {
  if (!cursor.takes('as')) throw cursor.unexpected('AS and a query, or the columns in parentheses');
  const { position } = cursor;
  const { end, noData } = queryEnd(statement.tokens);
  if (end <= position) throw cursor.unexpected('a query');
  const written = SourceText.partOf(statement, position, end);
  const catalogs = { mayReadCatalogs: true } as const;
  const query = await gate(written, catalogs);
  if (!noData && names.length === 0) return query;
  const alias = names.length === 0 ? '' : ` AS "the query" (${names.map(sqlName).join(', ')})`;
  const renamed = new SourceText().ours('SELECT * FROM (').add(written.segments).ours(`)${alias}`);
  return await gate(noData ? renamed.ours(' LIMIT 0') : renamed, catalogs);
}

/** The end of the query, and whether WITH NO DATA follows it. */
function queryEnd(tokens: readonly Token[]): { end: number; noData: boolean } {
  const ends = (...words: string[]): boolean =>
    words.every((word, index) => tokens[tokens.length - words.length + index]?.word === word);
  const noData = ends('with', 'no', 'data');
  const dropped = noData ? 3 : ends('with', 'data') ? 2 : 0;
  return { end: tokens[tokens.length - dropped - 1]?.end ?? 0, noData };
}
