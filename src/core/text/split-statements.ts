import { duckdb, spark } from './dialects.ts';
import { lex } from './lexer.ts';

export interface SplitText {
  /** Without the semicolons, and without empty ones. */
  readonly statements: readonly string[];
  /** The text behind the last semicolon. */
  readonly rest: string;
}

/** Characters [from, to) of a text. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

const dialects = { duckdb, spark };

/** The dialect whose rules of quoting a text follows. */
export type QuotingRules = keyof typeof dialects;

/** Cuts a text into statements at its semicolons. */
export function splitStatements(text: string, rules: QuotingRules): SplitText {
  const ranges = statementRanges(text, rules);
  const statements = ranges
    .slice(0, -1)
    .map(({ from, to }) => text.slice(from, to).trim())
    .filter((statement) => !isBlank(statement));
  return { statements, rest: text.slice(ranges.at(-1)?.from ?? 0) };
}

/** The ranges of a text's statements, without their semicolons; the last one is the text behind the last semicolon. */
export function statementRanges(text: string, rules: QuotingRules): readonly TextRange[] {
  const ranges: TextRange[] = [];
  let from = 0;
  lex<string>(text, dialects[rules], (_, start, end) => {
    if (text[start] !== ';') return;
    ranges.push({ from, to: start });
    from = end;
  });
  ranges.push({ from, to: text.length });
  return ranges;
}

/** The text with spaces in place of its comments, texts and quoted names: all other text keeps its place. */
export function withoutQuotes(text: string, rules: QuotingRules): string {
  let kept = '';
  lex<string>(text, dialects[rules], (kind, start, end) => {
    const isHidden = ['comment', 'string', 'quoted', 'open'].includes(kind);
    if (isHidden) kept += text.slice(kept.length, start) + ' '.repeat(end - start);
  });
  return kept + text.slice(kept.length);
}

/** Nothing but space and comments. */
export function isBlank(text: string): boolean {
  let isOnly = true;
  lex(text, duckdb, (kind) => {
    isOnly = kind === 'comment';
    return isOnly;
  });
  return isOnly;
}
