import { AppError } from '../../../core/app-error.ts';
import { readExpression } from './read-expression.ts';
import { queryWords, readList, readNamed } from './read-group.ts';
import { readFrom, readLateralViews, readTable } from './read-relation.ts';
import { readValues } from './read-values.ts';
import { readSortItems, readWindow } from './read-window.ts';
import type { Reading } from './reading.ts';
import type { TokenCursor } from './token-cursor.ts';
import { setOperators } from './words.ts';

/** [WITH …] query [set operation query …] [ORDER BY …] [LIMIT …]; the tail is what follows the first query. */
export function readQuery(reading: Reading, from: 'start' | 'tail'): void {
  const { cursor } = reading;
  const readAll = (): void => {
    if (from === 'start') {
      if (cursor.takes('with')) readWith(reading);
      readQueryPrimary(reading);
    }
    readSetOperations(reading);
    readOrganization(reading);
  };
  reading.inScope(() => cursor.chained(readAll));
}

/** [RECURSIVE] name [(column, …)] [AS] (query), … */
function readWith(reading: Reading): void {
  const { cursor } = reading;
  const { position } = cursor;
  const isRecursive = cursor.takes('recursive');
  // Where there is no recursion, a query that names itself names a table.
  if (isRecursive && reading.dialect === 'sail') throw noRecursion(position);
  do {
    const name = cursor.takeName('a name for the query');
    if (cursor.seesSigns('(') && !cursor.seesSigns('(', 1) && !cursor.seesOneOf(queryWords, 1)) {
      cursor.inParentheses(() => cursor.takeNames());
    }
    if (cursor.takes('max', 'recursion', 'level')) {
      if (cursor.peek()?.kind !== 'number') throw cursor.unexpected('a number');
      cursor.take();
    }
    cursor.takes('as');
    if (isRecursive) reading.addWithName(name);
    cursor.inParentheses(() => readQuery(reading, 'start'));
    reading.addWithName(name);
    cursor.link();
  } while (cursor.takesSigns(','));
}

function readSetOperations(reading: Reading): void {
  const { cursor } = reading;
  while (cursor.seesOneOf(setOperators)) {
    cursor.take();
    cursor.link(2);
    if (!cursor.takes('all')) cursor.takes('distinct');
    readQueryPrimary(reading);
  }
}

function readQueryPrimary(reading: Reading): void {
  const { cursor } = reading;
  if (cursor.takes('select')) cursor.chained(() => readSelect(reading));
  else if (cursor.takes('values')) readValues(reading);
  else if (cursor.takes('table')) readTable(reading);
  else if (cursor.seesSigns('(')) cursor.inParentheses(() => readQuery(reading, 'start'));
  else throw otherQuery(cursor);
}

function readSelect(reading: Reading): void {
  const { cursor } = reading;
  while (cursor.peek()?.kind === 'hint') cursor.take();
  if (!cursor.takes('distinct')) cursor.takes('all');
  readList(reading, readNamed);
  if (cursor.takes('from')) readFrom(reading);
  readLateralViews(reading);
  if (cursor.takes('where')) readExpression(reading);
  if (cursor.takes('group')) readGrouping(reading);
  if (cursor.takes('having')) readExpression(reading);
  if (cursor.sees('qualify')) throw noQualify(cursor);
  readWindows(reading);
  if (cursor.sees('using')) throw noScripts(cursor);
}

/** GROUP BY …: expressions, ALL, ROLLUP (…), CUBE (…), GROUPING SETS (…), WITH ROLLUP, WITH CUBE */
function readGrouping(reading: Reading): void {
  const { cursor } = reading;
  cursor.expect('by');
  if (!cursor.takes('all')) readGroupingItems(reading);
  if (cursor.sees('grouping', 'sets')) readGroupingItem(reading);
  if (cursor.takes('with') && !cursor.takes('rollup')) cursor.expect('cube');
}

function readGroupingItems(reading: Reading): void {
  readList(reading, readGroupingItem);
}

function readGroupingItem(reading: Reading): void {
  const { cursor } = reading;
  const isSets = cursor.takes('grouping', 'sets');
  if (isSets || ((cursor.sees('rollup') || cursor.sees('cube')) && cursor.seesSigns('(', 1))) {
    if (!isSets) cursor.take();
    cursor.inParentheses(() => readGroupingItems(reading));
  } else if (cursor.seesSigns('(') && cursor.seesSigns(')', 1)) cursor.take(2);
  else readExpression(reading);
}

/** WINDOW name AS (…), … */
function readWindows(reading: Reading): void {
  const { cursor } = reading;
  if (!cursor.takes('window')) return;
  do {
    cursor.takeName('a name for the window');
    cursor.expect('as');
    readWindow(reading);
  } while (cursor.takesSigns(','));
}

function readOrganization(reading: Reading): void {
  const { cursor } = reading;
  if (cursor.takes('order', 'by')) readSortItems(reading);
  if (cursor.takes('cluster', 'by')) readList(reading, readExpression);
  if (cursor.takes('distribute', 'by')) readList(reading, readExpression);
  if (cursor.takes('sort', 'by')) readSortItems(reading);
  readWindows(reading);
  if (cursor.takes('limit') && !cursor.takes('all')) readExpression(reading);
  if (cursor.takes('offset')) readExpression(reading);
}

function otherQuery(cursor: TokenCursor): AppError {
  const { position } = cursor;
  const word = cursor.peek()?.word ?? '';
  if (word === 'from') {
    return new AppError('sql_forbidden', 'FROM before SELECT is not supported', {
      position,
      hint: 'write SELECT … FROM …',
    });
  }
  if (word === 'map' || word === 'reduce') return noScripts(cursor);
  if (['insert', 'update', 'delete', 'merge'].includes(word)) {
    return new AppError('sql_forbidden', `WITH before ${word.toUpperCase()} is not supported`, {
      position,
      hint: 'write it behind: INSERT INTO x WITH … SELECT …',
    });
  }
  return cursor.unexpected('a query');
}

function noRecursion(position: number): AppError {
  return new AppError('sql_forbidden', 'this engine has no WITH RECURSIVE', {
    position,
    hint: 'send the statement to the engine local or to Spark',
  });
}

function noQualify({ position }: TokenCursor): AppError {
  return new AppError('sql_forbidden', 'cluster engines have no QUALIFY', {
    position,
    hint: 'put the window function in a subquery: SELECT … FROM (SELECT …, rank() OVER (…) AS r FROM t) WHERE r = 1',
  });
}

function noScripts({ position }: TokenCursor): AppError {
  return new AppError('sql_forbidden', 'TRANSFORM, MAP and REDUCE with a script are not allowed', {
    position,
    hint: 'use functions: transform(array, x -> x + 1)',
  });
}
