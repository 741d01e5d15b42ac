import type { Statement } from '../../../../core/sql.ts';
import { checkWritable } from './table-access.ts';
import type { TokenCursor } from './token-cursor.ts';

/** DROP TABLE [IF EXISTS] name [CASCADE | RESTRICT] */
export function drop(cursor: TokenCursor): Statement {
  cursor.takes('drop', 'table');
  const ifAbsent = cursor.takes('if', 'exists') ? 'ignore' : 'fail';
  const { position } = cursor;
  const table = cursor.takeTableName();
  checkWritable(table, position);
  if (!cursor.takes('cascade')) cursor.takes('restrict');
  if (!cursor.done) throw cursor.unexpected('the end of the statement (one table at a time)');
  return { kind: 'drop', table, ifAbsent };
}
