import type { ExpressionKind, ParseContext } from './parse-context.ts';
import { readGroup } from './read-group.ts';
import { noQualifiedFunction, readOperand } from './read-operand.ts';
import { readType } from './read-type.ts';
import type { SparkCursor } from './spark-cursor.ts';

/** The longest first. */
const operators = ['<=>', '>>>', '<<', '>>', '<=', '>=', '<>', '!=', '==', '!<', '!>', '||', ...'<>=+-*/%&|^'];
const connectives = new Set(['and', 'or']);
const wordOperators = new Set([...connectives, 'div', 'escape']);
const patternOperators = new Set(['between', 'like', 'ilike', 'rlike', 'regexp']);
const quantifiers = new Set(['any', 'all', 'some']);

/** Operands and operators between them; precedence makes no difference here. */
export function readExpression(reading: ParseContext): ExpressionKind {
  const { cursor } = reading;
  const found: Found = { kind: 'query', lambdas: 0 };
  return cursor.size.chained(() => {
    // AND and OR bind weakest, so that their operands are independent.
    while (cursor.size.chained(() => readOperands(reading, found)) === 'connective') cursor.size.link();
    cursor.size.link(found.lambdas);
    cursor.size.deepen(-found.lambdas);
    cursor.size.deepenDoubling(-found.lambdas);
    return found.kind;
  });
}

interface Found {
  kind: ExpressionKind;
  lambdas: number;
}

/** Up to an AND or OR, which is taken, or to the end of the expression. */
function readOperands(reading: ParseContext, found: Found): 'connective' | 'end' {
  const { cursor } = reading;
  for (;;) {
    const { lambdas, signs } = takePrefixes(cursor);
    found.lambdas += lambdas;
    cursor.size.deepen(lambdas + signs);
    cursor.size.deepenDoubling(lambdas);
    cursor.size.link(signs);
    if (lambdas + signs > 0) found.kind = 'value';
    const { mark } = reading.columns;
    if (readOperand(reading) === 'value') found.kind = 'value';
    const isEnd = cursor.seesSigns(',') || cursor.seesSigns(')');
    const end = reading.columns.mark;
    // Engines compare it with each value by itself.
    const isRepeated = cursor.sees('in') || cursor.sees('not', 'in') || seesDistinctFrom(cursor);
    if (isRepeated) reading.columns.repeat(mark, end, 2);
    if (!isEnd && readSuffixes(reading)) found.kind = 'value';
    cursor.size.deepen(-signs);
    if (isEnd) return 'end';
    const isConnective = cursor.seesOneOf(connectives);
    if (!takesOperator(cursor)) return 'end';
    found.kind = 'value';
    if (isConnective) return 'connective';
    cursor.size.link();
  }
}

/** Signs and NOT, which belong to the next operand, and the parameters of lambdas, to which all belongs that follows. */
function takePrefixes(cursor: SparkCursor): { readonly signs: number; readonly lambdas: number } {
  let signs = 0;
  let lambdas = 0;
  for (;;) {
    const kind = cursor.peek()?.kind;
    if (kind === 'number' || kind === 'string') return { signs, lambdas };
    if (cursor.seesName() && cursor.seesSigns('->', 1)) {
      cursor.take(3);
      lambdas++;
    } else if (seesLambdaOfSeveral(cursor)) {
      cursor.inParentheses(() => cursor.takeNames());
      cursor.take(2);
      lambdas++;
    } else if (!cursor.seesSigns('->') && takesSign(cursor)) signs++;
    else return { signs, lambdas };
  }
}

function takesSign(cursor: SparkCursor): boolean {
  return cursor.takes('not') || ['-', '+', '~', '!'].some((sign) => cursor.takesSigns(sign));
}

function seesLambdaOfSeveral(cursor: SparkCursor): boolean {
  const behind = cursor.seesSigns('(') ? cursor.peekBehindParentheses() : undefined;
  return behind !== undefined && cursor.seesSigns('->', behind.ahead);
}

/** Suffixes that belong to one operand alone. */
function readSuffixes(reading: ParseContext): boolean {
  let found = false;
  while (readSuffix(reading)) {
    reading.cursor.size.link();
    found = true;
  }
  return found;
}

function readSuffix(reading: ParseContext): boolean {
  const { cursor } = reading;
  if (cursor.takesSigns('.')) {
    cursor.takePart();
    if (cursor.seesSigns('(')) throw noQualifiedFunction(cursor.position);
  } else if (cursor.takesSigns('[')) {
    cursor.size.nested(() => readExpression(reading));
    cursor.expectSign(']');
  } else if (cursor.takesSigns('::')) readType(cursor);
  else if (cursor.takes('collate')) cursor.takeQualifiedName('a name');
  else if (cursor.sees('is') && !seesDistinctFrom(cursor)) {
    cursor.take();
    cursor.takes('not');
    if (!['null', 'true', 'false', 'unknown'].some((word) => cursor.takes(word))) {
      throw cursor.unexpected('NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM');
    }
  } else {
    const ahead = cursor.sees('not') ? 1 : 0;
    if (cursor.peek(ahead)?.word !== 'in' || !cursor.seesSigns('(', ahead + 1)) return false;
    cursor.take(ahead + 1);
    readGroup(reading);
  }
  return true;
}

function seesDistinctFrom(cursor: SparkCursor): boolean {
  return cursor.sees('is', 'distinct', 'from') || cursor.sees('is', 'not', 'distinct', 'from');
}

/** Skips an operator that needs another operand behind it. */
function takesOperator(cursor: SparkCursor): boolean {
  if (cursor.seesSigns('->') || cursor.seesSigns('=>')) throw cursor.unexpected('an operator');
  if (operators.some((operator) => cursor.takesSigns(operator))) return true;
  if (seesDistinctFrom(cursor)) {
    cursor.take(cursor.sees('is', 'not') ? 4 : 3);
    return true;
  }
  const ahead = cursor.sees('not') ? 1 : 0;
  if (cursor.seesOneOf(patternOperators, ahead)) {
    cursor.take(ahead + 1);
    if (cursor.seesOneOf(quantifiers) && cursor.seesSigns('(', 1)) cursor.take();
    return true;
  }
  if (!cursor.seesOneOf(wordOperators)) return false;
  cursor.take();
  return true;
}
