import { AppError } from '../../../../../core/app-error.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { reservedWords } from '../reserved-names.ts';
import type { Token, TokenizedStatement } from '../tokenizer.ts';

/** Tokens [from, to) of a statement. */
export interface TokenRange {
  readonly from: number;
  readonly to: number;
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * The clauses of a statement that DuckDB does not show us as a tree. All brackets in it are closed in order, so that a range
 * between two tokens outside of all brackets can be put into parentheses, and nothing in it can end them.
 */
export class Clauses {
  readonly #tokens: readonly Token[];
  /** Of each token: the brackets, and CASE … END, around it. */
  readonly #depths: readonly number[];

  constructor({ tokens }: TokenizedStatement) {
    this.#tokens = tokens;
    this.#depths = depthsOf(tokens);
  }

  get end(): number {
    return this.#tokens.length;
  }

  /** The first token of the range outside of all brackets that is one of these keywords; else the end of the range. */
  find({ from, to }: TokenRange, ...words: readonly string[]): number {
    for (let index = from; index < to; index++) if (this.isClause(index, ...words)) return index;
    return to;
  }

  /** Whether the token is one of these keywords, outside of all brackets. */
  isClause(index: number, ...words: readonly string[]): boolean {
    const word = this.#depths[index] === 0 ? keywordAt(this.#tokens, index) : undefined;
    if (word === undefined || !words.includes(word)) return false;
    // IS DISTINCT FROM
    return word !== 'from' || keywordAt(this.#tokens, index - 1) !== 'distinct';
  }

  /** The parts between commas outside of all brackets. */
  items({ from, to }: TokenRange): TokenRange[] {
    const items: TokenRange[] = [];
    let start = from;
    for (let index = from; index < to; index++) {
      if (this.#depths[index] !== 0 || !isMark(this.#tokens[index], ',')) continue;
      items.push({ from: start, to: index });
      start = index + 1;
    }
    return [...items, { from: start, to }];
  }

  /** What stands in parentheses, where the whole range does. */
  insideParentheses({ from, to }: TokenRange): TokenRange | undefined {
    if (to - from < 2 || !isMark(this.#tokens[from], '(') || !isMark(this.#tokens[to - 1], ')')) return undefined;
    const closes = this.#depths.findIndex((depth, index) => index > from && depth === 0);
    return closes === to - 1 ? { from: from + 1, to: to - 1 } : undefined;
  }

  /** The parts between commas of what stands in these parentheses. */
  itemsInside(range: TokenRange): TokenRange[] {
    const inner = new Clauses({ sql: '', tokens: this.#tokens.slice(range.from, range.to) });
    return inner.items({ from: 0, to: range.to - range.from }).map(({ from, to }) => ({
      from: from + range.from,
      to: to + range.from,
    }));
  }

  /** Refuses a clause that may not stand in the range, outside of all brackets. */
  refuse(range: TokenRange, words: readonly string[], where: string): void {
    const at = this.find(range, ...words);
    const token = at < range.to ? this.#tokens[at] : undefined;
    if (token === undefined) return;
    throw new AppError('sql_error', `${token.text.toUpperCase()} cannot stand in ${where}`, { position: token.start });
  }
}

/** Clauses of a query, and what joins queries. All are reserved words: none can be a name here. */
export const queryClauses =
  `select from where group having window qualify order limit offset fetch for union except intersect
  returning into with`.split(/\s+/);

function keywordAt(tokens: readonly Token[], index: number): string | undefined {
  const token = tokens[index];
  if (token?.kind !== 'word') return undefined;
  const word = asciiLower(token.text);
  const before = tokens[index - 1];
  // Behind these any word is a name: x.end, AS from.
  const isName = isMark(before, '.') || (before?.kind === 'word' && asciiLower(before.text) === 'as');
  return isName && reservedWords.has(word) ? undefined : word;
}

function depthsOf(tokens: readonly Token[]): number[] {
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

function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text;
}
