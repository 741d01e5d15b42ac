import { AppError } from '../errors/app-error.ts';
import type { Token } from './tokens.ts';

/** Reads a statement token by token. */
export class TokenCursor<T extends Token<string> = Token> {
  readonly #tokens: readonly T[];
  readonly #end: number;
  #next = 0;

  /** `end`: the end of the text, for errors behind the last token. */
  constructor(tokens: readonly T[], end: number) {
    this.#tokens = tokens;
    this.#end = end;
  }

  get position(): number {
    return this.peek()?.start ?? this.#end;
  }

  /** Index of the next token. */
  get index(): number {
    return this.#next;
  }

  skipTo(index: number): void {
    this.#next = index;
  }

  get done(): boolean {
    return this.#next >= this.#tokens.length;
  }

  /** The tokens that were not taken yet. */
  get rest(): readonly T[] {
    return this.#tokens.slice(this.#next);
  }

  /** Relative to the next token: -1 is the one that was taken last. */
  peek(ahead = 0): T | undefined {
    return this.#tokens[this.#next + ahead];
  }

  /** The next token, and skips so many. */
  take(count = 1): T | undefined {
    const token = this.peek();
    this.#next += count;
    return token;
  }

  /** Whether these unquoted words come next. */
  sees(...words: readonly string[]): boolean {
    return words.every((word, index) => this.peek(index)?.word === word);
  }

  /** Skips these words if they come next. */
  takes(...words: readonly string[]): boolean {
    if (!this.sees(...words)) return false;
    this.#next += words.length;
    return true;
  }

  unexpected(expected: string, hint?: string): AppError {
    return notExpected(expected, this.peek(), this.#end, hint);
  }
}

/** `end`: the place of the error if there is no token. */
export function notExpected(expected: string, token: Token<string> | undefined, end: number, hint?: string): AppError {
  const found = token?.text.slice(0, 100) ?? 'the end of the statement';
  return new AppError('sql_error', `expected ${expected}, found ${found}`, { position: token?.start ?? end, hint });
}
