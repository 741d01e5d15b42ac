import { lexicon } from './lexer.ts';

// Where the dialects of SQL differ in their tokens. An engine must read each text as it is read here.

const { raw } = String;
const lineComment = raw`--[^\n\r]*`;
/** Doubled, the quote stands for itself. */
const doubled = (quote: string): string => `${quote}[^${quote}]*(?:${quote}${quote}[^${quote}]*)*${quote}(?!${quote})`;
/** The same, and a backslash before any character. */
const escaped = (quote: string): string =>
  raw`${quote}[^${quote}\\]*(?:(?:\\[\s\S]|${quote}${quote})[^${quote}\\]*)*${quote}(?!${quote})`;

/** The text or name between quotes in which a doubled quote stands for itself. */
export function unquoted(written: string): string {
  const quote = written.charAt(0);
  return written.slice(1, -1).replaceAll(quote + quote, quote);
}

/** Characters that DuckDB takes for space beside the ASCII ones. */
const wideSpace = raw`\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff`;
/** A letter of a name: of ASCII or any other character beyond it that is no space. */
const letter = raw`(?:[A-Za-z_]|(?![${wideSpace}])[\u0080-\uffff])`;
const name = `${letter}(?:${letter}|[0-9])*`;
/** A sign of an operator, which ends where a comment begins. */
const operatorSign = (signs: string): string => raw`(?:(?!--|/\*)[${signs}])`;
const anySign = operatorSign('-+*/%<>=~!@#^&|`:');
/** No operator is longer. */
const anySigns = `${anySign}{0,63}`;

/** Of a token of the local engine. */
export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'parameter' | 'operator' | 'mark';

/** The local engine's. */
export const duckdb = lexicon<TokenKind>(
  raw`[ \t\n\r\f\v${wideSpace}]`,
  ['comment', lineComment],
  ['nested', raw`/\*`],
  ['string', `[eE]${escaped("'")}`],
  ['open', `[eE]'`],
  ['string', `(?:[bBxXnN]|[uU]&)?${doubled("'")}`],
  ['quoted', `(?:[uU]&)?${doubled('"')}`],
  ['open', `['"]`],
  ['tagged', raw`\$(?:${name})?\$`],
  ['parameter', raw`\?|\$(?:[0-9]+|${name})`],
  ['word', `${letter}(?:${letter}|[0-9$])*`],
  ['number', raw`0[xX][0-9A-Fa-f_]+|(?:[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?`],
  ['mark', raw`[()[\]{},;.]`],
  // Only an operator with one of these signs may end in the sign of a number: a=-1 are three tokens.
  ['operator', `${operatorSign('-+*/<>=:')}{0,63}${operatorSign('~!@#%^&|`')}${anySigns}`],
  ['operator', `${anySigns}${operatorSign('*/<>=:')}|[-+]`],
);

/** Of a token of Spark and Sail. An operator of several signs is several tokens. */
export type SparkKind = 'word' | 'quoted' | 'string' | 'number' | 'hint' | 'sign';

export const spark = lexicon<SparkKind>(
  raw`[ \t\n\f\r\v\u00a0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]`,
  ['comment', lineComment],
  ['hint', raw`/\*\+[A-Za-z0-9_ \t\r\n,().]*\*/`],
  ['open', raw`/\*\+`],
  ['nested', raw`/\*`],
  ['string', `[rR]'[^']*'|[rR]"[^"]*"|${escaped("'")}`],
  ['open', `[rR]['"]`],
  ['quoted', `${doubled('`')}|${escaped('"')}`],
  ['open', `['"\`]`],
  ['word', '[A-Za-z_][A-Za-z0-9_]*'],
  [
    'number',
    raw`[0-9]+[lLsSyY](?![A-Za-z0-9_.])|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:[fFdD]|[bB][dD])?`,
  ],
  ['sign', raw`[()[\],.;:?+\-*/%~&|^<>=!]`],
);

/** Statements about a session, which no engine sees: a value may be a word with other signs (`my-cluster`). */
export type SessionKind = 'word' | 'quoted' | 'string' | 'mark';

export const sessions = lexicon<SessionKind>(
  raw`\s`,
  ['comment', lineComment],
  ['nested', raw`/\*`],
  ['string', doubled("'")],
  ['quoted', doubled('"')],
  ['word', raw`[\w.+-]+`],
  ['mark', '[=;]'],
);
