import { AppError } from '../../../core/errors/app-error.ts';
import { checkFunction } from './check-function.ts';
import type { ExpressionKind, ParseContext } from './parse-context.ts';
import { queryWords, readGroup, readNamed } from './read-group.ts';
import { readType } from './read-type.ts';
import { readCallSuffixes } from './read-window.ts';
import { argumentRepeats } from './select-columns.ts';
import type { SparkCursor } from './spark-cursor.ts';
import { functionWords, intervalUnits, reservedWords, wordyFunctions } from './words.ts';

/** Without parentheses these are functions, too. */
const userWords = new Set(['user', 'current_user', 'session_user']);
const separators = new Set(['from', 'for', 'in', 'placing']);

export function readOperand(reading: ParseContext): ExpressionKind {
  const { cursor } = reading;
  const token = cursor.peek();
  switch (token?.kind) {
    case 'number':
      cursor.take();
      return 'value';
    case 'string':
      takeStrings(cursor);
      return 'value';
    case 'quoted':
      refuseUserName(cursor, token.name.toLowerCase());
      readNameOrCall(reading);
      return 'value';
    case 'word':
      readWord(reading, token.word);
      return 'value';
    case 'sign':
      if (token.text === '(') return readGroup(reading);
      readMark(reading);
      return 'value';
    default:
      throw cursor.unexpected('an expression');
  }
}

/** Strings one behind the other are one string. */
function takeStrings(cursor: SparkCursor): void {
  while (cursor.peek()?.kind === 'string') cursor.take();
}

function readMark(reading: ParseContext): void {
  const { cursor } = reading;
  const { position } = cursor;
  if (cursor.takesSigns('*')) {
    reading.columns.note('*');
    readExceptColumns(cursor);
  } else if (cursor.takesSigns('?')) reading.addPositionalParameter(position);
  else if (cursor.seesSigns(':') && cursor.peek(1)?.kind === 'word' && cursor.peek(1)?.start === position + 1) {
    cursor.take();
    reading.addNamedParameter(cursor.peek()?.name ?? '', position);
    cursor.take();
  } else throw cursor.unexpected('an expression');
}

/** * EXCEPT (column, …); if a query begins in the parentheses, it is a set operation. */
function readExceptColumns(cursor: SparkCursor): void {
  const behind = cursor.peek(2);
  if (!cursor.sees('except') || !cursor.seesSigns('(', 1) || behind === undefined) return;
  if (queryWords.has(behind.word) || behind.text === '(') return;
  cursor.take();
  cursor.inParentheses(() => {
    do cursor.takeQualifiedName('the name of a column');
    while (cursor.takesSigns(','));
  });
}

function readWord(reading: ParseContext, word: string): void {
  const { cursor } = reading;
  const isCall = cursor.seesSigns('(', 1);
  if (word === 'identifier' && isCall) throw noIdentifier(cursor.position);
  if (word === 'case') readCase(reading);
  else if (word === 'null' || word === 'true' || word === 'false') cursor.take();
  else if ((word === 'cast' || word === 'try_cast') && isCall) readCast(reading);
  else if (word === 'interval' && seesIntervalValue(cursor)) readInterval(cursor);
  else readPlainWord(reading, word, isCall);
}

function readPlainWord(reading: ParseContext, word: string, isCall: boolean): void {
  const { cursor } = reading;
  if (reservedWords.has(word) && !(isCall && functionWords.has(word))) throw cursor.unexpected('an expression');
  refuseUserName(cursor, word);
  // A type and a string: DATE '2026-01-01'
  if (cursor.peek(1)?.kind === 'string') cursor.take(2);
  else readNameOrCall(reading);
}

/** Engines call these functions where no column has the name, in backticks, too. */
function refuseUserName(cursor: SparkCursor, name: string): void {
  const isColumnOrCall = cursor.seesSigns('.', 1) || cursor.seesSigns('(', 1) || cursor.seesSigns('=>', 1);
  if (userWords.has(name) && !isColumnOrCall) checkFunction(name, cursor.position);
}

/** name.name.…, also name.* or a call. */
function readNameOrCall(reading: ParseContext): void {
  const { cursor } = reading;
  const first = cursor.peek();
  cursor.take();
  const parts = [cursor.lastName];
  while (cursor.seesSigns('.')) {
    if (cursor.seesSigns('*', 1)) {
      cursor.take(2);
      reading.columns.note('*');
      readExceptColumns(cursor);
      return;
    }
    cursor.take();
    cursor.takePart();
    parts.push(cursor.lastName);
    if (cursor.seesSigns('(')) throw noQualifiedFunction(first?.start ?? 0);
  }
  if (!cursor.seesSigns('(') || first === undefined) {
    reading.columns.note(parts);
    return;
  }
  checkFunction(first.name, first.start);
  // It counts rows.
  if (first.word === 'count' && cursor.seesSigns('*', 1) && cursor.seesSigns(')', 2)) {
    cursor.take(3);
    readCallSuffixes(reading);
    return;
  }
  const { mark } = reading.columns;
  if (first.word === 'exists') readGroup(reading);
  else readArguments(reading, wordyFunctions.has(first.word), schemaArguments.get(first.name.toLowerCase()));
  reading.columns.repeat(mark, reading.columns.mark, argumentRepeats(first.name.toLowerCase()));
  readCallSuffixes(reading);
}

