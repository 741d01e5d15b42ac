import type { Origin } from './text-position.ts';
import type { Token } from './tokenizer.ts';

/** A text of ours with pieces of the caller's in it, that knows where they stood. */
export class BuiltText {
  #sql = '';
  readonly #origins: { readonly built: number; readonly written: number }[] = [];

  get sql(): string {
    return this.#sql;
  }

  add(text: string): void {
    this.#sql += text;
  }

  addTokens(tokens: readonly Token[]): void {
    for (const [index, token] of tokens.entries()) {
      if (index > 0) this.#sql += spaceBefore(token, tokens[index - 1]);
      this.#origins.push({ built: this.#sql.length, written: token.start });
      this.#sql += token.text;
    }
  }

  /** Of what is ours, that of the caller's piece before it. */
  get origin(): Origin {
    const first = this.#origins[0]?.written ?? 0;
    return (at) => {
      const origin = this.#origins.findLast(({ built }) => built <= at);
      return origin === undefined ? first : origin.written + at - origin.built;
    };
  }
}

/** The text of the tokens, with a blank in place of each space and comment. */
export function textOf(tokens: readonly Token[]): string {
  return tokens.map((token, index) => spaceBefore(token, tokens[index - 1]) + token.text).join('');
}

function spaceBefore(token: Token, before: Token | undefined): string {
  return before !== undefined && before.end < token.start ? ' ' : '';
}
