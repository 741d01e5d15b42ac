import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Token, TokenizedText } from '../../../../../core/text/tokens.ts';
import { reservedWords } from '../rules/reserved-names.ts';
import { closingIndex, isMark, itemsIn, type TokenRange } from './token-groups.ts';

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * The clauses of a statement that DuckDB does not show us as a tree. All brackets in it are closed in order, so that a range
 * between two tokens outside of all brackets can be put into parentheses, and nothing in it can end them.
 */
export class Clauses implements TokenizedText {
  readonly sql: string;
  readonly tokens: readonly Token[];
  readonly #depths: readonly number[];

  constructor({ sql, tokens }: TokenizedText) {
    this.sql = sql;
    this.tokens = tokens;
    this.#depths = depthsOf(tokens);
  }

  get end(): number {
    return this.tokens.length;
  }

  /** The first token of the range outside of all brackets that is one of these keywords; else the end of the range. */
  find({ from, to }: TokenRange, ...words: readonly string[]): number {
    for (let index = from; index < to; index++) if (this.isClause(index, ...words)) return index;
    return to;
  }

  /** Whether the token is one of these keywords, outside of all brackets. */
  isClause(index: number, ...words: readonly string[]): boolean {
    const word = this.#depths[index] === 0 ? keywordAt(this.tokens, index) : undefined;
    if (word === undefined || !words.includes(word)) return false;
    // IS DISTINCT FROM
    return word !== 'from' || keywordAt(this.tokens, index - 1) !== 'distinct';
  }

  /** The parts between commas outside of all brackets in the range. */
  items(range: TokenRange): readonly TokenRange[] {
    return itemsIn(this.tokens, range);
  }

  /** The range inside the parentheses, if they enclose the whole range. */
  insideParentheses({ from, to }: TokenRange): TokenRange | undefined {
    if (to - from < 2 || !isMark(this.tokens[from], '(') || !isMark(this.tokens[to - 1], ')')) return undefined;
    return closingIndex(this.tokens, from) === to - 1 ? { from: from + 1, to: to - 1 } : undefined;
  }

  /** Refuses a clause that may not stand in the range, outside of all brackets. */
  refuse(range: TokenRange, words: readonly string[], where: string): void {
    const at = this.find(range, ...words);
    const token = at < range.to ? this.tokens[at] : undefined;
    if (token === undefined) return;
    throw new AppError('sql_error', `${token.text.toUpperCase()} cannot stand in ${where}`, { position: token.start });
  }
}

/** Keywords of query clauses and set operations. All are reserved words: none can be a name here. */
export const queryClauses =
  `select from where group having window qualify order limit offset fetch for union except intersect
  returning into with`.split(/\s+/);

const changes = new Set(['insert', 'update', 'delete', 'merge']);

/** WITH and its names before a statement that changes a frame. Undefined where the statement is another one. */
export function namesBeforeChange(statement: TokenizedText): TokenRange | undefined {
  const { tokens } = statement;
  const [first] = tokens;
  if (first?.word !== 'with') return undefined;
  if (!tokens.some(({ word }, index) => isBehindNames(index) && changes.has(word))) return undefined;
  const clauses = new Clauses(statement);
  // The body of the statement begins behind the last name.
  for (let to = 1; to < tokens.length; to++) {
    if (!isBehindNames(to) || !clauses.isClause(to, ...changes)) continue;
    const names = { from: 0, to };
    // In another statement, one of these comes first.
    return clauses.find({ from: 1, to }, ...queryClauses) === to ? names : undefined;
  }
  return undefined;

  function isBehindNames(index: number): boolean {
    return tokens[index - 1]?.text === ')';
  }
}

function keywordAt(tokens: readonly Token[], index: number): string | undefined {
  const token = tokens[index];
  if (token?.kind !== 'word') return undefined;
  const { word } = token;
  const before = tokens[index - 1];
  // Behind these any word is a name: x.end, AS from.
  const isName = isMark(before, '.') || before?.word === 'as';
  return isName && reservedWords.has(word) ? undefined : word;
}

/** For each token: the brackets, and CASE … END, around it; they are closed in order. */
export function depthsOf(tokens: readonly Token[]): number[] {
  const open: string[] = [];
  const depths: number[] = [];
  for (const [index, { kind, text, start }] of tokens.entries()) {
    const word = keywordAt(tokens, index);
    const opens = kind === 'mark' ? closing[text] : word === 'case' ? 'end' : undefined;
    const closes = kind === 'mark' && /^[)\]}]$/.test(text) ? text : word === 'end' ? word : undefined;
    if (closes !== undefined && open.pop() !== closes) throw unbalanced(text, start);
    depths.push(open.length);
    if (opens !== undefined) open.push(opens);
  }
  if (open.length > 0) throw unbalanced('the end of the statement', tokens.at(-1)?.end ?? 0);
  return depths;
}

function unbalanced(found: string, position: number): AppError {
  return new AppError('sql_error', `brackets are not closed in order before ${found}`, { position });
}
