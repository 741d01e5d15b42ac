import { AppError } from '../../../core/errors/app-error.ts';
import type { Query, TableName } from '../../../core/sql/sql.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';
import { type ColumnSizes, SelectColumns, unknownColumns } from './select-columns.ts';
import type { SparkCursor } from './spark-cursor.ts';
import type { Dialect, Expansion } from './statement-size.ts';

/** The names of WITH that are visible at a place of a query, one link for each WITH. */
interface WithNames {
  /** By lower case, then as written: the query of each name. */
  readonly names: Map<string, Map<string, WithQuery>>;
  readonly outer: WithNames | undefined;
}

/** The query of a name of WITH. */
export interface WithQuery extends Expansion {
  readonly columns: ColumnSizes;
  /** Where the names of its columns stand behind its own. */
  readonly isRenamed: boolean;
}

/** A query in parentheses and nothing else, which may be the beginning of a longer query, or any value. */
export type ExpressionKind = 'query' | 'value';

/** Readers that call each other: passed on here, as no file can import its own importers. */
export interface Readers {
  /** A query, or the rest of one whose first part has been read. */
  query(reading: ParseContext, from: 'start' | 'tail'): unknown;
  expression(reading: ParseContext): ExpressionKind;
}

/** The state while a query is read: the place, and the findings so far. */
export class ParseContext {
  readonly cursor: SparkCursor;
  readonly read: Readers;
  readonly dialect: Dialect;
  readonly #tables = new Map<string, TableName>();
  readonly #parameterNames = new Map<string, string>();
  #positionalCount = 0;
  #withNames: WithNames | undefined;
  /** Columns of the current SELECT. */
  #columns = new SelectColumns();
  /** Columns of the last query. */
  lastColumns: ColumnSizes = unknownColumns;
  /** Starts of parameters in the caller's text. */
  readonly parameterStarts = new Set<number>();
  /** Whether the cursor is inside of a WINDOW clause. */
  isInWindowClause = false;

  constructor(cursor: SparkCursor, read: Readers, dialect: Dialect) {
    this.cursor = cursor;
    this.read = read;
    this.dialect = dialect;
  }

  /** Names of WITH are visible in their query and in queries inside of it. */
  inScope<T>(read: () => T): T {
    const outer = this.#withNames;
    this.#withNames = { names: new Map(), outer };
    const value = read();
    this.#withNames = outer;
    return value;
  }

  get columns(): SelectColumns {
    return this.#columns;
  }

  /** Reads a SELECT, or clauses behind a query whose columns they name. */
  withColumns(read: () => void): ColumnSizes {
    const outer = this.#columns;
    this.#columns = new SelectColumns();
    read();
    const sizes = this.#columns.sizes();
    this.#columns = outer;
    this.cursor.size.checkColumnReferences(Math.max(sizes.expressions + sizes.open.length, sizes.total));
    return sizes;
  }

  addWithName(name: string, query: WithQuery): void {
    if (/[\u017f\u212a]/.test(name)) {
      throw new AppError('sql_error', `${name} holds a letter that Spark takes for another one`, {
        position: this.cursor.position,
        hint: 'give the query in WITH another name',
      });
    }
    const names = this.#withNames?.names;
    const alike = names?.get(asciiLower(name));
    if (alike === undefined) names?.set(asciiLower(name), new Map([[name, query]]));
    else alike.set(name, query);
  }

  /**
   * Case distinguishes names of WITH on Sail, not on Spark: a statement that depends on it is refused. If a cluster finds more
   * names equal than those of A to Z, a name of WITH counts as a table, which is never too few.
   */
  addTable(name: string, position: number): void {
    for (let at = this.#withNames; at !== undefined; at = at.outer) {
      const alike = at.names.get(asciiLower(name));
      if (alike === undefined) continue;
      const query = alike.get(name);
      if (query !== undefined) {
        this.cursor.size.expand(query);
        this.lastColumns = query.columns;
        this.#columns.addRelation(query.columns, query);
        return;
      }
      throw new AppError('sql_error', `${name} and ${[...alike.keys()][0]} of WITH differ in case`, {
        position,
        hint: 'write both the same, or give the query in WITH another name',
      });
    }
    this.cursor.size.addRelations(1);
    this.lastColumns = unknownColumns;
    this.#columns.addRelation(unknownColumns);
    if (!this.#tables.has(name)) this.#tables.set(name, { catalog: undefined, schema: undefined, name, position });
  }

  addPositionalParameter(position: number): void {
    this.parameterStarts.add(position);
    if (this.#parameterNames.size > 0) throw mixedParameters(position);
    this.#positionalCount++;
  }

  addNamedParameter(name: string, position: number): void {
    this.parameterStarts.add(position);
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

function mixedParameters(position: number): AppError {
  return new AppError('sql_error', 'parameters are either all ? or all :name', { position });
}
