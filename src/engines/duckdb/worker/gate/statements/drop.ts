import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Statement } from '../../../../../core/sql/sql.ts';
import { takeDefinitionName } from '../definitions/definition-name.ts';
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

export function seesDropOfDefinition(cursor: StatementCursor): boolean {
  return cursor.sees('drop', 'macro') || cursor.sees('drop', 'function') || cursor.sees('drop', 'type');
}

/** DROP MACRO [TABLE] | FUNCTION [TABLE] | TYPE [IF EXISTS] name [CASCADE | RESTRICT] */
export function dropDefinition(cursor: StatementCursor): Statement {
  cursor.takes('drop');
  const isType = cursor.takes('type');
  if (!isType) cursor.take();
  const isTable = !isType && cursor.takes('table');
  const ifAbsent = cursor.takes('if', 'exists') ? 'ignore' : 'fail';
  const { name } = takeDefinitionName(cursor, isType ? 'type' : 'macro');
  if (!cursor.takes('cascade')) cursor.takes('restrict');
  if (!cursor.done) throw cursor.unexpected(`the end of the statement (one ${isType ? 'type' : 'macro'} at a time)`);
  return { kind: 'undefine', what: isType ? 'type' : isTable ? 'table macro' : 'macro', name, ifAbsent };
}
