import { AppError } from '../../../core/errors/app-error.ts';
import type { Query, Statement, TableName } from '../../../core/sql/sql.ts';
import { checkText, oneStatement } from '../../../core/text/tokens.ts';
import { ParseContext } from './parse-context.ts';
import { type PrintedSql, printTokens } from './print-tokens.ts';
import { readExpression } from './read-expression.ts';
import { readQuery } from './read-query.ts';
import { refusedStatement, refusePipes } from './refused-statements.ts';
import { SparkCursor } from './spark-cursor.ts';
import type { Dialect } from './statement-size.ts';
import { type SparkToken, tokenize } from './tokenizer.ts';

const queryWords = new Set(['select', 'with', 'values', 'table']);
const describeWords = new Set(['describe', 'desc']);
/** Words behind DESCRIBE or DESCRIBE TABLE with which Spark describes other objects. */
const describedThings = new Set(
  'catalog database extended formatted function namespace partition procedure schema'.split(' '),
);

/** A query as engines get it: `sql` is printed from the tokens that were checked, never the caller's own text. */
export interface SparkQuery extends Query, Pick<PrintedSql, 'sourcePosition'> {
  /** Whether its rows have an order: ORDER BY or SORT BY behind the whole query. */
  readonly isOrdered: boolean;
  /** Subqueries as values that hold others. */
  readonly waitingSubqueries: number;
}

/**
 * Reads a caller's SQL in Spark's dialect and checks it against the rights of callers. Throws `sql_error` or `sql_forbidden`.
 * Ambiguous text is refused: an engine never reads a table that is not among those found here.
 */
export function readStatement(sql: string, dialect: Dialect = 'spark'): Statement<SparkQuery> {
  checkText(sql);
  const all = tokenize(sql);
  // A script of several statements is refused as a script, not for their number.
  const first = all.find(({ text }) => text !== ';');
  if (first?.word === 'begin') throw refusedStatement([first]);
  const tokens = oneStatement(all);
  refusePipes(tokens);
  if (dialect === 'sail') refuseDeepStrings(tokens);
  const cursor = new SparkCursor(tokens, sql, dialect);
  const readRest = (): SparkQuery => readWhole(cursor, dialect);
  if (cursor.takes('create')) return createTable(cursor, tokens, readRest);
  if (cursor.takes('insert')) return insert(cursor, readRest);
  if (cursor.takes('drop', 'table')) return drop(cursor, 'table');
  if (cursor.takes('drop', 'view')) return drop(cursor, 'view');
  if (cursor.takes('truncate', 'table')) return truncate(cursor);
  if (cursor.seesOneOf(describeWords)) {
    const described = new SparkCursor(describedTokens(tokens), sql, dialect);
    return { kind: 'query', query: { ...readWhole(described, dialect), isDescribed: true } };
  }
  if (cursor.sees('show', 'tables') && tokens.length === 2) return { kind: 'showTables' };
  if (!cursor.seesOneOf(queryWords) && !cursor.seesSigns('(')) throw refusedStatement(tokens);
  return { kind: 'query', query: readRest() };
}

/** Types and documents in strings (`from_json('…', 'array<array<…')`) that are nested deeper end Sail as a whole. */
const maxStringDepth = 500;

function refuseDeepStrings(tokens: readonly SparkToken[]): void {
  for (const { kind, value, start } of tokens) {
    if (kind !== 'string' || value.length <= maxStringDepth) continue;
    let depth = 0;
    for (const sign of value) {
      if ('<([{'.includes(sign)) depth++;
      else if ('>)]}'.includes(sign)) depth = Math.max(0, depth - 1);
      if (depth <= maxStringDepth) continue;
      throw new AppError('sql_error', `the string that begins here is nested more than ${maxStringDepth} deep`, {
        position: start,
        hint: 'send the statement to the engine local or to Spark',
      });
    }
  }
}

/** The rest of the statement as a query. */
function readWhole(cursor: SparkCursor, dialect: Dialect): SparkQuery {
  const tokens = cursor.rest;
  const reading = new ParseContext(cursor, { query: readQuery, expression: readExpression }, dialect);
  const { isOrdered } = readQuery(reading, 'start');
  if (!cursor.done) throw cursor.unexpected('the end of the statement');
  const { text, sourcePosition } = printTokens(tokens, reading.parameterStarts);
  const { waitingSubqueries } = cursor.size;
  return { sql: text, sourcePosition, isOrdered, waitingSubqueries, ...reading.found() };
}

/** CREATE [OR REPLACE] TABLE [IF NOT EXISTS] name AS query */
function createTable(
  cursor: SparkCursor,
  tokens: readonly SparkToken[],
  readRest: () => SparkQuery,
): Statement<SparkQuery> {
  const { position } = cursor;
  const replace = cursor.takes('or', 'replace');
  if (!cursor.takes('table')) throw refusedStatement(tokens);
  const keep = cursor.takes('if', 'not', 'exists');
  if (replace && keep) throw new AppError('sql_error', 'OR REPLACE and IF NOT EXISTS exclude each other', { position });
  const table = takeTarget(cursor);
  if (cursor.seesSigns('(') || cursor.sees('using')) {
    throw new AppError('sql_forbidden', 'on a cluster engine tables are made from a query', {
      position: cursor.position,
      hint: 'write CREATE TABLE x AS SELECT …, or send it to the engine local',
    });
  }
  cursor.expect('as');
  return {
    kind: 'createTable',
    table,
    ifTaken: replace ? 'replace' : keep ? 'keep' : 'fail',
    query: readRest(),
  };
}

