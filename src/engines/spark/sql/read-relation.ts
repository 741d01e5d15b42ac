import { AppError } from '../../../core/errors/app-error.ts';
import { checkTableFunction } from './check-function.ts';
import type { ExpressionKind, ParseContext } from './parse-context.ts';
import { readExpression } from './read-expression.ts';
import { continuesQuery, startsQuery } from './read-group.ts';
import { readArguments } from './read-operand.ts';
import { readInlineTable } from './read-values.ts';
import { readPivot, readTableAlias, readUnpivot, takeSample } from './relation-clauses.ts';
import type { SparkCursor } from './spark-cursor.ts';
import { timeTravelWords } from './words.ts';

const joinWords = new Set(['natural', 'inner', 'cross', 'left', 'right', 'full', 'semi', 'anti', 'outer', 'join']);

/** relation, … [LATERAL VIEW …] [PIVOT …] [UNPIVOT …] */
export function readFrom(reading: ParseContext): void {
  readRelation(reading);
  while (reading.cursor.takesSigns(',')) {
    reading.cursor.size.link(2);
    readRelation(reading);
  }
  readLateralViews(reading);
  while (readReshaping(reading));
}

/** LATERAL VIEW [OUTER] function(…) [name] [[AS] column, …] */
export function readLateralViews(reading: ParseContext): void {
  const { cursor } = reading;
  while (cursor.takes('lateral', 'view')) {
    cursor.size.link(2);
    cursor.takes('outer');
    readTableFunction(reading);
    if (!cursor.sees('as')) cursor.takesAlias();
    if (cursor.takesAlias()) while (cursor.takesSigns(',')) cursor.takeName('the name of a column');
  }
}

/** TABLE name */
export function readTable(reading: ParseContext): void {
  const { cursor } = reading;
  if (cursor.seesSigns('(')) throw cursor.unexpected('the name of a table');
  takeTable(reading);
  refuseTimeTravel(cursor);
}

function readRelation(reading: ParseContext): void {
  const { cursor } = reading;
  readRelationPrimary(reading, takesLateral(cursor));
  while (readJoin(reading) || readReshaping(reading));
}

/** [type] JOIN [LATERAL] relation [ON … | USING (…)] */
function readJoin(reading: ParseContext): boolean {
  const { cursor } = reading;
  if (!cursor.seesOneOf(joinWords)) return false;
  while (!cursor.takes('join')) {
    if (!cursor.seesOneOf(joinWords)) throw cursor.unexpected('JOIN');
    cursor.take();
  }
  cursor.size.link(2);
  readRelationPrimary(reading, takesLateral(cursor));
  if (cursor.takes('on')) readExpression(reading);
  else if (cursor.takes('using')) cursor.inParentheses(() => cursor.takeNames());
  return true;
}

function takesLateral(cursor: SparkCursor): boolean {
  if (!cursor.takes('lateral')) return false;
  if (!cursor.seesSigns('(') && !isCall(cursor)) throw cursor.unexpected('a query in parentheses or a function');
  return true;
}

function readReshaping(reading: ParseContext): boolean {
  const { cursor } = reading;
  const { mark } = reading.columns;
  if (cursor.takes('pivot')) readPivot(reading);
  else if (cursor.takes('unpivot')) {
    readUnpivot(cursor);
    reading.columns.note('*');
  } else return false;
  reading.columns.addMade(mark);
  cursor.size.link(2);
  return true;
}

function readRelationPrimary(reading: ParseContext, isLateral: boolean): void {
  const { cursor } = reading;
  if (cursor.seesSigns('(')) {
    const kind = readRelationGroup(reading);
    const { lastColumns } = reading;
    const isRenamed = readRelationSuffix(cursor);
    if (kind === 'query') reading.columns.addRelation(lastColumns, { isRenamed, isLateral });
  } else if (cursor.takes('values')) readInlineTable(reading);
  else if (cursor.sees('table')) throw noTableArgument(cursor.position);
  else if (isCall(cursor)) {
    readTableFunction(reading);
    readTableAlias(cursor);
  } else {
    takeTable(reading);
    refuseTimeTravel(cursor);
    if (readRelationSuffix(cursor)) reading.columns.addRelation(reading.lastColumns, { isRenamed: true });
  }
}

