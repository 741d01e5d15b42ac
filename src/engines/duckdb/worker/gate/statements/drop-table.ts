import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Statement } from '../../../../../core/sql/sql.ts';
import { checkWritable } from '../rules/table-access.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';

/** DROP TABLE | VIEW [IF EXISTS] name */
export function drop(cursor: StatementCursor): Statement {
  cursor.takes('drop');
  const what = cursor.takes('view') ? 'view' : 'table';
  if (what === 'table') cursor.takes('table');
  const ifAbsent = cursor.takes('if', 'exists') ? 'ignore' : 'fail';
  const { position } = cursor;
  const table = cursor.takeTableName();
  checkWritable(table, position);
  refuseDependents(cursor);
  if (!cursor.done) throw cursor.unexpected(`the end of the statement (one ${what} at a time)`);
  return { kind: 'drop', what, table, ifAbsent };
}

/** CASCADE and RESTRICT: a view neither prevents a drop nor is dropped with its table. */
export function refuseDependents(cursor: StatementCursor): void {
  const word = ['cascade', 'restrict'].find((each) => cursor.sees(each));
  if (word === undefined) return;
  throw new AppError(
    'sql_forbidden',
    `${word.toUpperCase()} is not allowed: a drop neither looks for views nor drops them`,
    {
      hint: 'leave the word out; "reads" of GET /handles tells which views read a frame, and DROP VIEW drops them',
      position: cursor.position,
    },
  );
}
