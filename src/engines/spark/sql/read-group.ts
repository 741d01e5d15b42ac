import { AppError } from '../../../core/errors/app-error.ts';
import type { ExpressionKind, ParseContext } from './parse-context.ts';
import type { SparkCursor } from './spark-cursor.ts';
import { setOperators } from './words.ts';

export const queryWords: ReadonlySet<string> = new Set(['select', 'with', 'values', 'table', 'from']);
const organizationWords = new Set(['order', 'cluster', 'distribute', 'sort', 'limit', 'offset']);

/** Whether a query comes next; one in parentheses of its own does not count. */
export function startsQuery(cursor: SparkCursor): boolean {
  return cursor.seesOneOf(queryWords);
}

/** Whether the next token continues a query that was read in parentheses. */
export function continuesQuery(cursor: SparkCursor): boolean {
  return cursor.seesOneOf(setOperators) || cursor.seesOneOf(organizationWords);
}

/** expression [[AS] name | AS (name, …)] */
export function readNamed(reading: ParseContext): ExpressionKind {
  const { cursor } = reading;
  const kind = reading.read.expression(reading);
  if (cursor.sees('as') && cursor.seesSigns('(', 1)) {
    cursor.take();
    cursor.inParentheses(() => cursor.takeNames());
    return 'value';
  }
  return cursor.takesAlias() ? 'value' : kind;
}

export function readList(reading: ParseContext, read: (reading: ParseContext) => unknown): void {
  do read(reading);
  while (reading.cursor.takesSigns(','));
}

/** A query or a list of expressions in parentheses. */
export function readGroup(reading: ParseContext): ExpressionKind {
  const { cursor } = reading;
  return cursor.inParentheses(() => {
    if (startsQuery(cursor)) {
      refuseInWindowClause(reading);
      cursor.size.subquery(() => reading.read.query(reading, 'start'));
      reading.columns.noteQuery(reading.lastColumns);
      return 'query';
    }
    const kind = readNamed(reading);
    if (kind === 'query' && continuesQuery(cursor)) {
      cursor.size.subquery(() => reading.read.query(reading, 'tail'));
      reading.columns.noteQuery(reading.lastColumns);
      return 'query';
    }
    if (!cursor.takesSigns(',')) return kind;
    readList(reading, readNamed);
    return 'value';
  });
}

/** Spark takes a name of WITH there for a table of its own. */
function refuseInWindowClause(reading: ParseContext): void {
  if (!reading.isInWindowClause) return;
  throw new AppError('sql_forbidden', 'a subquery cannot stand in a WINDOW clause on a cluster engine', {
    position: reading.cursor.position,
    hint: 'write the window behind OVER, or compute the value in a query in FROM',
  });
}
