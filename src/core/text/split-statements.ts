import { commentEnd } from './sql-comment.ts';

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

/** The dialect whose rules of quoting a text follows. */
export type QuotingRules = 'duckdb' | 'spark';

interface Quoting {
  /** Quotings that hide a semicolon: texts, quoted names, and texts between dollar signs. */
  readonly hidden: readonly RegExp[];
  /** The same for an end that is still missing. */
  readonly opened: RegExp;
}

const quotings: Readonly<Record<QuotingRules, Quoting>> = {
  duckdb: {
    hidden: [
      /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/y,
      /'(?:[^']|'')*'/y,
      /"(?:[^"]|"")*"/y,
      /(\$(?:[a-zA-Z_]\w*)?\$)[\s\S]*?\1/y,
    ],
    opened: /'|"|\$(?:[a-zA-Z_]\w*)?\$/y,
  },
  spark: {
    hidden: [/[rR]'[^']*'/y, /[rR]"[^"]*"/y, /'(?:[^'\\]|\\[\s\S])*'/y, /"(?:[^"\\]|\\[\s\S])*"/y, /`(?:[^`]|``)*`/y],
    opened: /['"`]/y,
  },
};
const word = /[\w$]+/y;

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
  const quoting = quotings[rules];
  const ranges: TextRange[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    if (text[at] === ';') {
      ranges.push({ from, to: at });
      from = ++at;
      continue;
    }
    const end = endOfComment(text, at) ?? endOfHidden(text, at, quoting);
    if (end === undefined || end === 'open') break;
    at = end;
  }
  ranges.push({ from, to: text.length });
  return ranges;
}

/** The text with spaces in place of its comments, texts and quoted names: all other text keeps its place. */
export function withoutQuotes(text: string, rules: QuotingRules): string {
  const quoting = quotings[rules];
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const comment = endOfComment(text, at);
    const end = comment ?? endOfHidden(text, at, quoting);
    if (end === undefined || end === 'open') break;
    const isHidden = comment !== undefined || quoting.hidden.some((pattern) => isAt(pattern, text, at));
    kept += isHidden ? ' '.repeat(end - at) : text.slice(at, end);
    at = end;
  }
  return kept.padEnd(text.length);
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** Nothing but space and comments. */
export function isBlank(text: string): boolean {
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at] ?? '')) {
      at++;
      continue;
    }
    const end = endOfComment(text, at);
    if (end === undefined || end === 'open') return false;
    at = end;
  }
  return true;
}

/** Undefined where no comment begins. */
function endOfComment(text: string, at: number): number | 'open' | undefined {
  if (text.startsWith('/*', at)) return commentEnd(text, at) ?? 'open';
  if (!text.startsWith('--', at)) return undefined;
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** The next place to look at: behind a quoted text or behind one character. Undefined if a quoted text has no end. */
function endOfHidden(text: string, at: number, { hidden, opened }: Quoting): number | undefined {
  for (const pattern of hidden) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return pattern.lastIndex;
  }
  opened.lastIndex = at;
  if (opened.test(text)) return undefined;
  // A name may hold a dollar sign, or end with a letter that before a text says how to read it.
  word.lastIndex = at;
  return word.test(text) && !/^[eErR]['"]/.test(text.slice(at, at + 2)) ? word.lastIndex : at + 1;
}
