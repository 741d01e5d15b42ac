import type { Statement } from '../../../../core/sql.ts';
import { checkWritable } from './table-access.ts';
import type { TokenCursor } from './token-cursor.ts';

/** DROP TABLE | VIEW [IF EXISTS] name [CASCADE | RESTRICT] */
export function drop(cursor: TokenCursor): Statement {
  cursor.takes('drop');
  const what = cursor.takes('view') ? 'view' : 'table';
  if (what === 'table') cursor.takes('table');
  const ifAbsent = cursor.takes('if', 'exists') ? 'ignore' : 'fail';
  const { position } = cursor;
  const table = cursor.takeTableName();
  checkWritable(table, position);
  if (!cursor.takes('cascade')) cursor.takes('restrict');
  if (!cursor.done) throw cursor.unexpected(`the end of the statement (one ${what} at a time)`);
  return { kind: 'drop', what, table, ifAbsent };
}
