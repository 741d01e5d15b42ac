import { AppError } from '../../../core/errors/app-error.ts';
import { type SparkKind, spark, unquoted } from '../../../core/text/dialects.ts';
import type { OnMark } from '../../../core/text/lexer.ts';
import { lexChecked, type Token } from '../../../core/text/tokens.ts';

export interface SparkToken extends Token<SparkKind> {
  /** The name that a word or a quoted name spells. */
  readonly name: string;
  /** The text that a string means; empty for all other tokens. */
  readonly value: string;
}

const maxTokens = 100_000;

/** The tokens of an SQL text by Spark's lexical rules. Engines never see the text itself, only these, printed again. */
export function tokenize(sql: string): SparkToken[] {
  const tokens: SparkToken[] = [];
  const add = (kind: SparkKind, start: number, end: number): void => {
    const text = sql.slice(start, end);
    const name = kind === 'word' ? text : kind === 'quoted' ? nameIn(text, start) : '';
    const value = kind === 'string' ? stringValue(sql, start, end) : '';
    tokens.push({ kind, start, end, text, name, word: kind === 'word' ? text.toLowerCase() : '', value });
  };
  lexChecked(
    sql,
    spark,
    (kind, start, end) => {
      if (tokens.length > maxTokens) throw tooManyWords();
      if (kind === 'other') throw strangeCharacter(sql, start);
      if (kind === 'comment') checkLineComment(sql, start, end);
      else {
        // Text in nested parentheses would be expressions, which Spark may run.
        if (kind === 'hint' && /\([^()]*\(/.test(sql.slice(start, end))) throw strangeHint(start);
        if (kind === 'quoted') refuseBackslash(sql, start);
        if (kind === 'word' && sql.startsWith('://', end)) throw noAddress(start);
        if (kind === 'number') checkNumberEnd(sql, start, end);
        add(kind, start, end);
      }
    },
    {
      onMark: refuseSharedSign(sql),
      onOpen: (start) => {
        if (sql.startsWith('/*+', start)) throw strangeHint(start);
        refuseBackslash(sql, start);
      },
    },
  );
  return tokens;
}

/** Spark reads on in the next line when one ends in a backslash, other engines do not. */
function checkLineComment(sql: string, start: number, end: number): void {
  if (!sql.startsWith('--', start) || sql[end - 1] !== '\\' || end === sql.length) return;
  throw new AppError('sql_error', 'the comment that begins here ends in a backslash, which engines read differently', {
    position: start,
    hint: 'take the backslash away',
  });
}

/** If two marks of comments share a sign Sail counts it twice, and Spark takes no hint inside of a comment for a comment. */
function refuseSharedSign(sql: string): OnMark {
  return (mark, start, end) => {
    if (!(mark === '/*' ? ['/', '+'] : ['*']).includes(sql[end] ?? '')) return;
    throw new AppError('sql_error', 'engines read the comment that begins here differently', {
      position: start,
      hint: 'put spaces around the /* and */ inside of it',
    });
  };
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

/** The value of a string, by Spark's rules. */
function stringValue(sql: string, start: number, end: number): string {
  if (sql[start] !== "'") {
    checkRawString(sql, start, end);
    return sql.slice(start + 2, end - 1);
  }
  const written = sql.slice(start + 1, end - 1);
  // Half a million doubled quotes are sooner replaced so.
  if (!written.includes('\\')) return wellFormed(unquoted(sql.slice(start, end)), start);
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

function checkRawString(sql: string, start: number, end: number): void {
  let last = end - 2;
  while (sql[last] === '\\') last--;
  if ((end - last) % 2 === 0) return;
  throw new AppError(
    'sql_error',
    'the raw string that begins here ends in a backslash, which engines read differently',
    {
      position: start,
      hint: "write it as '…' with doubled backslashes",
    },
  );
}

function refuseBackslash(sql: string, start: number): void {
  const backslash = /"(?:[^"\\]|"")*(?=\\)/y;
  backslash.lastIndex = start;
  if (!backslash.test(sql)) return;
  throw new AppError('sql_error', 'a name in double quotes cannot hold a backslash', {
    position: backslash.lastIndex,
    hint: 'write the name in backticks, or a string in single quotes',
  });
}

function nameIn(text: string, start: number): string {
  const name = unquoted(text);
  if (name === '') throw new AppError('sql_error', 'a name is empty', { position: start });
  // Spark can be set to replace this in the text, and a name cannot be written without it.
  if (name.includes('${'))
    throw new AppError('sql_error', 'a name cannot hold ${ on a cluster engine', { position: start });
  return name;
}

function checkNumberEnd(sql: string, start: number, end: number): void {
  if (!/[A-Za-z0-9_.]/.test(sql[end] ?? '')) return;
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
