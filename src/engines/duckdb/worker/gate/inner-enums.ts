import { isWord } from './token-cursor.ts';
import { type Token, tokenize } from './tokenizer.ts';

/** Of the same length as the shortest ENUM or shorter. Where a type may not stand, it is wrong SQL or a function that is not allowed. */
const otherType = 'CHAR(1)';

/**
 * The text with another type in place of each ENUM('…', …), everything at its old place. DuckDB cannot give the parse tree of a
 * type that has an ENUM inside. What is left out are string literals alone, and a function of this name does not exist.
 */
export function withoutEnums(sql: string): string {
  const tokens = tokenize(sql);
  let text = '';
  let at = 0;
  for (const [index, token] of tokens.entries()) {
    const close = isWord(token, 'enum') ? closeOfTexts(tokens, index + 1) : undefined;
    if (close === undefined) continue;
    text += sql.slice(at, token.start) + otherType.padEnd(close.end - token.start);
    at = close.end;
  }
  return text + sql.slice(at);
}

/** The parenthesis behind a list of string literals that begins here. */
function closeOfTexts(tokens: readonly Token[], open: number): Token | undefined {
  if (tokens[open]?.text !== '(') return undefined;
  for (let index = open + 1; tokens[index]?.kind === 'string'; index += 2) {
    const next = tokens[index + 1];
    if (next?.text === ')') return next;
    if (next?.text !== ',') return undefined;
  }
  return undefined;
}
