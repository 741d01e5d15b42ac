import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { TokenizedStatement } from '../tokenizer.ts';
import { Clauses, queryClauses, type TokenRange } from './clauses.ts';

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
  // Behind the last of the names comes what uses them.
  for (let to = 1; to < tokens.length; to++) {
    if (!isBehindNames(to) || !clauses.isClause(to, ...changes)) continue;
    const names = { from: 0, to };
    // Of another statement, one of these stands before.
    return clauses.find({ from: 1, to }, ...queryClauses) === to ? names : undefined;
  }
  return undefined;

  function isBehindNames(index: number): boolean {
    return tokens[index - 1]?.text === ')';
  }
}
