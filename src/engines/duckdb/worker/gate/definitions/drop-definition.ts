import type { Statement } from '../../../../../core/sql/sql.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import { takeDefinitionName } from './definition-name.ts';

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