/** ([DISTINCT | ALL] argument, …); `schemaAt`: the place of an argument that is a schema. */
export function readArguments(reading: ParseContext, isWordy: boolean, schemaAt?: number): void {
  const { cursor } = reading;
  let index = 0;
  cursor.inParentheses(() => {
    if (cursor.seesSigns(')')) return;
    if (!cursor.takes('distinct')) cursor.takes('all');
    do {
      if (cursor.seesName() && cursor.seesSigns('=>', 1)) {
        if (schemaAt !== undefined) throw noSchema(cursor.position);
        cursor.take(3);
      }
      if (index++ === schemaAt) checkSchema(cursor);
      readNamed(reading);
      if (cursor.takes('ignore') || cursor.takes('respect')) cursor.expect('nulls');
    } while (cursor.takesSigns(',') || (isWordy && takesSeparator(cursor)));
  });
}

/** Functions with an argument that Spark parses, by the place of that. */
const schemaArguments: ReadonlyMap<string, number> = new Map([
  ['from_json', 1],
  ['from_csv', 1],
  ['variant_get', 2],
  ['try_variant_get', 2],
]);
const schemaFunctions = new Set(['schema_of_json', 'schema_of_csv']);

/**
 * Spark also takes a schema as JSON, in which a default of a field is SQL that it runs with any function. So a schema is one
 * string in the form of columns or a type, or the schema of another string.
 */
function checkSchema(cursor: SparkCursor): void {
  const token = cursor.peek();
  const isText = token?.kind === 'string' && (cursor.seesSigns(',', 1) || cursor.seesSigns(')', 1));
  if (isText && /^[^{}"'\\]*$/.test(token.value)) return;
  const isShown = cursor.seesSigns('(', 1) && cursor.peek(2)?.kind === 'string' && cursor.seesSigns(')', 3);
  if (schemaFunctions.has(token?.word ?? '') && isShown) return;
  throw noSchema(cursor.position);
}

function noSchema(position: number): AppError {
  return new AppError('sql_forbidden', 'a schema is one string of columns or a type on a cluster engine', {
    position,
    hint: "write from_json(x, 'a INT, b ARRAY<STRING>'), or from_json(x, schema_of_json('…'))",
  });
}

function takesSeparator(cursor: SparkCursor): boolean {
  if (!cursor.seesOneOf(separators)) return false;
  cursor.take();
  return true;
}

function readCase(reading: ParseContext): void {
  const { cursor, columns } = reading;
  cursor.take();
  cursor.size.nested(() => {
    const start = columns.mark;
    const hasOperand = !cursor.sees('when');
    if (hasOperand) reading.read.expression(reading);
    if (hasOperand && columns.mark === start) columns.note(1);
    const end = columns.mark;
    let branches = 0;
    do {
      cursor.expect('when');
      reading.read.expression(reading);
      cursor.expect('then');
      reading.read.expression(reading);
      branches++;
    } while (cursor.sees('when'));
    // Engines compare the operand of CASE with each value by itself.
    if (end > start) columns.repeat(start, end, branches);
    if (cursor.takes('else')) reading.read.expression(reading);
    cursor.expect('end');
  });
}

function readCast(reading: ParseContext): void {
  const { cursor } = reading;
  cursor.take();
  cursor.inParentheses(() => {
    reading.read.expression(reading);
    cursor.expect('as');
    readType(cursor);
  });
}

function seesIntervalValue(cursor: SparkCursor): boolean {
  const isSigned = cursor.seesSigns('-', 1) || cursor.seesSigns('+', 1);
  const kind = cursor.peek(isSigned ? 2 : 1)?.kind;
  return kind === 'number' || kind === 'string';
}

/** INTERVAL '1' DAY, 1 day 2 hours, '1-2' YEAR TO MONTH */
function readInterval(cursor: SparkCursor): void {
  cursor.take();
  if (!cursor.takesSigns('-')) cursor.takesSigns('+');
  while (cursor.peek()?.kind === 'number' || cursor.peek()?.kind === 'string') {
    cursor.take();
    if (!cursor.seesOneOf(intervalUnits)) return;
    cursor.take();
    if (cursor.takes('to')) cursor.takePart();
  }
}

function noIdentifier(position: number): AppError {
  return new AppError('sql_forbidden', 'IDENTIFIER(…) is not allowed: what it names cannot be checked', {
    position,
    hint: 'write the name itself, in backticks where it needs them',
  });
}

export function noQualifiedFunction(position: number): AppError {
  return new AppError('sql_forbidden', 'functions are named without a catalog or schema', {
    position,
    hint: 'only functions that Spark itself has may be used: upper(x)',
  });
}
