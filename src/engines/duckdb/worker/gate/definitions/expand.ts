import { sqlName } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Definition } from '../../../../../core/sql/definition.ts';
import { framesCatalog, framesSchema, mainSchema } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { type Segment, type SourceText, tokenIndex } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { closingIndex } from '../text/token-groups.ts';
import { parseQuery } from '../tree/parse-query.ts';
import type { TreeNode } from '../tree/parse-tree.ts';
import { ExpandedText } from './expanded-text.ts';
import { expandedBody, type GivenValue } from './macro-body.ts';
import { type Value, valuesOf } from './macro-call.ts';
import { type MacroUse, macroUses } from './macro-uses.ts';
import { isTypedText, typeNames } from './type-names.ts';

/** Longer texts are no names of columns. */
const longestColumn = 200;

/**
 * Expands the definitions that a query names. Undefined if it names none. The result must be checked like any other text: this
 * only resolves names. `parameters`: of the macro whose body this is.
 */
export async function expandDefinitions(
  connection: Connection,
  text: SourceText,
  definitions: readonly Definition[],
  parameters: readonly string[] = [],
): Promise<ExpandedText | undefined> {
  const expander = new Expander(text, definitions, parameters);
  if (expander.mayNameMacros) await expander.findUses(connection);
  return expander.expanded();
}

/** The replacement of some tokens. */
interface Replacement {
  /** Index of the token behind the last. */
  readonly end: number;
  segments(): readonly Segment[];
}

class Expander {
  readonly #text: SourceText;
  readonly #sql: string;
  readonly #tokens: readonly Token[];
  readonly #macros: ReadonlyMap<string, Definition>;
  readonly #parameters: readonly string[];
  /** By the index of the first token of each. */
  readonly #replacements = new Map<number, Replacement>();
  /** Indexes of tokens that name columns, and that begin a window function. */
  #columns: ReadonlySet<number> = new Set();
  #windows: ReadonlySet<number> = new Set();

  constructor(text: SourceText, definitions: readonly Definition[], parameters: readonly string[]) {
    this.#text = text;
    this.#sql = text.sql;
    this.#tokens = text.tokens;
    this.#parameters = parameters;
    const named = (isType: boolean): Map<string, Definition> =>
      new Map(
        definitions.filter(({ kind }) => (kind === 'type') === isType).map((each) => [asciiLower(each.name), each]),
      );
    this.#macros = named(false);
    const types = named(true);
    if (types.size > 0) this.#findTypes(types);
  }

  get mayNameMacros(): boolean {
    if (this.#parameters.length > 0) return true;
    return this.#tokens.some(
      (token, index) => this.#tokens[index + 1]?.text === '(' && this.#macros.has(asciiLower(nameOf(token) ?? '')),
    );
  }

