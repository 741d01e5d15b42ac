import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import { Clauses, queryClauses } from '../text/clauses.ts';
import type { TokenRange } from '../text/token-groups.ts';

const changes = new Set(['insert', 'update', 'delete', 'merge']);

/** WITH and its names before a statement that changes a frame. Undefined where the statement is another one. */
export function namesBeforeChange(statement: TokenizedText): TokenRange | undefined {
  const { tokens } = statement;
  const [first] = tokens;
  if (first?.word !== 'with') return undefined;
  if (!tokens.some(({ word }, index) => isBehindNames(index) && changes.has(word))) return undefined;
  const clauses = new Clauses(statement);
  // The body of the statement begins behind the last name.
  for (let to = 1; to < tokens.length; to++) {
    if (!isBehindNames(to) || !clauses.isClause(to, ...changes)) continue;
    const names = { from: 0, to };
    // In another statement, one of these comes first.
    return clauses.find({ from: 1, to }, ...queryClauses) === to ? names : undefined;
  }
  return undefined;

  function isBehindNames(index: number): boolean {
    return tokens[index - 1]?.text === ')';
  }
}
