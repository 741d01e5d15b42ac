import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { bracketDepth, closingIndex, isMark, openingIndex } from '../text/token-groups.ts';

/** Indexes of the tokens before its first and behind its last. */
export interface Scope {
  readonly before: number;
  readonly behind: number;
}

export interface QueryScope extends Scope {
  /** Start of the value that the scope gives. Undefined for a part of a value, such as the query behind IN. */
  readonly value: number | undefined;
}

export interface LambdaScope extends Scope {
  /** In lower case. */
  readonly names: readonly string[];
}

const queryWords = ['select', 'with', 'from', 'values', 'table', 'pivot', 'unpivot', 'describe', 'summarize', 'show'];
const behindQuery = ['union', 'intersect', 'except', 'order', 'limit', 'offset'];
const beforeRows = ['in', 'any', 'all', 'some'];

/** The subqueries of an expression, without nested ones. */
export function queriesIn(tokens: readonly Token[]): readonly QueryScope[] {
  const queries: QueryScope[] = [];
  for (let index = 0; index < tokens.length; index++) {
    if (!isMark(tokens[index], '(') || !beginsQuery(tokens, index)) continue;
    const behind = closingIndex(tokens, index);
    const word = tokens[index - 1];
    const value = isOneOf(word, beforeRows) ? undefined : isOneOf(word, ['exists', 'array']) ? index - 1 : index;
    queries.push({ before: index, behind, value });
    index = behind;
  }
  return queries;
}

/** Lambdas, from their names on. */
export function lambdasIn(tokens: readonly Token[]): readonly LambdaScope[] {
  return tokens.flatMap((token, index) => {
    if (token.word === 'lambda') {
      const colon = tokens.findIndex(({ text }, at) => at > index && text === ':');
      return colon < 0
        ? []
        : [{ before: index, behind: argumentEnd(tokens, index), names: namesIn(tokens.slice(index + 1, colon)) }];
    }
    // JSON's arrow is followed by a path.
    if (token.text !== '->' || tokens[index + 1]?.kind === 'string') return [];
    const first = isMark(tokens[index - 1], ')') ? openingIndex(tokens, index - 1) : index - 1;
    return [{ before: first - 1, behind: argumentEnd(tokens, index), names: namesIn(tokens.slice(first, index)) }];
  });
}

function beginsQuery(tokens: readonly Token[], open: number): boolean {
  if (isOneOf(tokens[open + 1], queryWords)) return true;
  if (!isMark(tokens[open + 1], '(') || !beginsQuery(tokens, open + 1)) return false;
  const next = tokens[closingIndex(tokens, open + 1) + 1];
  return isMark(next, ')') || isOneOf(next, behindQuery);
}

/** The end of the function's argument around this token. */
function argumentEnd(tokens: readonly Token[], from: number): number {
  let depth = 0;
  // Names of a lambda have commas between them.
  const start = tokens[from]?.word === 'lambda' ? tokens.findIndex(({ text }, at) => at > from && text === ':') : from;
  for (let index = start; index < tokens.length; index++) {
    depth += bracketDepth(tokens[index]);
    if (depth < 0 || (depth === 0 && isMark(tokens[index], ','))) return index;
  }
  return tokens.length;
}

function namesIn(tokens: readonly Token[]): readonly string[] {
  return tokens.flatMap((token) => {
    const name = nameOf(token);
    return name === undefined ? [] : asciiLower(name);
  });
}

function isOneOf(token: Token | undefined, words: readonly string[]): boolean {
  return words.includes(token?.word ?? '');
}