  expanded(): ExpandedText | undefined {
    if (this.#replacements.size === 0) return undefined;
    const text = new ExpandedText().callers(this.#sql, 0, this.#tokens[0]?.start ?? 0);
    text.add(this.#segmentsOf(0, this.#tokens.length));
    return text.callers(this.#sql, this.#tokens.at(-1)?.end ?? 0, this.#sql.length);
  }

  #findTypes(types: ReadonlyMap<string, Definition>): void {
    const textOf = (index: number): string | undefined => {
      const token = this.#tokens[index];
      const type = token === undefined ? undefined : types.get(asciiLower(nameOf(token) ?? ''));
      return type?.forms[0]?.body.join('');
    };
    for (const { from, word, to } of typeNames(this.#tokens)) {
      const type = textOf(word);
      if (type === undefined) continue;
      // The replacement may end in a type that takes [] but not ARRAY.
      const isArray = this.#tokens[to]?.word === 'array';
      const items = isArray && this.#tokens[to + 1]?.text !== '[' ? '[]' : '';
      this.#replace(from, isArray ? to + 1 : to, `${type}${items}`);
    }
    for (const index of this.#tokens.keys()) {
      if (this.#replacements.has(index) || !isTypedText(this.#tokens, index)) continue;
      const type = textOf(index);
      if (type !== undefined) this.#replace(index, index + 2, `CAST(${this.#tokens[index + 1]?.text} AS ${type})`);
    }
  }

  #replace(index: number, end: number, text: string): void {
    const at = this.#tokens[index]?.start ?? 0;
    this.#replacements.set(index, { end, segments: () => [{ text, at, isOurs: true }] });
  }

  async findUses(connection: Connection): Promise<void> {
    const { tree } = await parseQuery(connection, this.#text);
    const parameters = new Set(this.#parameters.map(asciiLower));
    const { uses, columns, windows } = macroUses(tree, { macros: new Set(this.#macros.keys()), parameters });
    const indexOf = (at: number | undefined): number | undefined => {
      const index = at === undefined ? -1 : tokenIndex(this.#tokens, at);
      return index < 0 ? undefined : index;
    };
    this.#columns = new Set(columns.flatMap((at) => indexOf(at) ?? []));
    this.#windows = new Set(windows.flatMap((at) => indexOf(at) ?? []));
    let hasCalls = false;
    for (const use of uses) {
      const { position: at = 0 } = use;
      const index = indexOf(use.position);
      // A node may stand twice in the tree.
      if (index !== undefined && this.#replacements.has(index)) continue;
      if (use.kind === 'parameter') this.#addParameter(use.name, index, at);
      else {
        this.#addCall(use, index, at);
        hasCalls = true;
      }
    }
    if (hasCalls) this.#numberParameters();
  }

  #addParameter(name: string, index: number | undefined, at: number): void {
    const token = index === undefined ? undefined : this.#tokens[index];
    const parameter = this.#parameters.findIndex((each) => asciiLower(each) === name);
    if (index === undefined || token === undefined || asciiLower(nameOf(token) ?? '') !== name)
      throw cannotFind(name, at);
    this.#refuseIn(name, index);
    const text = sqlName(this.#parameters[parameter] ?? '');
    this.#replacements.set(index, {
      end: index + 1,
      segments: () => [{ text, at: token.start, isOurs: true, parameter }],
    });
  }

  #addCall({ name, kind, node, isColumn }: MacroUse, index: number | undefined, at: number): void {
    const macro = this.#macros.get(name);
    const list = index === undefined ? undefined : this.#listOf(index, name);
    if (macro === undefined || index === undefined || list === undefined) throw cannotFind(name, at);
    const position = this.#tokens[index]?.start;
    if (macro.kind === 'type' || (macro.kind === 'table macro') !== (kind === 'table'))
      throw otherKind(macro, position);
    refuseClauses(macro, node, position);
    if (kind === 'value') this.#refuseIn(name, index);
    const { open, close } = list;
    const end = close + 1;
    const { form, values } = valuesOf(macro, this.#tokens, { open, close });
    const written = this.#sql.slice(this.#tokens[index]?.start, this.#tokens[close]?.end);
    // As DuckDB calls the column. In parentheses it can get no name there.
    const isNamed = isColumn && this.#tokens[index - 1]?.text !== '(' && isColumnName(written);
    this.#replacements.set(index, {
      end,
      segments: () => {
        const given = values.map((value) => this.#given(value, position ?? 0));
        const text = new ExpandedText().ours('(', position ?? 0);
        text.add(expandedBody(macro, form, given, position ?? 0).segments);
        text.ours(isNamed ? `) AS ${sqlName(written)}` : ')', position ?? 0);
        return text.segments;
      },
    });
  }

  #given(value: Value, position: number): GivenValue {
    const inParentheses = (text: ExpandedText): readonly Segment[] =>
      new ExpandedText().ours('(', position).add(text.segments).ours(')', position).segments;
    if (typeof value === 'string')
      return {
        columns: new Set(),
        hasWindow: false,
        segments: () => inParentheses(new ExpandedText().ours(value, position)),
      };
    const { from, to } = value;
    const indexes = Array.from({ length: to - from }, (_, index) => from + index);
    const columns = indexes.filter((index) => this.#columns.has(index));
    return {
      columns: new Set(columns.map((index) => asciiLower(nameOf(this.#tokens[index]) ?? ''))),
      hasWindow: indexes.some((index) => this.#windows.has(index)),
      // Expanded once: the macro may use it twice, and call another that uses it twice.
      segments: once(() => inParentheses(new ExpandedText().add(this.#segmentsOf(from, to)))),
    };
  }

  /** A value may occur twice in the result, or in another order. */
  #numberParameters(): void {
    let number = 0;
    for (const [index, { kind, text }] of this.#tokens.entries())
      if (kind === 'parameter' && text === '?') this.#replace(index, index + 1, `$${++number}`);
  }

  #segmentsOf(from: number, to: number): readonly Segment[] {
    const text = new ExpandedText();
    let at = this.#tokens[from]?.start ?? 0;
    for (let index = from; index < to; ) {
      const replacement = this.#replacements.get(index);
      if (replacement === undefined) index++;
      else {
        text.callers(this.#sql, at, this.#tokens[index]?.start ?? 0).add(replacement.segments());
        index = replacement.end;
        at = this.#tokens[index - 1]?.end ?? at;
      }
    }
    return text.callers(this.#sql, at, this.#tokens[to - 1]?.end ?? at).segments;
  }

  /** The parentheses of a call of this name that begins here, with or without a schema. */
  #listOf(first: number, name: string): { readonly open: number; readonly close: number } | undefined {
    if (this.#tokens[first - 1]?.text === '.') throw calledOnValue(name, this.#tokens[first]?.start);
    const names: string[] = [];
    let index = first;
    for (;;) {
      const token = this.#tokens[index++];
      const part = nameOf(token);
      if (part === undefined) return undefined;
      names.push(asciiLower(part));
      if (this.#tokens[index]?.text !== '.') break;
      index++;
    }
    if (names.pop() !== name) return undefined;
    const [schema, catalog] = names.reverse();
    const isOwn = schema === undefined || schema === framesSchema || schema === mainSchema;
    if (!isOwn || names.length > 2 || (catalog !== undefined && catalog !== framesCatalog))
      throw calledOnValue(name, this.#tokens[first]?.start);
    if (this.#tokens[index]?.text !== '(') return undefined;
    const close = closingIndex(this.#tokens, index);
    return close < this.#tokens.length ? { open: index, close } : undefined;
  }

  /** `x IN y` checks whether the list y has x, and `x IN (y)` whether x is y. */
  #refuseIn(name: string, index: number): void {
    const token = this.#tokens[index - 1];
    if (token?.word !== 'in') return;
    throw new AppError('sql_error', `${name} cannot stand behind IN`, {
      hint: 'write list_contains(list, x) for a list, or IN (…) for values',
      position: this.#tokens[index]?.start,
    });
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function isColumnName(written: string): boolean {
  return written.length <= longestColumn && !/\*|\bcolumns\b/i.test(written);
}

function refuseClauses({ kind, name }: Definition, node: TreeNode, position: number | undefined): void {
  const orders = (node.order_bys as TreeNode | undefined)?.orders;
  const isAggregate = node.filter !== undefined || node.distinct === true || Array.isArray(orders);
  const clause =
    node.class === 'WINDOW'
      ? 'OVER'
      : node.with_ordinality !== undefined
        ? 'WITH ORDINALITY'
        : isAggregate
          ? 'DISTINCT, FILTER or ORDER BY'
          : undefined;
  if (clause === undefined) return;
  throw new AppError('sql_error', `a ${kind} takes no ${clause}`, {
    hint: `write that into the body of ${name}`,
    position,
  });
}

function otherKind({ kind, name }: Definition, position: number | undefined): AppError {
  const hint = kind === 'macro' ? `use it as a value: SELECT ${name}(…)` : `use it as a table: FROM ${name}(…)`;
  return new AppError('sql_error', `${name} is a ${kind}`, { hint, position });
}

function calledOnValue(name: string, position: number | undefined): AppError {
  return new AppError('sql_error', `macro ${name} is not called so`, {
    hint: `write ${name}(x, …) rather than x.${name}(…)`,
    position,
  });
}

function cannotFind(name: string, position: number): AppError {
  return new AppError('sql_error', `${name} cannot be used here`, {
    hint: 'compute the value in a subquery, and use its column here',
    position,
  });
}
