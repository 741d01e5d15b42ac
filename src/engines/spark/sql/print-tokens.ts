import { sparkName } from '@framehold/columns';
import type { SparkToken } from './tokenizer.ts';

/** The text that an engine gets in place of the caller's. */
export interface PrintedSql {
  readonly text: string;
  /** The place in the caller's text for a place in this one. */
  sourcePosition(position: number): number;
}

/**
 * The tokens as one line that every lexer cuts alike: no comments, names quoted by backticks only, strings of ASCII without any
 * quote, backslash or dollar sign, so that no setting of an engine can move the end of one or replace a part of it.
 *
 * `parameters`: their starts in the caller's text. Spark writes their values into the text and parses that again, so each is in
 * parentheses: a value can neither join the word beside it nor begin a comment (`3-?` with -2).
 */
export function printTokens(tokens: readonly SparkToken[], parameters: ReadonlySet<number>): PrintedSql {
  let text = '';
  const starts: number[] = [];
  let before: SparkToken | undefined;
  let opened = false;
  for (const token of tokens) {
    const isNameOfParameter = opened;
    if (before !== undefined && !isNameOfParameter && !isOperator(before, token, parameters)) text += ' ';
    if (parameters.has(token.start)) text += '(';
    starts.push(text.length);
    text += printed(token);
    opened = parameters.has(token.start) && token.text === ':';
    if (isNameOfParameter || (parameters.has(token.start) && !opened)) text += ')';
    before = token;
  }
  // Not the tokens: prepared statements are cached for long, and tokens take many times the memory of their text.
  const sources = Uint32Array.from(tokens.flatMap(({ start, end }) => [start, end]));
  return {
    text,
    sourcePosition(position) {
      const next = starts.findIndex((start) => start > position);
      const index = (next < 0 ? starts.length : next) - 1;
      const [start = 0, end = 0] = sources.subarray(2 * index, 2 * index + 2);
      return Math.min(start + (position - (starts[index] ?? 0)), end);
    },
  };
}

/** Signs without a space between them are one operator; all other tokens stand apart. */
function isOperator(before: SparkToken, token: SparkToken, parameters: ReadonlySet<number>): boolean {
  if (before.kind !== 'sign' || token.kind !== 'sign' || before.end !== token.start) return false;
  return !parameters.has(before.start) && !parameters.has(token.start);
}

function printed(token: SparkToken): string {
  switch (token.kind) {
    case 'string':
      return `'${token.value.replace(unsafe, escaped)}'`;
    case 'quoted':
      return sparkName(token.name);
    case 'hint':
      return token.text.replaceAll(/\s+/g, ' ');
    case 'word':
    case 'number':
    case 'sign':
      return token.text;
    default:
      return token.kind satisfies never;
  }
}

/** Characters that some engine may read as more than themselves, or count otherwise than we do. */
const unsafe = /['"`\\$]|[^ -~]/gu;

function escaped(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
