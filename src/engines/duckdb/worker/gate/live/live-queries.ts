import { createHash } from 'node:crypto';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { liveFunction, liveSchema } from '../../../../../core/sql/live-read.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { unquoted } from '../../../../../core/text/dialects.ts';
import type { Token, TokenizedText } from '../../../../../core/text/tokens.ts';
import { queryFault } from '../../../../../core/text/tsdb-query.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { listOf, type TreeNode } from '../tree/parse-tree.ts';

/** A `tsdb.query('…')` of a text. */
export interface LiveQuery {
  readonly at: number;
  readonly end: number;
  /** Start of the query itself. */
  readonly textAt: number;
  readonly query: string;
  /** A schema of no other table. The name below it is that of the function, which is the alias if none is written. */
  readonly schema: string;
}

/** Whether a function in FROM is `tsdb.query`. */
export function isLiveQuery({ schema, catalog, function_name: name }: TreeNode): boolean {
  const isNamed = asciiLower(String(name)) === liveFunction && asciiLower(String(schema)) === liveSchema;
  return isNamed && catalog === undefined;
}

/** The text of a `tsdb.query('…')`, as DuckDB reads it. Refuses anything but one literal. */
export function argumentOf(call: TreeNode, position: number | undefined): string {
  const [argument, ...others] = listOf(call.children);
  const { type, value, is_null: isNull } = (argument?.value ?? {}) as TreeNode;
  const isText = (type as TreeNode | undefined)?.id === 'VARCHAR' && typeof value === 'string' && isNull !== true;
  if (argument?.class !== 'CONSTANT' || argument.alias !== undefined || !isText || others.length > 0) {
    throw notLiteral(position);
  }
  return value;
}

/** All calls in a text with their places. `expected`: the texts that DuckDB reads in them, in any order. */
export function liveQueries({ tokens }: TokenizedText, expected: readonly string[]): readonly LiveQuery[] {
  const found: LiveQuery[] = [];
  for (let index = 0; index + 5 < tokens.length; index++) {
    const [schema, dot, name, open, literal, close] = tokens.slice(index, index + 6) as readonly Token[] as SixTokens;
    const isCall = isNamed(schema, liveSchema) && dot.text === '.' && isNamed(name, liveFunction) && open.text === '(';
    if (!isCall || isDot(tokens[index - 1])) continue;
    if (literal.kind !== 'string' || close.text !== ')') throw notLiteral(literal.start);
    const query = textOf(literal);
    const fault = queryFault(query);
    if (fault !== undefined) {
      throw new AppError('sql_forbidden', `${liveSchema}.${liveFunction} takes one query: ${fault.problem}`, {
        hint: fault.hint,
        position: literal.start,
      });
    }
    found.push({
      at: schema.start,
      end: close.end,
      textAt: textStart(literal),
      query,
      schema: `${liveSchema}?${shortHash(query)}`,
    });
  }
  const isAlike = JSON.stringify(found.map(({ query }) => query).sort()) === JSON.stringify([...expected].sort());
  if (!isAlike) throw notLiteral(found[0]?.at);
  return found;
}

/** The name of a table that replaces the call, as long as the call. */
export function nameInPlace({ at, end, schema }: LiveQuery): string {
  const name = `"${schema}".${liveFunction}`;
  // The shortest query, `select 1`, leaves one character.
  if (name.length > end - at) throw new Error('a query is shorter than its name');
  return name.padEnd(end - at);
}

/** Eight characters, distinct without regard to case. */
function shortHash(text: string): string {
  const number = BigInt(`0x${createHash('sha256').update(text).digest('hex')}`);
  return (number % 36n ** 8n).toString(36).padStart(8, '0');
}

type SixTokens = readonly [Token, Token, Token, Token, Token, Token];

function isNamed(token: Token, name: string): boolean {
  return asciiLower(nameOf(token) ?? '') === name;
}

function isDot(token: Token | undefined): boolean {
  return token?.kind === 'mark' && token.text === '.';
}

/** `'…'` or `$$…$$`. */
function textOf({ text, start }: Token): string {
  if (text.startsWith("'")) return unquoted(text);
  const tag = /^\$[^$]*\$/.exec(text)?.[0];
  if (tag === undefined) throw notLiteral(start);
  return text.slice(tag.length, -tag.length);
}

function textStart({ text, start }: Token): number {
  return start + (text.startsWith("'") ? 1 : text.indexOf('$', 1) + 1);
}

function notLiteral(position: number | undefined): AppError {
  return new AppError('sql_forbidden', `${liveSchema}.${liveFunction} takes one query, as a literal`, {
    hint: `write ${liveSchema}.${liveFunction}('SELECT …'), with '' for each quote inside`,
    position,
  });
}
