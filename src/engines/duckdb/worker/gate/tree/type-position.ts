import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { Token, TokenizedText } from '../../../../../core/text/tokens.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { bracketDepth } from '../text/token-groups.ts';

/** The place of a type of this name in a query, which the parse tree does not give. Undefined if several places are possible. */
export function typePosition({ tokens }: TokenizedText, type: string): number | undefined {
  const wanted = asciiLower(type);
  const spelled = tokens.filter((token) => asciiLower(nameOf(token) ?? '') === wanted);
  const targets = new Set(castTargets(tokens).map((index) => tokens[index]));
  const found = spelled.find((token) => targets.has(token)) ?? (spelled.length === 1 ? spelled[0] : undefined);
  return found?.start;
}

/** The indexes of the tokens with which the types behind `::` and in CAST(… AS …) begin. */
export function castTargets(tokens: readonly Token[]): readonly number[] {
  const targets: number[] = [];
  const brackets: boolean[] = [];
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    const depth = bracketDepth(token);
    if (depth > 0) brackets.push(before?.word === 'cast' || before?.word === 'try_cast');
    else if (depth < 0) brackets.pop();
    else if (token.text === '::' || (token.word === 'as' && brackets.at(-1) === true)) targets.push(index + 1);
  }
  return targets;
}
