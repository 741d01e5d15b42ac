import { AppError } from '../../../core/app-error.ts';
import type { Query, TableName } from '../../../core/sql.ts';
import type { TokenCursor } from './token-cursor.ts';

/** The names of WITH that are visible at a place of a query, those of one WITH a link. */
interface WithNames {
  readonly names: Set<string>;
  readonly outer: WithNames | undefined;
}

/** What was read: a query in parentheses and nothing else, which may be the beginning of a longer query, or any value. */
export type ExpressionKind = 'query' | 'value';

/** What stands inside of each other: handed on here, as no file can import its own importers. */
export interface Readers {
  /** A query, or the rest of one whose first part has been read. */
  query(reading: Reading, from: 'start' | 'tail'): void;
  expression(reading: Reading): ExpressionKind;
}

/** A query that is being read: where, and what was found so far. */
export class Reading {
  readonly cursor: TokenCursor;
  readonly read: Readers;
  readonly #tables = new Map<string, TableName>();
  readonly #parameterNames = new Map<string, string>();
  #positionalCount = 0;
  #withNames: WithNames | undefined;

  constructor(cursor: TokenCursor, read: Readers) {
    this.cursor = cursor;
    this.read = read;
  }

  /** What a query names by WITH is seen in it and in what stands inside of it. */
  inScope(read: () => void): void {
    const outer = this.#withNames;
    this.#withNames = { names: new Set(), outer };
    read();
    this.#withNames = outer;
  }

  addWithName(name: string): void {
    this.#withNames?.names.add(asciiLower(name));
  }

  addTable(name: string): void {
    const wanted = asciiLower(name);
    for (let at = this.#withNames; at !== undefined; at = at.outer) if (at.names.has(wanted)) return;
    this.#tables.set(name, { catalog: undefined, schema: undefined, name });
  }

  addPositionalParameter(position: number): void {
    if (this.#parameterNames.size > 0) throw mixedParameters(position);
    this.#positionalCount++;
  }

  addNamedParameter(name: string, position: number): void {
    if (this.#positionalCount > 0) throw mixedParameters(position);
    const before = this.#parameterNames.get(name.toLowerCase());
    if (before !== undefined && before !== name) {
      throw new AppError('sql_error', `the parameters :${before} and :${name} differ only in case`, {
        position,
        hint: 'give them other names',
      });
    }
    this.#parameterNames.set(name.toLowerCase(), name);
  }

  found(): Omit<Query, 'sql'> {
    const tables = [...this.#tables.values()];
    const parameterNames = [...this.#parameterNames.values()];
    if (parameterNames.length === 0) return { tables, parameterCount: this.#positionalCount };
    return { tables, parameterCount: parameterNames.length, parameterNames };
  }
}

/** Of A to Z only: where the cluster finds more names alike, a name of WITH counts as a table, which is never too few. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function mixedParameters(position: number): AppError {
  return new AppError('sql_error', 'parameters are either all ? or all :name', { position });
}
