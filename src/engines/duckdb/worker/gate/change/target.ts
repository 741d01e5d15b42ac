import { checkWritable } from '../rules/table-access.ts';
import { nameOf, type StatementCursor } from '../text/statement-cursor.ts';
import type { Target } from './composed-text.ts';

/** name [[AS] alias]; `ends`: words behind it that are no alias. */
export function takeTarget(cursor: StatementCursor, ...ends: readonly string[]): Target {
  const { position } = cursor;
  const table = cursor.takeTableName();
  checkWritable(table, position);
  if (cursor.takes('as')) return { table, alias: cursor.takeName('another name for the table') };
  const token = cursor.peek();
  const isEnd = token === undefined || ends.includes(token.word);
  const alias = isEnd ? undefined : nameOf(token);
  if (alias === undefined) return { table, alias: table.name };
  cursor.take();
  return { table, alias };
}
