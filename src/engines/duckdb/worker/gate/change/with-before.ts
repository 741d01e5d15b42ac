import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { Clauses, queryClauses } from '../text/clauses.ts';
import type { TokenRange } from '../text/token-groups.ts';
import type { TokenizedStatement } from '../text/tokenizer.ts';

const changes = new Set(['insert', 'update', 'delete', 'merge']);

/** WITH and its names before a statement that changes a frame. Undefined where the statement is another one. */
export function namesBeforeChange(statement: TokenizedStatement): TokenRange | undefined {
  const { tokens } = statement;
  const [first] = tokens;
  if (first?.kind !== 'word' || asciiLower(first.text) !== 'with') return undefined;
  const isChange = tokens.some(
    ({ kind, text }, index) => isBehindNames(index) && kind === 'word' && changes.has(asciiLower(text)),
  );
  if (!isChange) return undefined;
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
