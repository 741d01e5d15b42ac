import { AppError } from '../../../../../core/errors/app-error.ts';
import { settingName, settingNames } from '../../../../../core/sql/statement-settings.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { StatementCursor } from '../text/statement-cursor.ts';

const noSession = 'each statement stands for itself; nothing is kept from one to the next';
const noFiles = 'put data as frames, and read frames over HTTP or Flight';
const onlyTables = 'allowed is CREATE [OR REPLACE] TABLE "x" AS SELECT …';
const atomic = 'each statement is atomic, and durable when it returns';
const operators = 'settings are the operator’s';

/** First words of refused statements, with an alternative. */
const hints: Readonly<Record<string, string>> = {
  abort: atomic,
  analyze: 'there are no statistics to keep; EXPLAIN shows the plan of a query',
  attach: 'the operator attaches one database, analytics',
  begin: atomic,
  call: 'use SELECT … FROM with a function that is allowed, such as range(10)',
  checkpoint: atomic,
  comment: 'frames have no comments',
  commit: atomic,
  copy: noFiles,
  deallocate: noSession,
  detach: 'the operator attaches one database, analytics',
  end: atomic,
  execute: noSession,
  export: noFiles,
  force: atomic,
  grant: 'rights belong to tokens, which the operator keeps',
  import: noFiles,
  install: operators,
  load: operators,
  pragma: 'PRAGMA table_info(x) and PRAGMA show_tables tell of frames; settings are the operator’s',
  prepare: 'send the statement with ? or $1 and its parameters',
  revoke: 'rights belong to tokens, which the operator keeps',
  rollback: atomic,
  savepoint: atomic,
  start: atomic,
  update_extensions: operators,
  use: 'frames need no schema before their name',
  vacuum: atomic,
};

const createHints: Readonly<Record<string, string>> = {
  INDEX: 'queries skip rows by the statistics of their columns; there is nothing to be made beforehand',
  SEQUENCE: 'bring the ids, or let DEFAULT uuid() give each row one',
};

/** Refuses statements by their first words, before DuckDB sees them. Returns when it may be a query. */
export function refuseStatement(tokens: readonly Token[]): void {
  const [first] = tokens;
  if (first?.kind !== 'word') return;
  const { word } = first;
  if (word === 'set' || word === 'reset') throw setting(word, tokens);
  if (word === 'create' || word === 'drop') throw refusedKind(word, tokens);
  const hint = Object.hasOwn(hints, word) ? hints[word] : undefined;
  if (hint === undefined) return;
  throw new AppError('sql_forbidden', `${word.toUpperCase()} is not allowed`, { hint, position: first.start });
}

/** SET [SESSION] name …, SET TIME ZONE …, RESET name. */
function setting(word: string, tokens: readonly Token[]): AppError {
  const scopes = new Set(['session', 'local', 'global']);
  const index = scopes.has(asciiLower(tokens[1]?.text ?? '')) ? 2 : 1;
  const isTimeZone = tokens[index]?.word === 'time' && tokens[index + 1]?.word === 'zone';
  const name = isTimeZone ? 'TimeZone' : settingName(tokens[index]?.text ?? '');
  return new AppError(
    'sql_forbidden',
    `${word.toUpperCase()} is not allowed${name === undefined ? '' : ': a request has no session'}`,
    {
      hint:
        name === undefined
          ? `settings are the operator’s, but for ${settingNames.join(', ')}`
          : `send the setting with each statement, as "settings" of POST /sql: {"sql": …, "settings": {"${name}": …}}; a session of Flight SQL keeps it`,
      position: tokens[0]?.start ?? 0,
    },
  );
}

const modifierWords = new Set(
  'temp temporary local global unlogged persistent unique recursive materialized'.split(' '),
);

function refusedKind(word: string, tokens: readonly Token[]): AppError {
  const cursor = new StatementCursor(tokens, 0);
  cursor.take();
  cursor.takes('or', 'replace');
  const modifiers: string[] = [];
  for (;;) {
    const token = cursor.peek();
    if (token === undefined || !modifierWords.has(token.word)) break;
    modifiers.push(token.text.toUpperCase());
    cursor.take();
  }
  const token = cursor.peek();
  const kind = token?.kind === 'word' ? token.text.toUpperCase().slice(0, 40) : '';
  const what = [word.toUpperCase(), ...modifiers, kind].join(' ').trim();
  const hint =
    word === 'drop'
      ? 'allowed is DROP TABLE [IF EXISTS] "x"'
      : kind === 'TABLE' && modifiers.length > 0
        ? `${onlyTables}; give it a time to live when it is put, or drop it afterwards`
        : (createHints[kind] ?? onlyTables);
  return new AppError('sql_forbidden', `${what} is not allowed`, { hint, position: tokens[0]?.start ?? 0 });
}
