import { AppError } from '../../../../../core/errors/app-error.ts';
import { SourceText, textOf } from '../../../../../core/text/source-text.ts';
import { type Token, tokenize } from '../../../../../core/text/tokens.ts';
import type { GateText } from '../gate-query.ts';
import { itemsIn } from '../text/token-groups.ts';

/**
 * Checks the expressions of a table definition: each computes a value from one row, or from none. Returns their texts with
 * definitions expanded.
 */
export async function gateExpressions(
  expressions: readonly (readonly Token[])[],
  gate: GateText,
): Promise<readonly string[]> {
  if (expressions.length === 0) return [];
  const text = new SourceText();
  for (const [index, tokens] of expressions.entries()) {
    if (!isOneExpression(tokens)) throw notOneExpression(tokens[0]?.start);
    text.ours(index === 0 ? 'SELECT (' : '), (').words(tokens);
  }
  const { sql } = await gate(text.ours(')'), { expressions: expressions.length });
  const texts = listedExpressions(sql === text.sql ? text.tokens : tokenize(sql));
  if (texts.length !== expressions.length) throw notOneExpression(expressions[0]?.[0]?.start);
  return texts;
}

/** The expressions in the parentheses of SELECT (a), (b), … */
function listedExpressions(tokens: readonly Token[]): readonly string[] {
  const items = itemsIn(tokens, { from: 1, to: tokens.length });
  return items.map(({ from, to }) => textOf(tokens.slice(from + 1, to - 1)));
}

/** Checks texts that were expressions of a definition before, and may have been changed since. */
export async function gateKeptExpressions(texts: readonly string[], gate: GateText): Promise<void> {
  const expressions = texts.map((text) => {
    const tokens = tokenize(text);
    if (textOf(tokens) !== text) throw notOneExpression(undefined);
    return tokens;
  });
  await gateExpressions(expressions, gate);
}

/** Whether the text in parentheses is nothing but that. */
export function isOneExpression(tokens: readonly Token[]): boolean {
  const open: string[] = [];
  for (const { kind, text } of tokens) {
    if (kind !== 'mark') continue;
    if (/[([{]/.test(text)) open.push(text);
    else if (/[)\]}]/.test(text)) {
      if (open.pop() !== { ')': '(', ']': '[', '}': '{' }[text]) return false;
    } else if (text === ';' || (text === ',' && open.length === 0)) return false;
  }
  return tokens.length > 0 && open.length === 0;
}

function notOneExpression(position: number | undefined): AppError {
  return new AppError('sql_error', 'expected one expression', { position });
}
