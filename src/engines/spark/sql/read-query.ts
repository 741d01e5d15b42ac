import { AppError } from '../../../core/errors/app-error.ts';
import type { ParseContext } from './parse-context.ts';
import { readExpression } from './read-expression.ts';
import { queryWords, readList, readNamed } from './read-group.ts';
import { readFrom, readLateralViews, readTable } from './read-relation.ts';
import { readValues } from './read-values.ts';
import { readSortItems, readWindow } from './read-window.ts';
import { combinedColumns, unknownColumns } from './select-columns.ts';
import type { SparkCursor } from './spark-cursor.ts';
import type { Expansion } from './statement-size.ts';
import { setOperators } from './words.ts';

/** Whether the rows of the query have an order. */
interface QueryRead {
  readonly isOrdered: boolean;
}

/** [WITH …] query [set operation query …] [ORDER BY …] [LIMIT …]; the tail is the text behind the first query. */
export function readQuery(reading: ParseContext, from: 'start' | 'tail'): QueryRead {
  const { cursor } = reading;
  const readAll = (): QueryRead => {
    let isOrdered = false;
    if (from === 'start') {
      if (cursor.takes('with')) readWith(reading);
      isOrdered = readQueryPrimary(reading).isOrdered;
    }
    const isCombined = readSetOperations(reading);
    const columns = reading.lastColumns;
    let isSorted = false;
    reading.withColumns(() => {
      reading.columns.addRelation(columns);
      isSorted = readOrganization(reading).isOrdered;
    });
    reading.lastColumns = columns;
    return { isOrdered: isSorted || (isOrdered && !isCombined) };
  };
  return reading.inScope(() => cursor.size.chained(() => cursor.size.stacked(readAll)));
}

/** For a name in its own query. */
const noExpansion: Expansion = { height: 0, doublings: 0, relations: 1, waitingSubqueries: 0, hasSubquery: false };

/** [RECURSIVE] name [(column, …)] [AS] (query), … */
function readWith(reading: ParseContext): void {
  const { cursor } = reading;
  const { position } = cursor;
  const isRecursive = cursor.takes('recursive');
  // Without recursion, a query that names itself names a table.
  if (isRecursive && reading.dialect === 'sail') throw noRecursion(position);
  do {
    const name = cursor.takeName('a name for the query');
    const isRenamed = cursor.seesSigns('(') && !cursor.seesSigns('(', 1) && !cursor.seesOneOf(queryWords, 1);
    if (isRenamed) cursor.inParentheses(() => cursor.takeNames());
    if (cursor.takes('max', 'recursion', 'level')) cursor.takeNumber();
    cursor.takes('as');
    if (isRecursive) {
      reading.addWithName(name, { ...noExpansion, columns: unknownColumns, isRenamed });
    }
    const expansion = cursor.size.measured(() => cursor.inParentheses(() => readQuery(reading, 'start')));
    reading.addWithName(name, { ...expansion, columns: reading.lastColumns, isRenamed });
    cursor.size.link();
  } while (cursor.takesSigns(','));
}

/** Whether there are any. */
function readSetOperations(reading: ParseContext): boolean {
  const { cursor } = reading;
  const isCombined = cursor.seesOneOf(setOperators);
  while (cursor.seesOneOf(setOperators)) {
    cursor.take();
    cursor.size.link(2);
    if (!cursor.takes('all')) cursor.takes('distinct');
    const first = reading.lastColumns;
    readQueryPrimary(reading);
    reading.lastColumns = combinedColumns(first, reading.lastColumns);
  }
  return isCombined;
}

function readQueryPrimary(reading: ParseContext): QueryRead {
  const { cursor } = reading;
  cursor.size.addRelations(1);
  if (cursor.seesSigns('(')) return cursor.inParentheses(() => readQuery(reading, 'start'));
  if (cursor.takes('select')) {
    const readAll = (): void => cursor.size.chained(() => cursor.size.stacked(() => readSelect(reading)));
    reading.lastColumns = reading.withColumns(readAll);
  } else if (cursor.takes('values')) {
    reading.withColumns(() => readValues(reading));
    reading.lastColumns = unknownColumns;
  } else if (cursor.takes('table')) reading.withColumns(() => readTable(reading));
  else throw otherQuery(cursor);
  return { isOrdered: false };
}

