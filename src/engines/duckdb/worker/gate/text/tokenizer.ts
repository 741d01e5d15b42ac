import { checkedCommentEnd, unterminated } from '../../../../../core/text/checked-comment.ts';

export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'parameter' | 'operator' | 'mark';

/** A piece of SQL text that is neither space nor comment. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** As written. */
  readonly text: string;
}

/** Characters that DuckDB takes for space beside the ASCII ones. */
const wideSpace = '\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff';
/** A letter of a name: of ASCII or any other character beyond it that is no space. */
const letter = `(?:[A-Za-z_]|(?![${wideSpace}])[\u0080-\uffff])`;
const name = `${letter}(?:${letter}|[0-9])*`;

const space = new RegExp(`[ \\t\\n\\r\\f\\v${wideSpace}]+`, 'y');
const lineComment = /--[^\n\r]*/y;
const escapedString = /[eE]'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'/y;
const plainString = /(?:[bBxXnN]|[uU]&)?'[^']*(?:''[^']*)*'/y;
const quotedName = /(?:[uU]&)?"[^"]*(?:""[^"]*)*"/y;
const dollarTag = new RegExp(`\\$(?:${name})?\\$`, 'y');
const parameter = new RegExp(`\\?|\\$(?:[0-9]+|${name})`, 'y');
const word = new RegExp(`${letter}(?:${letter}|[0-9$])*`, 'y');
const number = /(?:0[xX][0-9A-Fa-f_]+|(?:[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)/y;
const mark = /[()[\]{},;.]/y;
const operatorSigns = /[-+*/%<>=~!@#^&|`:]/y;

/** The tokens of an SQL text by DuckDB's lexical rules. A quote or comment without an end is `sql_error`. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    return pattern.test(sql) ? pattern.lastIndex : 0;
  };
  const add = (kind: TokenKind, end: number): void => {
    tokens.push({ kind, start: at, end, text: sql.slice(at, end) });
    at = end;
  };
  const escaped: readonly [TokenKind, RegExp][] = [['string', escapedString]];
  const patterns: readonly [TokenKind, RegExp][] = [
    ['string', plainString],
    ['quoted', quotedName],
    ['parameter', parameter],
    ['word', word],
    ['number', number],
    ['mark', mark],
  ];
  scan: while (at < sql.length) {
    const gap = match(space) || match(lineComment);
    if (gap > 0) {
      at = gap;
      continue;
    }
    if (sql.startsWith('/*', at)) {
      at = checkedCommentEnd(sql, at);
      continue;
    }
    const tag = match(dollarTag);
    if (tag > 0) {
      const close = sql.indexOf(sql.slice(at, tag), tag);
      if (close < 0) throw unterminated('dollar-quoted string', at);
      add('string', close + tag - at);
      continue;
    }
    const isEscaped = /^[eE]'/.test(sql.slice(at, at + 2));
    for (const [kind, pattern] of isEscaped ? escaped : patterns) {
      const end = match(pattern);
      if (end === 0) continue;
      add(kind, end);
      continue scan;
    }
    if (sql[at] === "'" || isEscaped) throw unterminated('string', at);
    if (sql[at] === '"') throw unterminated('quoted name', at);
    add('operator', operatorEnd(sql, at));
  }
  return tokens;
}

function operatorEnd(sql: string, start: number): number {
  let end = start;
  while (end < sql.length && !sql.startsWith('--', end) && !sql.startsWith('/*', end)) {
    operatorSigns.lastIndex = end;
    if (!operatorSigns.test(sql)) break;
    end++;
  }
  // Only an operator with one of these may end in a sign of a number: a=-1 are three tokens.
  if (!/[~!@#%^&|`]/.test(sql.slice(start, end))) {
    while (end > start + 1 && /[-+]/.test(sql[end - 1] ?? '')) end--;
  }
  return Math.max(end, start + 1);
}

/** The text with every space that is not ASCII as a blank: DuckDB does the same, but then counts positions anew. */
export function withPlainSpaces(sql: string, tokens: readonly Token[]): string {
  let plain = '';
  let at = 0;
  for (const { start, end } of tokens) {
    plain += sql.slice(at, start).replace(/[\u0080-\uffff]/g, ' ') + sql.slice(start, end);
    at = end;
  }
  return plain;
}

/** Text that a caller wrote, cut behind the one statement in it. */
export interface TokenizedStatement {
  /** Begins where the caller's text begins, so that positions are the same in both. */
  readonly sql: string;
  readonly tokens: readonly Token[];
}
