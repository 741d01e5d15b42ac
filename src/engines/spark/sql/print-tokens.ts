import type { Token } from './tokenizer.ts';

/** The text that an engine gets in place of the caller's. */
export interface PrintedSql {
  readonly text: string;
  /** The place in the caller's text that a place in this one comes from. */
  sourcePosition(position: number): number;
}

/**
 * The tokens as one line that every lexer cuts alike: no comments, names quoted by backticks only, and strings without any
 * quote, backslash or dollar sign, so that no setting of an engine can move the end of one or replace a part of it.
 */
export function printTokens(tokens: readonly Token[]): PrintedSql {
  let text = '';
  const starts: number[] = [];
  let before: Token | undefined;
  for (const token of tokens) {
    if (before !== undefined && !isJoined(before, token)) text += ' ';
    starts.push(text.length);
    text += printed(token);
    before = token;
  }
  return {
    text,
    sourcePosition(position) {
      const next = starts.findIndex((start) => start > position);
      const index = (next < 0 ? tokens.length : next) - 1;
      const token = tokens[index];
      if (token === undefined) return 0;
      return Math.min(token.start + (position - (starts[index] ?? 0)), token.end);
    },
  };
}

/** `<=` and `t.a` stay together; `X'1F'` does not, as letters before a quote may change what a string means. */
function isJoined(before: Token, token: Token): boolean {
  return before.end === token.start && isPlain(before) && isPlain(token);
}

function isPlain({ kind }: Token): boolean {
  return kind === 'word' || kind === 'number' || kind === 'sign';
}

function printed(token: Token): string {
  switch (token.kind) {
    case 'string':
      return `'${token.value.replace(unsafe, escaped)}'`;
    case 'quoted':
      return `\`${token.name.replaceAll('`', '``')}\``;
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

/** Characters that some engine may read as more than themselves. */
const unsafe = /['"`\\$\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function escaped(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
