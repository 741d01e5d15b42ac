import { settingName } from '../../../core/sql/statement-settings.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';
import { type SessionKind, sessions, unquoted } from '../../../core/text/dialects.ts';
import { lex } from '../../../core/text/lexer.ts';

/** A statement about the session itself, which no engine sees. */
export type SessionStatement =
  /** `engine`, or a setting of statements as its table spells it; undefined takes it back. */
  | { readonly kind: 'set'; readonly name: string; readonly value: string | undefined }
  | { readonly kind: 'begin' | 'commit' | 'rollback' };

/** Others are not meant for us; programs put comments before theirs. */
const longestStatement = 4000;
const mostTokens = 8;

/** Undefined: another statement, for an engine to run or to refuse. */
export function readSessionStatement(sql: string): SessionStatement | undefined {
  const words = sql.length > longestStatement ? undefined : wordsOf(sql);
  const [verb] = words ?? [];
  if (words === undefined || verb?.word === undefined) return undefined;
  const rest = words.slice(1);
  switch (verb.word) {
    case 'set':
      return readSet(rest);
    case 'reset':
      return readReset(rest);
    case 'begin':
      return isOver(rest, 'transaction', 'work') ? { kind: 'begin' } : undefined;
    case 'start':
      return rest.length === 1 && isOver(rest, 'transaction') ? { kind: 'begin' } : undefined;
    case 'commit':
    case 'end':
      return isOver(rest, 'transaction', 'work') ? { kind: 'commit' } : undefined;
    case 'rollback':
    case 'abort':
      return isOver(rest, 'transaction', 'work') ? { kind: 'rollback' } : undefined;
    default:
      return undefined;
  }
}

/** `SET [SESSION] name = value`, `SET name TO value`, `SET TIME ZONE value`; the value may be DEFAULT. */
function readSet(words: readonly Word[]): SessionStatement | undefined {
  const [first, ...others] = withoutSession(words);
  const isTimeZone = first?.word === 'time' && others[0]?.word === 'zone';
  const name = isTimeZone ? 'TimeZone' : nameOf(first);
  const [equals, value, more] = isTimeZone ? [undefined, ...others.slice(1)] : others;
  const isAssigned = isTimeZone || equals?.text === '=' || equals?.word === 'to';
  if (name === undefined || !isAssigned || value === undefined || more !== undefined) return undefined;
  if (value.word === 'default' || (isTimeZone && value.word === 'local'))
    return { kind: 'set', name, value: undefined };
  // The names of engines are in lower case.
  return { kind: 'set', name, value: name === 'engine' && value.word !== undefined ? value.word : value.text };
}

/** `RESET [SESSION] name`, `RESET TIME ZONE`. */
function readReset(words: readonly Word[]): SessionStatement | undefined {
  const [first, second, more] = withoutSession(words);
  const isTimeZone = first?.word === 'time' && second?.word === 'zone';
  const name = isTimeZone ? 'TimeZone' : nameOf(first);
  if (name === undefined || (second !== undefined && !isTimeZone) || more !== undefined) return undefined;
  return { kind: 'set', name, value: undefined };
}

function withoutSession(words: readonly Word[]): readonly Word[] {
  return words[0]?.word === 'session' ? words.slice(1) : words;
}

function nameOf(word: Word | undefined): string | undefined {
  if (word === undefined || word.isText) return undefined;
  return asciiLower(word.text) === 'engine' ? 'engine' : settingName(word.text);
}

function isOver([word, ...others]: readonly Word[], ...allowed: readonly string[]): boolean {
  return word === undefined || (others.length === 0 && word.word !== undefined && allowed.includes(word.word));
}

interface Word {
  readonly text: string;
  /** In lower case, where it is not quoted. */
  readonly word?: string | undefined;
  /** In single quotes. */
  readonly isText: boolean;
}

/** Undefined if it has other tokens, or too many. */
function wordsOf(sql: string): readonly Word[] | undefined {
  const words: Word[] = [];
  let hasEnded = false;
  let isOther = false;
  lex(sql, sessions, (kind, start, end) => {
    const text = sql.slice(start, end);
    if (kind === 'comment') return true;
    if (text === ';') hasEnded = true;
    else if (kind === 'open' || kind === 'other' || hasEnded || words.length === mostTokens) isOther = true;
    else words.push(wordOf(kind, text));
    return !isOther;
  });
  return isOther ? undefined : words;
}

function wordOf(kind: SessionKind, text: string): Word {
  if (kind === 'word') return { text, word: asciiLower(text), isText: false };
  return { text: kind === 'mark' ? text : unquoted(text), isText: kind === 'string' };
}
