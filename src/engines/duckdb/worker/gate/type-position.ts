import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { isWord, nameOf } from './token-cursor.ts';
import { type Token, tokenize } from './tokenizer.ts';

/**
 * Where a type of this name stands in a query, counted in bytes as in the parse tree, which does not tell it.
 * Undefined when it could be more than one place.
 */
export function typePosition(sql: string, type: string): number | undefined {
  const wanted = asciiLower(type);
  const tokens = tokenize(sql);
  const spelled = tokens.filter((token) => asciiLower(nameOf(token) ?? '') === wanted);
  const targets = new Set(castTargets(tokens).map((index) => tokens[index]));
  const found = spelled.find((token) => targets.has(token)) ?? (spelled.length === 1 ? spelled[0] : undefined);
  return found === undefined ? undefined : Buffer.byteLength(sql.slice(0, found.start));
}

/** The indexes of the tokens with which the types behind `::` and in CAST(… AS …) begin. */
export function castTargets(tokens: readonly Token[]): readonly number[] {
  const targets: number[] = [];
  const brackets: boolean[] = [];
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    if (token.kind === 'mark' && /[([{]/.test(token.text)) {
      brackets.push(isWord(before, 'cast') || isWord(before, 'try_cast'));
    } else if (token.kind === 'mark' && /[)\]}]/.test(token.text)) brackets.pop();
    else if (token.text === '::' || (isWord(token, 'as') && brackets.at(-1) === true)) targets.push(index + 1);
  }
  return targets;
}
