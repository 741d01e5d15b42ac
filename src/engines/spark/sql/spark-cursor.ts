import type { AppError } from '../../../core/errors/app-error.ts';
import { TokenCursor } from '../../../core/text/token-cursor.ts';
import { type Dialect, StatementSize } from './statement-size.ts';
import type { SparkToken } from './tokenizer.ts';
import { isAlias, reservedWords } from './words.ts';

/** Reads a statement of Spark's dialect token by token. */
export class SparkCursor extends TokenCursor<SparkToken> {
  readonly #sql: string;
  readonly #closing: ReadonlyMap<number, number>;
  readonly size: StatementSize;

  constructor(tokens: readonly SparkToken[], sql: string, dialect: Dialect) {
    super(tokens, sql.length);
    this.#sql = sql;
    this.#closing = closingParentheses(tokens);
    this.size = new StatementSize(dialect, () => this.position);
  }

  /** The same for a clause, which depends on the text before it. */
  takesClause(...words: readonly string[]): boolean {
    const isTaken = this.takes(...words);
    if (isTaken) this.size.link();
    return isTaken;
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
    this.take(signs.length);
    return true;
  }

  /** The token behind the parentheses that open next. */
  peekBehindParentheses(): { readonly ahead: number } | undefined {
    const close = this.#closing.get(this.index);
    return close === undefined ? undefined : { ahead: close + 1 - this.index };
  }

  /** The name that the last token spells; empty for other tokens. */
  get lastName(): string {
    return this.peek(-1)?.name ?? '';
  }

  /** ( the read text ) */
  inParentheses<T>(read: () => T): T {
    this.expectSign('(');
    const value = this.size.nested(read);
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
    this.take();
    return token.name;
  }

  /** A name behind a period, where every word is one. */
  takePart(): void {
    const kind = this.peek()?.kind;
    if (kind !== 'quoted' && kind !== 'word') throw this.unexpected('the rest of the name');
    this.size.link();
    this.take();
  }

  /** name.name.… */
  takeQualifiedName(what: string): void {
    this.takeName(what);
    while (this.takesSigns('.')) this.takePart();
  }

  takeNumber(): void {
    this.#takeKind('number');
  }

  takeString(): void {
    this.#takeKind('string');
  }

  #takeKind(kind: 'number' | 'string'): void {
    if (this.peek()?.kind !== kind) throw this.unexpected(`a ${kind}`);
    this.take();
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
    this.take();
    return true;
  }

  override unexpected(expected: string): AppError {
    const token = this.peek();
    const isReserved = token !== undefined && reservedWords.has(token.word);
    const hint = `if ${token?.text} is a name, write it in backticks: \`${token?.text}\``;
    return super.unexpected(expected, isReserved ? hint : undefined);
  }
}

/** The index of the closing parenthesis of each opening one. */
function closingParentheses(tokens: readonly SparkToken[]): ReadonlyMap<number, number> {
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
