import { isBlank, type QuotingRules, statementRanges } from '../../../src/core/text/split-statements.ts';
import type { StatementToRun } from './statement-run.ts';

/** All statements of a selection; without one, the statement under the cursor. */
export function statementsToRun(
  { text, from, to }: { readonly text: string; readonly from: number; readonly to: number },
  rules: QuotingRules,
): readonly StatementToRun[] {
  if (from !== to) return statementsIn(text.slice(from, to), from, rules);
  const all = statementRanges(text, rules).filter((range) => !isBlank(text.slice(range.from, range.to)));
  const at =
    all.find((range) => from >= range.from && from <= range.to) ?? all.findLast((range) => range.to < from) ?? all[0];
  return at === undefined ? [] : [trimmed(text, at.from, at.to)];
}

function statementsIn(text: string, offset: number, rules: QuotingRules): readonly StatementToRun[] {
  return statementRanges(text, rules)
    .filter(({ from, to }) => !isBlank(text.slice(from, to)))
    .map(({ from, to }) => {
      const { statement, textAt } = trimmed(text, from, to);
      return { statement, textAt: textAt + offset };
    });
}

function trimmed(text: string, from: number, to: number): StatementToRun {
  const whole = text.slice(from, to);
  return { statement: whole.trim(), textAt: from + whole.length - whole.trimStart().length };
}
