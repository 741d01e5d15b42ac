import { type QuotingRules, withoutQuotes } from '../../../src/core/text/split-statements.ts';

/** A place of a statement that a value is given for. */
export interface StatementParameter {
  /** Its name, or its number from 1. */
  readonly key: string;
  /** As in the statement; `?2` for the second of those without a name. */
  readonly label: string;
}

const patterns: Readonly<Record<QuotingRules, RegExp>> = {
  duckdb: /\?|(?<![\p{L}\d_$])(\$)([\p{L}_][\p{L}\d_]*|\d{1,4})/gu,
  // Two colons cast, and one behind a value cuts or looks into it.
  spark: /\?|(?<![\p{L}\d_:)\]])(:)([\p{L}_][\p{L}\d_]*)/gu,
};

/** Each once, in the order of their first use. Names are compared without regard to case. */
export function statementParameters(sql: string, rules: QuotingRules): readonly StatementParameter[] {
  const found = new Map<string, StatementParameter>();
  let unnamed = 0;
  for (const [sign, mark, name] of withoutQuotes(sql, rules).matchAll(patterns[rules])) {
    const key = name ?? String(++unnamed);
    const label = mark === undefined ? `?${key}` : sign;
    if (!found.has(key.toLowerCase())) found.set(key.toLowerCase(), { key, label });
  }
  return [...found.values()];
}
