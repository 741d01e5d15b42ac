import type { ParseContext } from './parse-context.ts';
import { readExpression } from './read-expression.ts';
import { readList, readNamed } from './read-group.ts';
import type { SparkCursor } from './spark-cursor.ts';

/** [TABLESAMPLE (10 PERCENT | 5 ROWS | BUCKET 1 OUT OF 4) [REPEATABLE (seed)]] */
export function takeSample(cursor: SparkCursor): void {
  if (!cursor.takes('tablesample')) return;
  cursor.inParentheses(() => {
    if (cursor.takes('bucket')) {
      cursor.takeNumber();
      cursor.expect('out', 'of');
      cursor.takeNumber();
    } else {
      cursor.takeNumber();
      if (!cursor.takes('percent')) cursor.expect('rows');
    }
  });
  if (cursor.takes('repeatable')) cursor.inParentheses(() => cursor.takeNumber());
}

/** [AS] name [(column, …)]; whether there are columns. */
export function readTableAlias(cursor: SparkCursor): boolean {
  if (!cursor.takesAlias() || !cursor.seesSigns('(')) return false;
  cursor.inParentheses(() => cursor.takeNames());
  return true;
}

/** PIVOT (aggregate, … FOR column IN (value [AS name], …)) */
export function readPivot(reading: ParseContext): void {
  const { cursor } = reading;
  cursor.inParentheses(() => {
    readList(reading, readNamed);
    cursor.expect('for');
    takeColumns(cursor);
    cursor.expect('in');
    cursor.inParentheses(() => readList(reading, readPivotValue));
  });
  cursor.takesAlias();
}

function readPivotValue(reading: ParseContext): void {
  readExpression(reading);
  reading.cursor.takesAlias();
}

/** UNPIVOT [INCLUDE | EXCLUDE NULLS] (column FOR name IN (column [AS name], …)) */
export function readUnpivot(cursor: SparkCursor): void {
  if (cursor.takes('include') || cursor.takes('exclude')) cursor.expect('nulls');
  cursor.inParentheses(() => {
    takeColumns(cursor);
    cursor.expect('for');
    cursor.takeName('the name of a column');
    cursor.expect('in');
    cursor.inParentheses(() => {
      do {
        takeColumns(cursor);
        cursor.takesAlias();
      } while (cursor.takesSigns(','));
    });
  });
  cursor.takesAlias();
}

/** column, or (column, …) */
function takeColumns(cursor: SparkCursor): void {
  if (cursor.seesSigns('(')) {
    cursor.inParentheses(() => {
      do cursor.takeQualifiedName('the name of a column');
      while (cursor.takesSigns(','));
    });
  } else cursor.takeQualifiedName('the name of a column');
}
