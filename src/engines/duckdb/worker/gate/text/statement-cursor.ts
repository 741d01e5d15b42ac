import type { TableName } from '../../../../../core/sql/sql.ts';
import { unquoted } from '../../../../../core/text/dialects.ts';
import { TokenCursor } from '../../../../../core/text/token-cursor.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { reservedWords } from '../rules/reserved-names.ts';
import { bracketDepth, isMark } from './token-groups.ts';

/** Reads the head of a statement token by token. */
export class StatementCursor extends TokenCursor {
  /** The end of the token before the next. */
  get behind(): number {
    return this.peek(-1)?.end ?? 0;
  }

  seesMark(text: string, ahead = 0): boolean {
    return isMark(this.peek(ahead), text);
  }

  takesMark(text: string): boolean {
    const isThere = this.seesMark(text);
    if (isThere) this.take();
    return isThere;
  }

  takeName(what: string): string {
    const name = nameOf(this.peek());
    if (name === undefined) throw this.unexpected(what);
    this.take();
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
      this.take();
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

/** The name that a token spells, if it is one. */
export function nameOf(token: Token | undefined): string | undefined {
  if (token?.kind === 'word') return reservedWords.has(token.word) ? undefined : token.text;
  if (token?.kind !== 'quoted' || !token.text.startsWith('"') || token.text.length < 3) return undefined;
  return unquoted(token.text);
}