/** ( query ) or ( relation ). Behind a second parenthesis only its content shows which of the two it is. */
function readRelationGroup(reading: ParseContext): ExpressionKind {
  const { cursor } = reading;
  return cursor.inParentheses(() => {
    if (startsQuery(cursor)) {
      reading.read.query(reading, 'start');
      return 'query';
    }
    if (!cursor.seesSigns('(')) {
      readRelation(reading);
      return 'value';
    }
    const inner = readRelationGroup(reading);
    const { lastColumns } = reading;
    if (inner === 'query' && continuesQuery(cursor)) {
      reading.read.query(reading, 'tail');
      return 'query';
    }
    const { position } = cursor;
    const isRenamed = readRelationSuffix(cursor);
    if (cursor.position === position && !seesMore(cursor)) return inner;
    if (inner === 'query') reading.columns.addRelation(lastColumns, { isRenamed });
    while (readJoin(reading) || readReshaping(reading));
    return 'value';
  });
}

/** [TABLESAMPLE (…)] [alias]; whether columns get other names. */
function readRelationSuffix(cursor: SparkCursor): boolean {
  takeSample(cursor);
  return readTableAlias(cursor);
}

/** Whether a join or a reshaping follows. */
function seesMore(cursor: SparkCursor): boolean {
  return cursor.seesOneOf(joinWords) || cursor.sees('pivot') || cursor.sees('unpivot');
}

function isCall(cursor: SparkCursor): boolean {
  const kind = cursor.peek()?.kind;
  return (kind === 'word' || kind === 'quoted') && cursor.seesSigns('(', 1);
}

function readTableFunction(reading: ParseContext): void {
  const { cursor } = reading;
  const token = cursor.peek();
  if (token === undefined || !isCall(cursor)) throw cursor.unexpected('a function');
  checkTableFunction(token.name, token.start);
  cursor.take();
  const { mark } = reading.columns;
  readArguments(reading, false);
  reading.columns.addMade(mark);
}

function takeTable(reading: ParseContext): void {
  const { cursor } = reading;
  const { position } = cursor;
  if (cursor.sees('stream') && cursor.peek(1)?.kind !== 'sign' && cursor.peek(1) !== undefined) {
    throw new AppError('sql_forbidden', 'STREAM is not allowed: frames are read as they are', {
      position,
      hint: 'if stream is a frame, write it in backticks: `stream`',
    });
  }
  const name = cursor.takeName('the name of a table');
  if (cursor.seesSigns('.')) throw noQualifiedTable(cursor, name, position);
  if (name.includes('`')) throw new AppError('sql_error', 'no frame has a backtick in its name', { position });
  reading.addTable(name, position);
}

function refuseTimeTravel(cursor: SparkCursor): void {
  if (!cursor.seesOneOf(timeTravelWords)) return;
  throw new AppError('sql_forbidden', 'older versions of a frame cannot be read', {
    position: cursor.position,
    hint: 'each statement reads the version that is current when it begins',
  });
}

function noQualifiedTable(cursor: SparkCursor, first: string, position: number): AppError {
  let name = first;
  while (cursor.takesSigns('.')) {
    name += `.${cursor.peek()?.name ?? ''}`;
    cursor.take();
  }
  return new AppError('sql_forbidden', `${name.slice(0, 200)} is not a table that may be read here`, {
    hint: 'on a cluster engine frames are named without catalog or schema: `x`; SHOW TABLES lists them',
    position,
  });
}

function noTableArgument(position: number): AppError {
  return new AppError('sql_forbidden', 'TABLE is not allowed in FROM', {
    position,
    hint: 'write the name itself: FROM x',
  });
}
