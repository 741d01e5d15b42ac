import { AppError } from '../app-error.ts';

/** DuckDB's parser needs time squared in the depth of nested comments. */
const maxDepth = 32;

/** Called with each mark inside of a comment, where it ends, and the depth behind it. */
type OnMark = (mark: string, end: number, depth: number) => void;

/** Where the comment of SQL ends that begins at `start`; undefined where it has no end. Comments nest, for every engine. */
export function commentEnd(sql: string, start: number, onMark?: OnMark): number | undefined {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let found = marks.exec(sql); found !== null; found = marks.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
    onMark?.(found[0], marks.lastIndex, depth);
  }
  return undefined;
}

/** The same for a statement that is to run: one without an end, or with too many inside, is `sql_error`. */
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
