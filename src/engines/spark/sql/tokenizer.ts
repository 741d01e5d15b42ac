import { AppError } from '../../../core/errors/app-error.ts';
import { checkedCommentEnd, unterminated } from '../../../core/text/checked-comment.ts';

export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'hint' | 'sign';

/** A piece of SQL text that is neither space nor comment. Operators of several signs are several tokens. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** As written. */
  readonly text: string;
  /** The name that a word or a quoted name spells. */
  readonly name: string;
  /** A word in lower case; empty for all other tokens. */
  readonly word: string;
  /** The text that a string means; empty for all other tokens. */
  readonly value: string;
}

const maxTokens = 100_000;

const space = /[ \t\n\f\r\v\u00a0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]+/y;
const lineComment = /--[^\r\n]*/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const number =
  /[0-9]+[lLsSyY](?![A-Za-z0-9_.])|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:[fFdD]|[bB][dD])?/y;
const hint = /\/\*\+[A-Za-z0-9_ \t\r\n,().]*\*\//y;
const sign = /[()[\],.;:?+\-*/%~&|^<>=!]/y;

/** The tokens of an SQL text by Spark's lexical rules. Engines never see the text itself, only these, printed again. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    return pattern.test(sql) ? pattern.lastIndex : 0;
  };
  const add = (kind: TokenKind, end: number, { name = '', word = '', value = '' } = {}): void => {
    tokens.push({ kind, start: at, end, text: sql.slice(at, end), name, word, value });
    at = end;
  };
  while (at < sql.length) {
    if (tokens.length > maxTokens) throw tooManyWords();
    const sort = sql[at];
    const spaceEnd = match(space);
    if (spaceEnd > 0) {
      at = spaceEnd;
      continue;
    }
    if (sql.startsWith('--', at)) {
      at = lineCommentEnd(sql, at, match(lineComment));
      continue;
    }
    if (sql.startsWith('/*+', at)) {
      const end = match(hint);
      // Text in nested parentheses would be expressions, which Spark may run.
      if (end === 0 || /\([^()]*\(/.test(sql.slice(at, end))) throw strangeHint(at);
      add('hint', end);
      continue;
    }
    if (sql.startsWith('/*', at)) {
      at = commentEnd(sql, at);
      continue;
    }
    if (sort === "'") {
      const end = stringEnd(sql, at);
      add('string', end, { value: unescaped(sql, at + 1, end - 1) });
    } else if (sort === '`') {
      const end = quotedEnd(sql, at);
      add('quoted', end, { name: nameIn(sql, at, end, '`') });
    } else if (sort === '"') {
      const end = doubleQuotedEnd(sql, at);
      add('quoted', end, { name: nameIn(sql, at, end, '"') });
    } else if (/[A-Za-z_]/.test(sort ?? '')) {
      const end = match(word);
      const text = sql.slice(at, end);
      const isRaw = /^r$/i.test(text) && (sql[end] === "'" || sql[end] === '"');
      if (isRaw) {
        const stringEnds = rawStringEnd(sql, at, end);
        add('string', stringEnds, { value: sql.slice(end + 1, stringEnds - 1) });
      } else {
        if (sql.startsWith('://', end)) throw noAddress(at);
        add('word', end, { name: text, word: text.toLowerCase() });
      }
    } else if (/[0-9]/.test(sort ?? '') || (sort === '.' && match(number) > 0)) {
      add('number', checkedNumberEnd(sql, at, match(number)));
    } else if (match(sign) > 0) {
      add('sign', at + 1);
    } else throw strangeCharacter(sql, at);
  }
  return tokens;
}

/** Spark reads on in the next line when one ends in a backslash, other engines do not. */
function lineCommentEnd(sql: string, start: number, end: number): number {
  if (sql[end - 1] !== '\\' || end === sql.length) return end;
  throw new AppError('sql_error', 'the comment that begins here ends in a backslash, which engines read differently', {
    position: start,
    hint: 'take the backslash away',
  });
}

// If two marks of comments share a sign Sail counts it twice, and Spark takes no hint inside of a comment for a comment.
function commentEnd(sql: string, start: number): number {
  return checkedCommentEnd(sql, start, (mark, end) => {
    if (!(mark === '/*' ? ['/', '+'] : ['*']).includes(sql[end] ?? '')) return;
    throw new AppError('sql_error', 'engines read the comment that begins here differently', {
      position: start,
      hint: 'put spaces around the /* and */ inside of it',
    });
  });
}

function stringEnd(sql: string, start: number): number {
  for (let at = start + 1; at < sql.length; at++) {
    const sort = sql[at];
    if (sort === '\\') at++;
    else if (sort === "'") {
      if (sql[at + 1] !== "'") return at + 1;
      at++;
    }
  }
  throw unterminated('string', start);
}

