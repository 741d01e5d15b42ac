import type { SourceText, TextEdit } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';

/** As long as the shortest ENUM or shorter. Where no type may be, it is wrong SQL or a function that is not allowed. */
const otherType = 'CHAR(1)';

/**
 * The text with another type in place of each ENUM('…', …), all other text unmoved. DuckDB cannot give the parse tree of a
 * type that has an ENUM inside. Only string literals are lost, and no function of this name exists.
 */
export function withoutEnums(text: SourceText): SourceText {
  const { tokens } = text;
  const edits = tokens.flatMap((token, index): readonly TextEdit[] => {
    const close = token.word === 'enum' ? closeOfTexts(tokens, index + 1) : undefined;
    if (close === undefined) return [];
    const length = close.end - token.start;
    return [{ at: token.start, length, text: otherType.padEnd(length) }];
  });
  return text.edited(edits);
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
