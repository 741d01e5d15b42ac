import { AppError } from '../../../core/errors/app-error.ts';
import type { ParseContext } from './parse-context.ts';
import { readExpression } from './read-expression.ts';
import { readList, readNamed } from './read-group.ts';
import { readTableAlias } from './relation-clauses.ts';
import type { SparkCursor } from './spark-cursor.ts';
import type { SparkToken } from './tokenizer.ts';

/** VALUES row, … [alias]. Spark takes `VALUES x` for a table of that name where one fits, so the first row is no name. */
export function readValues(reading: ParseContext): void {
  refuseNameAsRow(reading.cursor);
  readList(reading, readExpression);
  readTableAlias(reading.cursor);
}

/**
 * VALUES row, … in FROM, where the next table may also follow a comma: a row must be in a form that no table has, a literal or
 * several values in parentheses.
 */
export function readInlineTable(reading: ParseContext): void {
  const { cursor } = reading;
  refuseNameAsRow(cursor);
  readExpression(reading);
  while (cursor.takesSigns(',')) {
    const isGroup = cursor.seesSigns('(');
    if (isGroup && !isLiteral(cursor.peek(1))) readSeveral(reading);
    else {
      refuseNameAsRow(cursor);
      readExpression(reading);
    }
  }
  readTableAlias(cursor);
}

function readSeveral(reading: ParseContext): void {
  const { cursor } = reading;
  const { position } = cursor;
  cursor.inParentheses(() => {
    readNamed(reading);
    if (!cursor.takesSigns(',')) throw rowOrTable(position);
    readList(reading, readNamed);
  });
}

function refuseNameAsRow(cursor: SparkCursor): void {
  const token = cursor.peek();
  const isValue = isLiteral(token) || (token?.kind === 'sign' && ['(', '-', '+', '?', ':'].includes(token.text));
  if (!isValue) throw rowOrTable(cursor.position);
}

function isLiteral(token: SparkToken | undefined): boolean {
  return token?.kind === 'number' || token?.kind === 'string' || token?.word === 'null';
}

function rowOrTable(position: number): AppError {
  return new AppError('sql_error', 'expected a row of VALUES, found what may be a table', {
    position,
    hint: 'put rows in parentheses: FROM (VALUES (a), (b)) AS t(x)',
  });
}