/** DESCRIBE [TABLE] name, DESCRIBE [QUERY] query: the query to describe, the only part that an engine sees. */
function describedTokens([verb, ...tokens]: readonly SparkToken[]): readonly SparkToken[] {
  const [first, second, third] = tokens;
  if (verb === undefined || first === undefined) {
    throw new AppError('sql_error', 'expected a table or a query behind DESCRIBE', { position: verb?.end });
  }
  const [thing, behind] = first.word === 'table' ? [second, third] : [first, second];
  if (behind !== undefined && describedThings.has(thing?.word ?? '')) {
    throw new AppError('sql_forbidden', `DESCRIBE ${thing?.text.toUpperCase()} is not supported`, {
      position: thing?.start,
      hint: 'allowed are DESCRIBE x and DESCRIBE SELECT …',
    });
  }
  if (first.word === 'query' && second !== undefined) return tokens.slice(1);
  if (queryWords.has(first.word) || first.text === '(') return tokens;
  return [{ ...verb, text: 'TABLE', name: 'TABLE', word: 'table' }, ...tokens];
}

const keysElsewhere = 'send it to the engine local, which looks for the keys of the frame';

/** Spark has no words for it, and would take them for names. */
function refuseConflict(tokens: readonly SparkToken[]): void {
  const at = tokens.findIndex(({ word }, index) => word === 'on' && tokens[index + 1]?.word === 'conflict');
  const isClause = tokens
    .slice(Math.max(at, 0))
    .some(({ word }, index, rest) => word === 'do' && ['nothing', 'update'].includes(rest[index + 1]?.word ?? ''));
  if (at >= 0 && isClause) throw unsupported('ON CONFLICT on a cluster engine', keysElsewhere, tokens[at]?.start ?? 0);
}

/** INSERT INTO [TABLE] name [(column, …) | BY NAME] query */
function insert(cursor: SparkCursor, readRest: () => SparkQuery): Statement<SparkQuery> {
  if (cursor.sees('or')) throw unsupported('INSERT OR … on a cluster engine', keysElsewhere, cursor.position);
  refuseConflict(cursor.rest);
  if (cursor.sees('overwrite')) {
    throw unsupported('INSERT OVERWRITE', 'CREATE OR REPLACE TABLE x AS SELECT … replaces a frame', cursor.position);
  }
  cursor.expect('into');
  cursor.takes('table');
  const table = takeTarget(cursor);
  const next = cursor.peek(1);
  const hasColumns = cursor.seesSigns('(') && !queryWords.has(next?.word ?? '') && next?.text !== '(';
  const columns = hasColumns ? cursor.inParentheses(() => cursor.takeNames()) : undefined;
  const { position } = cursor;
  const isByName = cursor.takes('by', 'name');
  if (isByName && hasColumns) {
    throw new AppError('sql_error', 'a list of columns and BY NAME exclude each other', { position });
  }
  if (cursor.sees('partition')) throw unsupported('PARTITION', 'frames have no partitions', cursor.position);
  if (cursor.sees('replace')) {
    throw unsupported('REPLACE WHERE', 'CREATE OR REPLACE TABLE x AS SELECT … replaces a frame', cursor.position);
  }
  if (cursor.sees('values')) refuseDefaults(cursor.rest);
  return { kind: 'insert', table, columns, ...(isByName && { match: 'name' }), query: readRest() };
}

/** Spark knows no defaults of a frame, and would look for a column of this name. */
function refuseDefaults(tokens: readonly SparkToken[]): void {
  const at = tokens.findIndex(({ word }, index) => {
    const [before, behind] = [tokens[index - 1]?.text ?? '', tokens[index + 1]?.text ?? ''];
    return word === 'default' && ['(', ',', 'VALUES'].includes(before.toUpperCase()) && [')', ',', ''].includes(behind);
  });
  const position = tokens[at]?.start;
  if (position === undefined) return;
  throw unsupported('DEFAULT as a value', 'leave the column out: INSERT INTO x (other columns) VALUES …', position);
}

/** DROP TABLE [IF EXISTS] name, DROP VIEW [IF EXISTS] name */
function drop(cursor: SparkCursor, what: 'table' | 'view'): Statement<SparkQuery> {
  const ifAbsent = cursor.takes('if', 'exists') ? 'ignore' : 'fail';
  const table = takeTarget(cursor);
  if (!cursor.done) throw cursor.unexpected(`the end of the statement (one ${what} at a time)`);
  return { kind: 'drop', what, table, ifAbsent };
}

/** TRUNCATE TABLE name */
function truncate(cursor: SparkCursor): Statement<SparkQuery> {
  const table = takeTarget(cursor);
  if (!cursor.done) throw cursor.unexpected('the end of the statement');
  return { kind: 'truncate', table };
}

/** The frame that a statement writes or drops. */
function takeTarget(cursor: SparkCursor): TableName {
  const { position } = cursor;
  if (cursor.sees('identifier')) throw cursor.unexpected('the name of a table');
  const name = cursor.takeName('the name of a table');
  if (!cursor.seesSigns('.')) return { catalog: undefined, schema: undefined, name };
  throw new AppError('sql_forbidden', 'on a cluster engine frames are named without catalog or schema', {
    position,
    hint: 'write to a frame by its handle: `x`',
  });
}

function unsupported(what: string, hint: string, position: number): AppError {
  return new AppError('sql_forbidden', `${what} is not supported`, { hint, position });
}
