import { AppError } from '../../../../../core/errors/app-error.ts';
import type { TableName } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { reservedWords } from '../rules/reserved-names.ts';
import { bracketDepth, isMark } from './token-groups.ts';
import type { Token } from './tokenizer.ts';

/** Reads the head of a statement token by token. */
export class TokenCursor {
  readonly #tokens: readonly Token[];
  readonly #end: number;
  #next = 0;

  /** `end`: the end of the text, for errors behind the last token. */
  constructor(tokens: readonly Token[], end: number) {
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

  /** The end of the token before the next. */
  get behind(): number {
    return this.#tokens[this.#next - 1]?.end ?? 0;
  }

  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#next + ahead];
  }

  take(): Token | undefined {
    return this.#tokens[this.#next++];
  }

  /** Whether these unquoted words come next. */
  sees(...words: readonly string[]): boolean {
    return words.every((word, index) => isWord(this.peek(index), word));
  }

  /** Skips these words if they come next. */
  takes(...words: readonly string[]): boolean {
    if (!this.sees(...words)) return false;
    this.#next += words.length;
    return true;
  }

  seesMark(text: string, ahead = 0): boolean {
    return isMark(this.peek(ahead), text);
  }

  takesMark(text: string): boolean {
    if (!this.seesMark(text)) return false;
    this.#next++;
    return true;
  }

  unexpected(expected: string): AppError {
    const token = this.peek();
    const found = token === undefined ? 'the end of the statement' : token.text.slice(0, 100);
    return new AppError('sql_error', `expected ${expected}, found ${found}`, { position: this.position });
  }

  takeName(what: string): string {
    const token = this.peek();
    const name = token === undefined ? undefined : nameOf(token);
    if (name === undefined) throw this.unexpected(what);
    this.#next++;
    return name;
  }

  /** (name, …) */
  takeNames({ mayEndInComma = false } = {}): readonly { readonly name: string; readonly position: number }[] {
    if (!this.takesMark('(')) throw this.unexpected('columns in parentheses');
    const names: { name: string; position: number }[] = [];
    do names.push({ position: this.position, name: this.takeName('the name of a column') });
    while (this.takesMark(',') && !(mayEndInComma && this.seesMark(')')));
    if (!this.takesMark(')')) throw this.unexpected('a comma or a closing parenthesis');
    return names;
  }

  /** The tokens before the first outside of brackets for which this holds. Default: all. */
  takeUntil(
    isEnd: (token: Token) => boolean = () => false,
    depthOf: (token: Token) => number = bracketDepth,
  ): readonly Token[] {
    const tokens: Token[] = [];
    let depth = 0;
    for (let token = this.peek(); token !== undefined; token = this.peek()) {
      if (depth === 0 && isEnd(token)) break;
      depth += depthOf(token);
      tokens.push(token);
      this.#next++;
    }
    return tokens;
  }

  takeTableName(what = 'the name of a table'): TableName {
    const parts = [this.takeName(what)];
    while (parts.length < 3 && this.takesMark('.')) parts.push(this.takeName('the rest of the name'));
    const [name = '', schema, catalog] = parts.reverse();
    return { catalog, schema, name };
  }
}

export function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && asciiLower(token.text) === word;
}

/** The name that a token spells, if it is one. */
export function nameOf(token: Token): string | undefined {
  if (token.kind === 'word') return reservedWords.has(asciiLower(token.text)) ? undefined : token.text;
  if (token.kind !== 'quoted' || !token.text.startsWith('"') || token.text.length < 3) return undefined;
  return token.text.slice(1, -1).replaceAll('""', '"');
}
