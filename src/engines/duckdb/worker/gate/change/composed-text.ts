import { sqlName } from '@framehold/columns';
import { type Query, rowNumberColumn, type TableName, targetSchema } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { SourceText } from '../../../../../core/text/source-text.ts';
import { notExpected } from '../../../../../core/text/token-cursor.ts';
import { type Token, type TokenizedText, tokenize } from '../../../../../core/text/tokens.ts';
import type { GateText, TextRules } from '../gate-query.ts';
import { checkWritable } from '../rules/table-access.ts';
import { nameOf, type StatementCursor } from '../text/statement-cursor.ts';
import type { TokenRange } from '../text/token-groups.ts';

/** No name of a caller's, by intent. Should it be one, the query has two of them and is refused. */
const parametersName = 'framehold parameters';

/**
 * For joins with other tables: one row of the join for each row of the target. DISTINCT ON of DuckDB would take lists, structs
 * and maps through a form in which -0.0 is 0.0.
 */
export function oneForEachRow(alias: string): string {
  return ` QUALIFY row_number() OVER (PARTITION BY ${sqlName(alias)}.${targetRowNumber}) = 1`;
}

/** The frame that a statement changes, and its name in the statement. */
export interface Target {
  readonly table: TableName;
  readonly alias: string;
}

/** name [[AS] alias]; `ends`: words behind it that are no alias. */
export function takeTarget(cursor: StatementCursor, ...ends: readonly string[]): Target {
  const { position } = cursor;
  const table = cursor.takeTableName();
  checkWritable(table, position);
  if (cursor.takes('as')) return { table, alias: cursor.takeName('another name for the table') };
  const token = cursor.peek();
  const isEnd = token === undefined || ends.includes(token.word);
  const alias = isEnd ? undefined : nameOf(token);
  if (alias === undefined) return { table, alias: table.name };
  cursor.take();
  return { table, alias };
}

/**
 * The text of a query composed of pieces of a caller's statement. `?` becomes `$1`, `$2` …, as they are counted in the whole
 * statement, so that a piece may be moved.
 */
export class ComposedText {
  readonly #statement: TokenizedText;
  readonly #text = new SourceText();
  /** Parameters by their text in lower case, in the form used here. */
  readonly #parameters: ReadonlyMap<string, string>;
  /** The same for each `?`. */
  readonly #numbers: ReadonlyMap<Token, string>;
  readonly #used = new Set<string>();

  constructor(statement: TokenizedText, withNames?: TokenRange) {
    this.#statement = statement;
    const marks = statement.tokens.filter(({ kind, text }) => kind === 'parameter' && text === '?');
    this.#numbers = new Map(marks.map((token, index) => [token, `$${index + 1}`]));
    const all = statement.tokens.filter(({ kind }) => kind === 'parameter').map((token) => this.#textOf(token));
    this.#parameters = new Map(all.map((text) => [asciiLower(text), text]));
    if (withNames !== undefined) this.callers(withNames).ours(' ');
  }

  /** The parameters in it so far, in the form used here. */
  get parameters(): readonly string[] {
    return [...this.#parameters].flatMap(([key, text]) => (this.#used.has(key) ? text : []));
  }

  ours(text: string): this {
    this.#text.ours(text);
    return this;
  }

  /** A piece that is whole in itself. */
  callers({ from, to }: TokenRange): this {
    const { sql, tokens } = this.#statement;
    const first = tokens[from];
    const last = tokens[to - 1];
    if (first === undefined || last === undefined || from >= to) return this;
    let at = first.start;
    for (const token of tokens.slice(from, to)) {
      if (token.kind !== 'parameter') continue;
      const text = this.#textOf(token);
      this.#used.add(asciiLower(text));
      if (text === token.text) continue;
      this.#text.callers(sql, at, token.start).ours(text, token.start);
      at = token.end;
    }
    this.#text.callers(sql, at, last.end);
    return this;
  }

  /** An expression, which ends where our parenthesis does. */
  value(range: TokenRange, what: string): this {
    const { tokens } = this.#statement;
    if (range.from >= range.to) {
      throw notExpected(what, tokens[range.from], tokens.at(-1)?.end ?? 0);
    }
    return this.ours('(').callers(range).ours(')');
  }

  /** All columns of the target but the hidden ones; those of `set` with the values that `add` writes. */
  targetColumns<Item extends { readonly name: string }>(
    alias: string,
    { hidden = [], set = [] }: { readonly hidden?: readonly string[]; readonly set?: readonly Item[] },
    add: (item: Item) => void,
  ): this {
    this.ours(`, ${sqlName(alias)}.* EXCLUDE (${[rowNumberColumn, ...hidden].map(sqlName).join(', ')})`);
    for (const [index, item] of set.entries()) {
      this.ours(index === 0 ? ' REPLACE (' : ', ');
      add(item);
      this.ours(` AS ${sqlName(item.name)}`);
    }
    return set.length === 0 ? this : this.ours(')');
  }

  target({ table, alias }: Target): this {
    return this.ours(`${sqlName(targetSchema)}.${sqlName(table.name)} AS ${sqlName(alias)}`);
  }

  /** The query, checked. Where it takes parameters, it takes all of the statement, whether it uses them or not. */
  async gated(
    gate: GateText,
    {
      hasTarget = true,
      isForAll = true,
      ...rules
    }: Pick<TextRules, 'hasTarget' | 'takesDefault' | 'isOfEachRow'> & { readonly isForAll?: boolean } = {},
  ): Promise<Query> {
    const unused = isForAll || this.#used.size > 0 ? this.#unusedParameters() : [];
    const before = unused.length === 0 ? '' : `${sqlName(parametersName)} AS (SELECT ${unused.join(', ')})`;
    const { head, names } = splitWith(this.#text.sql);
    const added = before === '' ? '' : names ? ` ${before}, ` : `WITH ${before} `;
    return await gate(this.#text.edited([{ at: head, text: added }]), { hasTarget, ...rules });
  }

  #textOf(token: Token): string {
    return this.#numbers.get(token) ?? token.text;
  }

  /** Those of the statement that are not in this text. */
  #unusedParameters(): readonly string[] {
    return [...this.#parameters].flatMap(([key, text]) => (this.#used.has(key) ? [] : text));
  }
}

export const targetRowNumber = sqlName(rowNumberColumn);

/** The place for more names of WITH, and whether there are any. */
function splitWith(sql: string): { readonly head: number; readonly names: boolean } {
  const [first, second, third] = tokenize(sql, 3);
  if (first?.word !== 'with') return { head: 0, names: false };
  // It may be a name, too.
  const isRecursive = second?.word === 'recursive' && third?.word !== 'as' && third?.text !== '(';
  return { head: (isRecursive ? second : first)?.end ?? 0, names: true };
}
