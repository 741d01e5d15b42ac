import { AppError } from '../../../core/errors/app-error.ts';
import type { SparkToken } from './tokenizer.ts';

const noFiles = 'put data as frames, and read frames over HTTP or Flight';
const onlyTables = 'allowed is CREATE [OR REPLACE] TABLE x AS SELECT …';
const onlyQueries = 'send one query';
const operators = 'settings are the operator’s';
const noKeeping = 'frames need no statistics and no caching';

/** First words of refused statements, with an alternative. */
const hints: Readonly<Record<string, string>> = {
  add: operators,
  analyze: noKeeping,
  begin: onlyQueries,
  cache: noKeeping,
  call: 'use functions in a query',
  clear: noKeeping,
  comment: 'frames have no comments',
  commit: 'each statement is atomic',
  declare: 'use parameters: ? or :name',
  dfs: noFiles,
  execute: 'send that SQL as a statement of its own',
  explain: 'the plan of a cluster names the files of the server: send it to the engine local',
  export: noFiles,
  fetch: onlyQueries,
  from: 'write SELECT … FROM …',
  grant: 'rights belong to tokens, which the operator keeps',
  import: noFiles,
  list: operators,
  load: noFiles,
  lock: 'each statement is atomic',
  map: 'use functions: transform(array, x -> x + 1)',
  msck: noKeeping,
  open: onlyQueries,
  reduce: 'use functions: aggregate(array, 0, (sum, x) -> sum + x)',
  refresh: 'each statement reads the current version of every frame',
  repair: noKeeping,
  replace: onlyTables,
  reset: operators,
  revoke: 'rights belong to tokens, which the operator keeps',
  rollback: 'each statement is atomic',
  set: operators,
  show: 'allowed is SHOW TABLES',
  start: 'each statement is atomic',
  uncache: noKeeping,
  unlock: 'each statement is atomic',
  use: 'frames need no schema before their name',
};

const changes = new Set(['update', 'delete', 'merge', 'alter']);

/** Why a statement that begins so is refused. */
export function refusedStatement(tokens: readonly SparkToken[]): AppError {
  const [first] = tokens;
  const position = first?.start ?? 0;
  const word = first?.word ?? '';
  if (changes.has(word)) {
    return new AppError('sql_forbidden', `${word.toUpperCase()} is not allowed on a cluster engine`, {
      hint: 'send it to the engine local, or write a new version: CREATE OR REPLACE TABLE x AS SELECT …',
      position,
    });
  }
  if (word === 'create' || word === 'drop') return refusedKind(word, tokens);
  const hint = Object.hasOwn(hints, word) ? hints[word] : undefined;
  if (hint !== undefined) {
    return new AppError('sql_forbidden', `${word.toUpperCase()} is not allowed on a cluster engine`, {
      hint,
      position,
    });
  }
  return new AppError('sql_error', `expected a statement, found ${first?.text.slice(0, 100) ?? 'nothing'}`, {
    hint: 'allowed are queries, CREATE TABLE … AS, INSERT INTO, TRUNCATE TABLE, DROP TABLE, DROP VIEW, DESCRIBE and SHOW TABLES',
    position,
  });
}

/** CREATE or DROP of anything but a table. */
function refusedKind(word: string, tokens: readonly SparkToken[]): AppError {
  const kind = tokens
    .slice(1, 5)
    .map((token) => token.word)
    .find((each) => !['or', 'replace', ''].includes(each));
  const what = [word, kind]
    .filter((each) => each !== undefined)
    .join(' ')
    .toUpperCase();
  const hint =
    word === 'drop'
      ? 'allowed are DROP TABLE [IF EXISTS] x and DROP VIEW [IF EXISTS] x'
      : kind === 'view'
        ? 'a view is a query of the engine local: make it there'
        : onlyTables;
  return new AppError('sql_forbidden', `${what.slice(0, 100)} is not allowed`, {
    hint,
    position: tokens[0]?.start ?? 0,
  });
}

/** Where `FROM t |> WHERE x` would be a query. */
export function refusePipes(tokens: readonly SparkToken[]): void {
  const pipe = tokens.find(
    ({ kind, text, end }, index) =>
      kind === 'sign' && text === '|' && tokens[index + 1]?.text === '>' && tokens[index + 1]?.start === end,
  );
  if (pipe === undefined) return;
  throw new AppError('sql_forbidden', 'the pipe syntax |> is not supported', {
    position: pipe.start,
    hint: 'write it as SELECT … FROM (SELECT …)',
  });
}