const stringEscape = /\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\([01][0-7]{2})|\\(.)|''/gs;
const escapedLetters: Readonly<Record<string, string>> = {
  '0': '\0',
  b: '\b',
  n: '\n',
  r: '\r',
  t: '\t',
  Z: '\x1a',
  // The backslash stays for LIKE.
  '%': '\\%',
  _: '\\_',
};

/** The value of a string between its quotes, by Spark's rules. */
function unescaped(sql: string, start: number, end: number): string {
  const written = sql.slice(start, end);
  // Half a million doubled quotes are sooner replaced so.
  if (!written.includes('\\')) return wellFormed(written.replaceAll("''", "'"), start);
  const text = written.replace(stringEscape, (_, hex4, hex8, octal, letter) => {
    if (letter !== undefined) return escapedLetters[letter] ?? letter;
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    const hex = hex4 ?? hex8;
    if (hex === undefined) return "'";
    const code = Number.parseInt(hex, 16);
    if (code > 0x10ffff) throw notACharacter(start);
    return String.fromCodePoint(code);
  });
  return wellFormed(text, start);
}

function wellFormed(text: string, start: number): string {
  if (/\p{Surrogate}/u.test(text)) throw notACharacter(start);
  return text;
}

function notACharacter(position: number): AppError {
  return new AppError('sql_error', 'the string that begins here holds an escape that is not a character', { position });
}

function rawStringEnd(sql: string, start: number, quoteAt: number): number {
  const close = sql.indexOf(sql[quoteAt] ?? '', quoteAt + 1);
  if (close < 0) throw unterminated('string', start);
  let backslashes = 0;
  while (sql[close - 1 - backslashes] === '\\') backslashes++;
  if (backslashes % 2 === 0) return close + 1;
  throw new AppError(
    'sql_error',
    'the raw string that begins here ends in a backslash, which engines read differently',
    {
      position: start,
      hint: "write it as '…' with doubled backslashes",
    },
  );
}

function quotedEnd(sql: string, start: number): number {
  for (let at = sql.indexOf('`', start + 1); at >= 0; at = sql.indexOf('`', at + 2)) {
    if (sql[at + 1] !== '`') return at + 1;
  }
  throw unterminated('quoted name', start);
}

function doubleQuotedEnd(sql: string, start: number): number {
  for (let at = start + 1; at < sql.length; at++) {
    const sort = sql[at];
    if (sort === '\\') {
      throw new AppError('sql_error', 'a name in double quotes cannot hold a backslash', {
        position: at,
        hint: 'write the name in backticks, or a string in single quotes',
      });
    }
    if (sort !== '"') continue;
    if (sql[at + 1] !== '"') return at + 1;
    at++;
  }
  throw unterminated('quoted name', start);
}

function nameIn(sql: string, start: number, end: number, quote: string): string {
  const name = sql.slice(start + 1, end - 1).replaceAll(quote + quote, quote);
  if (name === '') throw new AppError('sql_error', 'a name is empty', { position: start });
  // Spark can be set to replace this in the text, and a name cannot be written without it.
  if (name.includes('${'))
    throw new AppError('sql_error', 'a name cannot hold ${ on a cluster engine', { position: start });
  return name;
}

function checkedNumberEnd(sql: string, start: number, end: number): number {
  if (!/[A-Za-z0-9_.]/.test(sql[end] ?? '')) return end;
  throw new AppError('sql_error', 'a number is followed by letters', {
    position: start,
    hint: 'a name that begins with a digit stands in backticks: `1st`',
  });
}

function strangeCharacter(sql: string, at: number): AppError {
  if (sql[at] === '$') {
    return new AppError('sql_error', 'parameters are written ? or :name on this engine, not $1 or $name', {
      position: at,
      hint: 'for example: WHERE price > ? or WHERE price > :low',
    });
  }
  const code = sql.codePointAt(at) ?? 0;
  const shown =
    code > 0x20 && code < 0x7f ? String.fromCodePoint(code) : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return new AppError('sql_error', `the character ${shown} may stand only in quotes`, {
    position: at,
    hint: 'names with other characters than letters, digits and _ stand in backticks: `trades-v2`',
  });
}

function tooManyWords(): AppError {
  return new AppError('sql_error', `the statement has more than ${maxTokens} words`, {
    hint: 'put the data as a frame instead',
  });
}

function strangeHint(position: number): AppError {
  return new AppError('sql_error', 'the hint that begins here is not one that may be given', {
    position,
    hint: 'hints hold names and numbers: /*+ BROADCAST(t) */',
  });
}

function noAddress(position: number): AppError {
  return new AppError('sql_forbidden', 'files and addresses cannot be read', {
    position,
    hint: 'put data as frames, and name the frames as tables',
  });
}
