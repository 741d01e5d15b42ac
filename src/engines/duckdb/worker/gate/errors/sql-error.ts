import type { DuckDbError } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { nearestTo } from '../../../../../core/text/did-you-mean.ts';
import { type Token, tokenize } from '../../../../../core/text/tokens.ts';
import { resourceError } from '../../resource-error.ts';
import { systemTables } from '../rules/reserved-names.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { errorPosition } from './error-position.ts';

/** Errors that are not about the statement: their text is for the log. */
const notCallers =
  /^(?:IO|INTERNAL|FATAL|Internal|Serialization|Connection|Permission|HTTP|INTERRUPT|TransactionContext|Settings) Error/;

/** A message in our words. */
interface Wording {
  readonly message: string;
  readonly hint?: string | undefined;
}

/**
 * The caller's error for an error of their SQL. `sql` is DuckDB's text; `place` maps an offset in it to the caller's text, if it
 * has a place there. `columns` may be suggested where DuckDB names none. `types`: places of the types to which values are cast.
 */
export function sqlError(
  error: DuckDbError,
  sql: string,
  place: (offset: number) => number | undefined = (offset) => offset,
  columns: readonly string[] = [],
  types = sql,
): AppError {
  const resource = resourceError(error);
  if (resource !== undefined) return resource;
  // A defect of DuckDB that the statement has met. Its process is not used again.
  if (error.fatal) {
    return new AppError('engine_crashed', 'the engine broke down over this statement', {
      hint: 'write it in another way; the same statement breaks it each time',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  if (notCallers.test(error.message)) return new AppError('internal', 'internal error', { cause: error });
  const { message, hint } = wording(error.message, sql, columns, types);
  const found = errorPosition(error.message, sql);
  const position = (found === undefined ? undefined : place(found)) ?? -1;
  return new AppError('sql_error', withoutOurNames(message), {
    cause: error,
    hint: hint === undefined ? undefined : withoutOurNames(hint),
    position: position < 0 ? undefined : position,
  });
}

/** DuckDB's name of an ENUM has the numbers of its values. */
const enumType = /\bENUM\s*\((?:[^()']|'(?:[^']|'')*')*\)/gi;
const isUnsigned = /\b(?:UTINYINT|USMALLINT|UINTEGER|UINT(?:8|16|32))\b/i;

const wordings: readonly [
  RegExp,
  (found: readonly string[], candidates: readonly string[], sql: string, types: string) => Wording,
][] = [
  [
    /^Referenced column "(rowid)" not found in FROM clause/i,
    () => ({
      message: 'rowid is the number of a row of a frame that a query reads',
      hint: 'neither RETURNING nor a table of tsdb has it',
    }),
  ],
  [
    /^Could not convert string '([\s\S]*?)' to UINT(?:8|16|32)\b/,
    ([whole = '', value = ''], _, __, types) => {
      const enums = types.match(enumType) ?? [];
      const others = [...new Set(enums)].filter((each) => !each.includes(`'${value.replaceAll("'", "''")}'`));
      if (others.length === 0) return { message: lowered(whole) };
      const integer = isUnsigned.test(types) ? ', or no unsigned integer' : '';
      return { message: `'${value}' is no value of ${others.join(' or ').slice(0, 500)}${integer}` };
    },
  ],
  [
    /^Pivot column limit of (\d+) exceeded/i,
    ([, limit = '']) => ({
      message: `PIVOT would make more than ${limit} columns`,
      hint: 'name the values: ON column IN (…), or group them before',
    }),
  ],
  [
    /^Referenced column "([^\n]*)" not found in FROM clause/,
    ([, column = ''], candidates, sql) => {
      const table = singleTable(sql);
      return suggesting(`column "${column}" not found${table === undefined ? '' : ` in ${table}`}`, column, candidates);
    },
  ],
  [
    /^(?:Table|Values list) "([^\n]*)" does not have a column named "([^\n]*)"/,
    ([, table = '', column = ''], candidates) =>
      suggesting(`column "${column}" not found in ${table}`, column, candidates),
  ],
  [
    /^Referenced table "([^\n]*)" not found/,
    ([, table = ''], candidates) => suggesting(`table "${table}" not found in FROM`, table, candidates),
  ],
  [
    /^Table with name ([^\n]*) does not exist/,
    ([, table = ''], candidates) => ({
      hint: 'SHOW TABLES lists the frames',
      ...suggesting(`table ${table} not found`, table, candidates),
    }),
  ],
  [
    /^Scalar Function with name (rank|dense_rank|rank_dense|row_number|percent_rank|cume_dist|ntile|lag|lead|first_value|last_value|nth_value) does not exist/,
    ([, name = '']) => ({ message: `function ${name} needs a window`, hint: `write ${name}(…) OVER (…)` }),
  ],
  [
    /^(\w[\w ]*) with name ([^\n]*) does not exist/,
    ([, kind = '', name = ''], candidates) =>
      suggesting(`${kind.toLowerCase()} ${name} does not exist`, name, candidates),
  ],
  [
    /^(?:No function matches the given name and argument types '|Could not choose a best candidate function for the function call ")([^\n]*?)['"]\. /,
    ([, call = '']) => ({
      message: `no function takes ${readable(call)}`,
      hint: 'cast the arguments: CAST(… AS type)',
    }),
  ],
  [
    /^NOT NULL constraint failed: ([^.\n]*)\.([^\n]*)/,
    ([, table = '', column = '']) => ({ message: `column "${column}" of ${table} takes no NULL` }),
  ],
  [
    /^Ambiguous reference to table "[^\n]*" \(duplicate alias "(?:[^"\n]*\.)?([^".\n]*)"/,
    ([, table = '']) => ({
      message: `table "${table}" stands twice in FROM`,
      hint: `give each an alias: FROM ${table} AS a, ${table} AS b`,
    }),
  ],
  [
    /^Contents of view were altered/i,
    () => ({ message: 'a view has other columns under these settings', hint: 'leave the settings out' }),
  ],
  [
    /^More than one row returned by a subquery used as an expression/,
    () => ({ message: 'a subquery used as a value gives more than one row', hint: 'add LIMIT 1, or use IN or ANY' }),
  ],
  [
    /^Arrow Appender: The maximum total string size/,
    () => ({
      message: 'neighbouring values of a column hold more than 2 GiB together',
      hint: 'ask for shorter ones, as with substring(…)',
    }),
  ],
];

function wording(text: string, sql: string, columns: readonly string[], types: string): Wording {
  const plain = text.replace(/^[A-Z][A-Za-z ]* Error: /, '');
  const named = candidatesIn(plain);
  const candidates = named.length === 0 ? columns : named;
  for (const [pattern, word] of wordings) {
    const found = pattern.exec(plain);
    if (found !== null) return word(found, candidates, sql, types);
  }
  const first = (plain.split('\n', 1)[0] ?? '').trim().replace(/[.!]+$/, '');
  const message = lowered(first);
  return candidates.length === 0 ? { message } : { message, hint: `did you mean ${listed(candidates)}?` };
}

function lowered(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** Names of the lines such as: Candidate bindings: "price", "qty" and: Did you mean "trades"? */
function candidatesIn(text: string): string[] {
  const line = /\n(?:Candidate (?!functions)[\w ]+|Did you mean)[^\n"]*("[^\n]*")/.exec(text)?.[1] ?? '';
  return [...line.matchAll(/"([^"]+)"/g)]
    .map(([, name = '']) => name.replace(/^framehold\.frames\./, ''))
    .filter((name) => !isOurs(name))
    .filter((name) => !systemTables.has(name) && !/^(?:pg_catalog|information_schema|system|temp)\./.test(name));
}

/** A column that a statement has beside those of a frame. */
function isOurs(column: string): boolean {
  return /(?:^|\.)framehold /.test(column);
}

function suggesting(message: string, misspelt: string, candidates: readonly string[]): Wording {
  const columns = candidates.map((name) => name.slice(name.lastIndexOf('.') + 1));
  const nearest = nearestTo(misspelt, columns);
  const candidate = nearest === undefined ? undefined : candidates[columns.indexOf(nearest)];
  if (candidate !== undefined) return { message: `${message}; did you mean "${candidate}"?` };
  return candidates.length === 0 ? { message } : { message, hint: `there is ${listed(candidates)}` };
}

function listed(names: readonly string[]): string {
  return names
    .slice(0, 5)
    .map((name) => `"${name}"`)
    .join(', ');
}

function readable(call: string): string {
  return call.replaceAll('INTEGER_LITERAL', 'INTEGER').replaceAll('STRING_LITERAL', 'VARCHAR');
}

function withoutOurNames(text: string): string {
  return text.replaceAll(/"?framehold"?\."?frames"?\./g, '');
}

/** The name of the table that a query reads if it plainly reads only one, for messages. */
function singleTable(sql: string): string | undefined {
  let tokens: readonly Token[];
  try {
    tokens = tokenize(sql);
  } catch {
    return undefined;
  }
  const isOther = (token: Token): boolean => ['join', 'with', 'pivot', 'unpivot'].includes(token.word);
  const froms = tokens.flatMap((token, index) => (token.word === 'from' ? [index] : []));
  const [from] = froms;
  if (from === undefined || froms.length > 1 || tokens.some(isOther)) return undefined;
  const table = tokens[from + 1];
  const behind = tokens[from + 2];
  if (table === undefined || (behind?.kind === 'mark' && /[.,(]/.test(behind.text))) return undefined;
  return nameOf(table);
}
