import { AppError } from '../../../../core/app-error.ts';
import type { Query, Statement } from '../../../../core/sql.ts';
import { columnsQuery } from './column-definitions.ts';
import type { GateText } from './gate-query.ts';
import { refuseStatement } from './refused-statements.ts';
import { checkWritable } from './table-access.ts';
import { isWord, type TokenCursor } from './token-cursor.ts';
import type { Token, TokenizedStatement } from './tokenizer.ts';

/** CREATE [OR REPLACE] TABLE [IF NOT EXISTS] name, then AS query [WITH [NO] DATA] or (column type, …). */
export async function createTable(cursor: TokenCursor, text: TokenizedStatement, gate: GateText): Promise<Statement> {
  const { position } = cursor;
  cursor.takes('create');
  const replace = cursor.takes('or', 'replace');
  if (!cursor.takes('table')) refuseStatement(text.tokens);
  const keep = cursor.takes('if', 'not', 'exists');
  if (replace && keep) throw new AppError('sql_error', 'OR REPLACE and IF NOT EXISTS exclude each other', { position });
  const tableAt = cursor.position;
  const table = cursor.takeTableName();
  checkWritable(table, tableAt);
  const ifTaken = replace ? 'replace' : keep ? 'keep' : 'fail';
  const query = cursor.seesMark('(') ? await columnsQuery(cursor, gate) : await asQuery(cursor, text, gate);
  return { kind: 'createTable', table, ifTaken, query };
}

async function asQuery(cursor: TokenCursor, { sql, tokens }: TokenizedStatement, gate: GateText): Promise<Query> {
  if (!cursor.takes('as')) throw cursor.unexpected('AS and a query, or the columns in parentheses');
  const { position } = cursor;
  const { end, noData } = queryEnd(tokens);
  if (end <= position) throw cursor.unexpected('a query');
  const query = await gate(sql.slice(position, end), (at) => position + at);
  if (!noData) return query;
  const head = 'SELECT * FROM (';
  return await gate(`${head}${query.sql}) LIMIT 0`, (at) => position + at - head.length);
}

/** Where the query ends, and whether WITH NO DATA follows it. */
function queryEnd(tokens: readonly Token[]): { end: number; noData: boolean } {
  const ends = (...words: string[]): boolean =>
    words.every((word, index) => isWord(tokens[tokens.length - words.length + index], word));
  const noData = ends('with', 'no', 'data');
  const dropped = noData ? 3 : ends('with', 'data') ? 2 : 0;
  return { end: tokens[tokens.length - dropped - 1]?.end ?? 0, noData };
}