function readSelect(reading: ParseContext): void {
  const { cursor } = reading;
  while (cursor.peek()?.kind === 'hint') cursor.take();
  if (!cursor.takesClause('distinct')) cursor.takes('all');
  readList(reading, readSelected);
  if (cursor.takes('from')) readFrom(reading);
  readLateralViews(reading);
  if (cursor.takesClause('where')) readExpression(reading);
  if (cursor.takesClause('group')) readGrouping(reading);
  if (cursor.takesClause('having')) readExpression(reading);
  if (cursor.sees('qualify')) throw noQualify(cursor);
  readWindows(reading);
  if (cursor.sees('using')) throw noScripts(cursor);
}

function readSelected(reading: ParseContext): void {
  const { mark } = reading.columns;
  readNamed(reading);
  reading.columns.endItem(mark, reading.cursor.lastName);
}

/**
 * GROUP BY …: expressions, ALL, ROLLUP (…), CUBE (…), GROUPING SETS (…), WITH ROLLUP, WITH CUBE. Engines make a plan of its
 * own of each set of expressions that is grouped by.
 */
function readGrouping(reading: ParseContext): void {
  const { cursor } = reading;
  cursor.expect('by');
  const items = cursor.takes('all') ? [] : readGroupingItems(reading);
  let sets = items.reduce((product, each) => product * each, 1);
  if (cursor.sees('grouping', 'sets')) sets *= readGroupingItem(reading);
  if (cursor.takes('with')) {
    if (cursor.takes('rollup')) sets *= items.length + 1;
    else {
      cursor.expect('cube');
      sets *= 2 ** items.length;
    }
  }
  cursor.size.addRelations(sets - 1);
}

/** The number of sets of each item. */
function readGroupingItems(reading: ParseContext): number[] {
  const sets: number[] = [];
  do sets.push(readGroupingItem(reading));
  while (reading.cursor.takesSigns(','));
  return sets;
}

function readGroupingItem(reading: ParseContext): number {
  const { cursor } = reading;
  const readInside = (): number[] => cursor.inParentheses(() => readGroupingItems(reading));
  if (cursor.takes('grouping', 'sets')) return readInside().reduce((sum, each) => sum + each, 0);
  if (cursor.seesSigns('(', 1) && cursor.takes('rollup')) return readInside().length + 1;
  if (cursor.seesSigns('(', 1) && cursor.takes('cube')) return 2 ** readInside().length;
  if (cursor.seesSigns('(') && cursor.seesSigns(')', 1)) cursor.take(2);
  else readExpression(reading);
  return 1;
}

/** WINDOW name AS (…), … */
function readWindows(reading: ParseContext): void {
  const { cursor } = reading;
  if (!cursor.takes('window')) return;
  reading.isInWindowClause = true;
  do {
    cursor.takeName('a name for the window');
    cursor.expect('as');
    readWindow(reading);
  } while (cursor.takesSigns(','));
  reading.isInWindowClause = false;
}

function readOrganization(reading: ParseContext): QueryRead {
  const { cursor } = reading;
  const isOrdered = cursor.takesClause('order', 'by');
  if (isOrdered) readSortItems(reading);
  if (cursor.takesClause('cluster', 'by')) readList(reading, readExpression);
  if (cursor.takesClause('distribute', 'by')) readList(reading, readExpression);
  if (cursor.takesClause('sort', 'by')) readSortItems(reading);
  readWindows(reading);
  if (cursor.takesClause('limit') && !cursor.takes('all')) readExpression(reading);
  if (cursor.takesClause('offset')) readExpression(reading);
  return { isOrdered };
}

function otherQuery(cursor: SparkCursor): AppError {
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

function noQualify({ position }: SparkCursor): AppError {
  return new AppError('sql_forbidden', 'cluster engines have no QUALIFY', {
    position,
    hint: 'put the window function in a subquery: SELECT … FROM (SELECT …, rank() OVER (…) AS r FROM t) WHERE r = 1',
  });
}

function noScripts({ position }: SparkCursor): AppError {
  return new AppError('sql_forbidden', 'TRANSFORM, MAP and REDUCE with a script are not allowed', {
    position,
    hint: 'use functions: transform(array, x -> x + 1)',
  });
}
