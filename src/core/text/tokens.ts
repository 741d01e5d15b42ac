import { AppError } from '../errors/app-error.ts';
import { asciiLower } from './ascii-lower.ts';
import { duckdb, type TokenKind } from './dialects.ts';
import { type Lexeme, type Lexicon, lex, type OnMark, type TakeLexeme } from './lexer.ts';

/** A piece of SQL text that is neither space nor comment. */
export interface Token<K extends string = TokenKind> {
  readonly kind: K;
  readonly start: number;
  readonly end: number;
  /** As written. */
  readonly text: string;
  /** A word in lower case; empty for all other tokens. */
  readonly word: string;
}

/** A text with its tokens, or with those of the one statement in it. */
export interface TokenizedText {
  readonly sql: string;
  readonly tokens: readonly Token[];
}

const maxBytes = 1_048_576;
/** DuckDB's parser needs time squared in the depth of nested comments. */
const maxCommentDepth = 32;

/** Refuses text that no engine can parse at all. */
export function checkText(sql: string): void {
  if (sql.length > maxBytes || Buffer.byteLength(sql) > maxBytes) {
    throw new AppError('too_large', 'the statement is larger than 1 MiB', { hint: 'put the data as a frame instead' });
  }
  // A C string would end there, so that less would run than was checked.
  const strange = /\0|\p{Surrogate}/u.exec(sql);
  if (strange !== null) {
    throw new AppError('sql_error', 'the statement holds a character that is not allowed', { position: strange.index });
  }
}

/** The first tokens of an SQL text by DuckDB's lexical rules; default: all. A quote or comment without an end is `sql_error`. */
export function tokenize(sql: string, most = Infinity): Token[] {
  const tokens: Token[] = [];
  lexChecked(sql, duckdb, (kind, start, end) => {
    if (kind === 'comment') return true;
    const text = sql.slice(start, end);
    const word = kind === 'word' ? asciiLower(text) : '';
    return tokens.push({ kind: kind === 'other' ? 'operator' : kind, start, end, text, word }) < most;
  });
  return tokens;
}

/** `lex` for a statement that is to run: a quote or comment without an end, or with too many comments inside, is `sql_error`. */
export function lexChecked<K extends string>(
  sql: string,
  lexicon: Lexicon<K>,
  take: (kind: Exclude<Lexeme<K | 'string'>, 'open'>, start: number, end: number) => unknown,
  { onMark, onOpen }: { readonly onMark?: OnMark; readonly onOpen?: (start: number) => void } = {},
): void {
  const takeChecked: TakeLexeme<K | 'string'> = (kind, start, end) => {
    if (kind !== 'open') return take(kind as Exclude<Lexeme<K | 'string'>, 'open'>, start, end);
    onOpen?.(start);
    throw unterminated(sql, start);
  };
  lex(sql, lexicon, takeChecked, (mark, start, end, depth) => {
    if (depth > maxCommentDepth) {
      const message = `comments are nested more than ${maxCommentDepth} deep`;
      throw new AppError('sql_error', message, { position: start });
    }
    onMark?.(mark, start, end, depth);
  });
}

const openings: Readonly<Record<string, string>> = {
  '/': 'comment',
  '"': 'quoted name',
  '`': 'quoted name',
  $: 'dollar-quoted string',
};

function unterminated(sql: string, position: number): AppError {
  const what = openings[sql.charAt(position)] ?? 'string';
  return new AppError('sql_error', `the ${what} that begins here has no end`, { position });
}

/** The tokens of an SQL text without the semicolons around them. Throws where there is no statement, or a second one. */
export function oneStatement<T extends Pick<Token, 'start' | 'text'>>(tokens: readonly T[]): readonly T[] {
  const first = tokens.findIndex((token) => !isEnd(token));
  if (first < 0)
    throw new AppError('sql_error', 'the statement is empty', { position: 0, hint: 'for example: SHOW TABLES' });
  const end = tokens.findIndex((token, index) => index > first && isEnd(token));
  if (end < 0) return tokens.slice(first);
  const second = tokens.slice(end).find((token) => !isEnd(token));
  if (second === undefined) return tokens.slice(first, end);
  throw new AppError('sql_error', 'only one statement at a time', {
    position: second.start,
    hint: 'send each statement as a request of its own',
  });
}

function isEnd({ text }: Pick<Token, 'text'>): boolean {
  return text === ';';
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
