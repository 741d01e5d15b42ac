import { AppError } from '../../../../core/app-error.ts';
import { BuiltText, textOf } from './built-text.ts';
import type { GateText } from './gate-query.ts';
import { type Token, tokenize } from './tokenizer.ts';

/**
 * Checks expressions that the definition of a table consists of: each computes a value of one row, or of nothing. Gives their
 * texts, with what definitions say in the place of their names.
 */
export async function gateExpressions(
  expressions: readonly (readonly Token[])[],
  gate: GateText,
): Promise<readonly string[]> {
  if (expressions.length === 0) return [];
  const text = new BuiltText();
  for (const [index, tokens] of expressions.entries()) {
    if (!isOneExpression(tokens)) throw notOneExpression(tokens[0]?.start);
    text.add(index === 0 ? 'SELECT (' : '), (');
    text.addTokens(tokens);
  }
  text.add(')');
  const { sql } = await gate(text.sql, text.origin, { expressions: expressions.length });
  const texts = listedExpressions(tokenize(sql));
  if (texts.length !== expressions.length) throw notOneExpression(expressions[0]?.[0]?.start);
  return texts;
}

/** Of SELECT (a), (b), … those in the parentheses. */
function listedExpressions(tokens: readonly Token[]): readonly string[] {
  const texts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== 'mark') continue;
    if (/[([{]/.test(text) && depth++ === 0) from = index + 1;
    else if (/[)\]}]/.test(text) && --depth === 0) texts.push(textOf(tokens.slice(from, index)));
  }
  return texts;
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
