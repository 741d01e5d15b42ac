import { AppError } from '../errors/app-error.ts';
import { commentEnd, type OnMark } from './sql-comment.ts';

/** DuckDB's parser needs time squared in the depth of nested comments. */
const maxDepth = 32;

/** `commentEnd` for a statement that is to run: one without an end, or with too many inside, is `sql_error`. */
export function checkedCommentEnd(sql: string, start: number, onMark?: OnMark): number {
  const end = commentEnd(sql, start, (mark, markEnd, depth) => {
    if (depth > maxDepth) {
      throw new AppError('sql_error', `comments are nested more than ${maxDepth} deep`, { position: start });
    }
    onMark?.(mark, markEnd, depth);
  });
  if (end === undefined) throw unterminated('comment', start);
  return end;
}

export function unterminated(what: string, position: number): AppError {
  return new AppError('sql_error', `the ${what} that begins here has no end`, { position });
}
