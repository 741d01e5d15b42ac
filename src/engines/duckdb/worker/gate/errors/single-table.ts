import { nameOf } from '../text/statement-cursor.ts';
import { type Token, tokenize } from '../../../../../core/text/tokens.ts';

/** The name of the table that a query reads if it plainly reads only one, for messages. */
export function singleTable(sql: string): string | undefined {
  let tokens: readonly Token[];
  try {
    tokens = tokenize(sql);
  } catch {
    return undefined;
  }
  const isOther = (token: Token): boolean => ['join', 'with', 'pivot', 'unpivot'].includes(token.word);
  const froms = tokens.flatMap((token, index) => (token.word === 'from' ? [index] : []));
  const [from] = froms;
  if (from === undefined || froms.length > 1 || tokens.some(isOther)) return undefined;
  const table = tokens[from + 1];
  const behind = tokens[from + 2];
  if (table === undefined || (behind?.kind === 'mark' && /[.,(]/.test(behind.text))) return undefined;
  return nameOf(table);
}
