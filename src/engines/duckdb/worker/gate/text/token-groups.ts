import type { Token } from '../../../../../core/text/tokens.ts';

/** Tokens [from, to) of a text. */
export interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** 1 for a bracket that opens, -1 for one that closes, 0 for any other token. */
export function bracketDepth(token: Token | undefined): -1 | 0 | 1 {
  if (token?.kind !== 'mark') return 0;
  return /[([{]/.test(token.text) ? 1 : /[)\]}]/.test(token.text) ? -1 : 0;
}

/** The index of the bracket that closes the one at this index; the end of the tokens if none does. */
export function closingIndex(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    depth += bracketDepth(tokens[index]);
    if (depth === 0) return index;
  }
  return tokens.length;
}

/** The index of the bracket that opens the one at this index; 0 if none does. */
export function openingIndex(tokens: readonly Token[], close: number): number {
  let depth = 0;
  for (let index = close; index >= 0; index--) {
    depth += bracketDepth(tokens[index]);
    if (depth === 0) return index;
  }
  return 0;
}

/** The parts of a range between its commas outside of brackets. */
export function itemsIn(tokens: readonly Token[], { from, to }: TokenRange): readonly TokenRange[] {
  const items: TokenRange[] = [];
  let start = from;
  let depth = 0;
  for (let index = from; index < to; index++) {
    depth += bracketDepth(tokens[index]);
    if (depth !== 0 || !isMark(tokens[index], ',')) continue;
    items.push({ from: start, to: index });
    start = index + 1;
  }
  return [...items, { from: start, to }];
}

export function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text;
}

/** Whether an item of a list ends here, outside of brackets. */
export function isItemEnd(token: Token): boolean {
  return isMark(token, ',') || isMark(token, ')');
}
