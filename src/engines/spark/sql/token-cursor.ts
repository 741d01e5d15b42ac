import { AppError } from '../../../core/app-error.ts';
import type { Dialect, Token } from './tokenizer.ts';
import { isAlias, reservedWords } from './words.ts';

/** Spark's parser overflows its stack at some hundreds. */
const maxDepth = 100;
/** `a + b + c` hangs a below two operators. Sail ends as a whole at some hundreds, Spark refuses at a thousand. */
const maxHeight: Readonly<Record<Dialect, number>> = { spark: 1000, sail: 200 };
/** With each level of these Sail plans twice as long: 20 take seconds, 30 minutes that nobody can stop. */
const maxDoublings: Readonly<Record<Dialect, number>> = { spark: maxDepth, sail: 16 };

/** Reads a statement token by token. */
export class TokenCursor {
  readonly #tokens: readonly Token[];
  readonly #sql: string;
  readonly #closing: ReadonlyMap<number, number>;
  readonly #dialect: Dialect;
  #next = 0;
  #depth = 0;
  #doublings = 0;
  /** Of the chain that is being read: its links, and the height of the highest thing in it. */
  #chain = { links: 0, below: 0 };

  constructor(tokens: readonly Token[], sql: string, dialect: Dialect) {
    this.#tokens = tokens;
    this.#sql = sql;
    this.#closing = closingParentheses(tokens);
    this.#dialect = dialect;
  }

  get position(): number {
    return this.peek()?.start ?? this.#sql.length;
  }

  /** Where the token before the next one ends. */
  get lastEnd(): number {
    return this.#tokens[this.#next - 1]?.end ?? 0;
  }

  get done(): boolean {
    return this.#next >= this.#tokens.length;
  }

  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#next + ahead];
  }

  take(count = 1): void {
    this.#next += count;
  }

  /** Whether these unquoted words come next. */
  sees(...words: readonly string[]): boolean {
    return words.every((word, index) => this.peek(index)?.word === word);
  }

  /** Steps over these words if they come next. */
  takes(...words: readonly string[]): boolean {
    if (!this.sees(...words)) return false;
    this.#next += words.length;
    return true;
  }

  seesOneOf(words: ReadonlySet<string>, ahead = 0): boolean {
    const word = this.peek(ahead)?.word;
    return word !== undefined && word !== '' && words.has(word);
  }

  /** Whether these signs come next, with nothing between them. */
  seesSigns(signs: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token?.kind === 'sign' && this.#sql.startsWith(signs, token.start);
  }

  takesSigns(signs: string): boolean {
    if (!this.seesSigns(signs)) return false;
    this.#next += signs.length;
    return true;
  }

  /** The token behind the parenthesis that closes the one that comes next. */
  peekBehindParentheses(): { readonly ahead: number } | undefined {
    const close = this.#closing.get(this.#next);
    return close === undefined ? undefined : { ahead: close + 1 - this.#next };
  }

  /** Every step into something nested goes through here, so that no text can exhaust a stack, here or in the cluster. */
  deepen(levels: number): void {
    this.#depth += levels;
    if (this.#depth <= maxDepth) return;
    throw new AppError('sql_error', `the statement is nested more than ${maxDepth} deep`, {
      position: this.position,
      hint: 'split it into several, or use WITH',
    });
  }

  /** Every step into a subquery as a value, or a lambda. */
  deepenDoubling(levels: number): void {
    this.#doublings += levels;
    const most = maxDoublings[this.#dialect];
    if (this.#doublings <= most) return;
    throw new AppError('sql_error', `subqueries as values, or lambdas, are nested more than ${most} deep`, {
      position: this.position,
      hint: 'join instead, or put the inner ones into FROM or WITH',
    });
  }

  nested<T>(read: () => T): T {
    this.deepen(1);
    const value = this.chained(() => {
      this.link();
      return read();
    });
    this.deepen(-1);
    return value;
  }

  /** Reads things that links hang upon each other: operands by operators, tables by joins, queries by set operations. */
  chained<T>(read: () => T): T {
    const outer = this.#chain;
    this.#chain = { links: 0, below: 0 };
    const value = read();
    outer.below = Math.max(outer.below, this.#chain.links + this.#chain.below);
    this.#chain = outer;
    this.#checkHeight();
    return value;
  }

  link(weight = 1): void {
    this.#chain.links += weight;
    this.#checkHeight();
  }

  #checkHeight(): void {
    const most = maxHeight[this.#dialect];
    if (this.#chain.links + this.#chain.below <= most) return;
    throw new AppError(
      'sql_error',
      `more than ${most} operators hang on each other (a join or a set operation counts as 2)`,
      {
        position: this.position,
        hint: 'write x = 1 OR x = 2 as x IN (1, 2), SELECT 1 UNION ALL SELECT 2 as VALUES (1), (2), or split the statement',
      },
    );
  }

  /** ( what is read ) */
  inParentheses<T>(read: () => T): T {
    this.expectSign('(');
    const value = this.nested(read);
    this.expectSign(')');
    return value;
  }

  expectSign(sign: string): void {
    if (!this.takesSigns(sign)) throw this.unexpected(sign);
  }

  expect(...words: readonly string[]): void {
    if (!this.takes(...words)) throw this.unexpected(words.join(' ').toUpperCase());
  }

  seesName(): boolean {
    const token = this.peek();
    return token?.kind === 'quoted' || (token?.kind === 'word' && !reservedWords.has(token.word));
  }

  takeName(what: string): string {
    const token = this.peek();
    if (token === undefined || !this.seesName()) throw this.unexpected(what);
    this.#next++;
    return token.name;
  }

  /** A name behind a period, where every word is one. */
  takePart(): void {
    const kind = this.peek()?.kind;
    if (kind !== 'quoted' && kind !== 'word') throw this.unexpected('the rest of the name');
    this.link();
    this.#next++;
  }

  /** name, name, … */
  takeNames(): string[] {
    const names: string[] = [];
    do names.push(this.takeName('a name'));
    while (this.takesSigns(','));
    return names;
  }

  /** [AS] name; whether there was one. */
  takesAlias(): boolean {
    if (this.takes('as')) {
      this.takeName('a name behind AS');
      return true;
    }
    const token = this.peek();
    if (token?.kind !== 'quoted' && !(token?.kind === 'word' && isAlias(token.word))) return false;
    this.#next++;
    return true;
  }

  unexpected(expected: string): AppError {
    const token = this.peek();
    const found = token === undefined ? 'the end of the statement' : token.text.slice(0, 100);
    const isReserved = token !== undefined && reservedWords.has(token.word);
    return new AppError('sql_error', `expected ${expected}, found ${found}`, {
      position: this.position,
      ...(isReserved && { hint: `if ${found} is a name, write it in backticks: \`${found}\`` }),
    });
  }
}

/** The index of the closing parenthesis of each opening one. */
function closingParentheses(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== 'sign') continue;
    if (text === '(') open.push(index);
    else if (text === ')') {
      const opened = open.pop();
      if (opened !== undefined) closing.set(opened, index);
    }
  }
  return closing;
}
