import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type {
  CheckConstraint,
  ForeignKey,
  TableConstraints,
  TableKey,
} from '../../../../../core/sql/table-constraints.ts';
import { sharedSchema } from '../../../../../core/sql/table-name.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { textOf } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { checkWritable } from '../rules/table-access.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import { bracketDepth, isItemEnd, isMark } from '../text/token-groups.ts';

/** Words that begin something behind a column's type, or instead of a column. */
const clauseWords = new Set([
  'as',
  'check',
  'collate',
  'constraint',
  'default',
  'exclude',
  'foreign',
  'generated',
  'like',
  'primary',
  'references',
  'unique',
  'using',
]);

/** Whether a clause begins here, so that a type or a default ends before it. */
export function beginsClause(token: Token | undefined): boolean {
  const word = token?.word ?? '';
  return word === 'not' || word === 'null' || clauseWords.has(word);
}

interface WrittenKey extends TableKey {
  readonly position: number;
}

/** Collects the clauses of a table definition beside the names and types of its columns. */
export class ConstraintClauses {
  readonly #cursor: StatementCursor;
  readonly #notNull = new Set<string>();
  readonly #nullable = new Set<string>();
  readonly #defaults = new Map<string, readonly Token[]>();
  readonly #generated = new Map<string, readonly Token[]>();
  readonly #checks: { readonly name: string | undefined; readonly tokens: readonly Token[] }[] = [];
  #primaryKey: WrittenKey | undefined;
  readonly #unique: WrittenKey[] = [];
  readonly #foreign: (ForeignKey & WrittenKey)[] = [];

  constructor(cursor: StatementCursor) {
    this.#cursor = cursor;
  }

  /** Those of a table alone: CHECK, PRIMARY KEY, UNIQUE, FOREIGN KEY. False where a column begins here. */
  takesOfTable(): boolean {
    const cursor = this.#cursor;
    const { position } = cursor;
    const name = this.#takeName();
    if (cursor.takes('check')) this.#checks.push({ name, tokens: this.#takeParenthesized() });
    else if (cursor.takes('primary', 'key')) this.#setPrimaryKey({ name, columns: this.#takeColumns(), position });
    else if (cursor.takes('unique')) this.#unique.push({ name, columns: this.#takeColumns(), position });
    else if (cursor.takes('foreign', 'key')) {
      const columns = this.#takeColumns();
      if (!cursor.takes('references')) throw cursor.unexpected('REFERENCES');
      this.#foreign.push({ name, columns, position, ...this.#takeReference(columns.length) });
    } else {
      if (name !== undefined) throw cursor.unexpected('CHECK, PRIMARY KEY, UNIQUE or FOREIGN KEY');
      refuseUnknown(cursor);
      return false;
    }
    return true;
  }

  /** All clauses behind a column and its type. */
  takeOfColumn(column: string): void {
    const cursor = this.#cursor;
    for (;;) {
      const { position } = cursor;
      const name = this.#takeName();
      const columns = [column];
      if (cursor.takes('not', 'null')) this.#notNull.add(column);
      else if (cursor.takes('null')) this.#nullable.add(column);
      else if (cursor.takes('default')) this.#setDefault(column, position);
      else if (cursor.takes('check')) this.#checks.push({ name, tokens: this.#takeParenthesized() });
      else if (cursor.takes('primary', 'key')) this.#setPrimaryKey({ name, columns, position });
      else if (cursor.takes('unique')) this.#unique.push({ name, columns, position });
      else if (cursor.takes('references')) this.#foreign.push({ name, columns, position, ...this.#takeReference(1) });
      else if (cursor.takes('generated', 'always', 'as') || cursor.takes('as')) this.#setGenerated(column, position);
      else if (cursor.takes('using', 'compression')) this.#takeCompression();
      else if (name !== undefined) throw cursor.unexpected('a constraint');
      else {
        refuseUnknown(cursor);
        break;
      }
    }
    if (this.#notNull.has(column) && this.#nullable.has(column)) {
      const message = `column ${sqlName(column)} is both NULL and NOT NULL`;
      throw new AppError('sql_error', message, { position: cursor.position });
    }
    if (!this.#generated.has(column)) return;
    const clause = this.#defaults.has(column) ? 'DEFAULT' : this.#notNull.has(column) ? 'NOT NULL' : undefined;
    if (clause === undefined) return;
    throw new AppError('sql_error', `column ${sqlName(column)} is generated: no ${clause}`, {
      position: cursor.position,
    });
  }

  /** The compression of a column: its values stay the same. */
  #takeCompression(): void {
    const token = this.#cursor.take();
    if (token === undefined || (token.kind !== 'word' && token.kind !== 'string'))
      throw this.#cursor.unexpected('a compression');
  }

  generatedFrom(column: string): readonly Token[] | undefined {
    return this.#generated.get(column);
  }

  /** In the order in which they are to be checked. */
  get expressions(): readonly (readonly Token[])[] {
    return [...this.#defaults.values(), ...this.#generated.values(), ...this.#checks.map(({ tokens }) => tokens)];
  }

  /** With the columns as `columns` spells them, and the `texts` of `expressions`. Undefined where there are none. */
  constraintsOf(
    columns: readonly string[],
    texts: readonly string[] = this.expressions.map(textOf),
  ): TableConstraints | undefined {
    const spelled = new Map(columns.map((name) => [asciiLower(name), name]));
    const keyOf = ({ name, columns: named, position }: WrittenKey): TableKey => {
      const found = named.map((each) => {
        const column = spelled.get(asciiLower(each));
        if (column === undefined) throw keyError(`column ${sqlName(each)} of a key is not in the table`, position);
        if (this.#generated.has(column)) throw keyError(`column ${sqlName(each)} is generated: no key`, position);
        return column;
      });
      const repeated = found.find((column, index) => found.indexOf(column) !== index);
      if (repeated !== undefined) throw keyError(`column ${sqlName(repeated)} is twice in a key`, position);
      return { ...(name !== undefined && { name }), columns: found };
    };
    const inOrder = [...texts];
    const textsOf = (expressions: ReadonlyMap<string, readonly Token[]>): TableConstraints['defaults'] =>
      [...expressions.keys()].map((column) => ({ column, sql: inOrder.shift() ?? '' }));
    const defaults = textsOf(this.#defaults);
    const generated = textsOf(this.#generated);
    const primaryKey = this.#primaryKey === undefined ? undefined : keyOf(this.#primaryKey);
    const checks = this.#checks.map(
      ({ name }): CheckConstraint => ({ ...(name !== undefined && { name }), sql: inOrder.shift() ?? '' }),
    );
    const foreignKeys = this.#foreign.map((key): ForeignKey => {
      const { table, references } = key;
      return { ...keyOf(key), table, ...(references !== undefined && { references }) };
    });
    const isNotNull = new Set([...this.#notNull, ...(primaryKey?.columns ?? [])]);
    const notNull = columns.filter((column) => isNotNull.has(column));
    const constraints = {
      notNull,
      defaults,
      generated,
      checks,
      ...(primaryKey !== undefined && { primaryKey }),
      unique: this.#unique.map(keyOf),
      foreignKeys,
    };
    return Object.values(constraints).every((each) => Array.isArray(each) && each.length === 0)
      ? undefined
      : constraints;
  }

  #takeName(): string | undefined {
    const cursor = this.#cursor;
    return cursor.takes('constraint') ? cursor.takeName('the name of a constraint') : undefined;
  }

  #setDefault(column: string, position: number): void {
    if (this.#defaults.has(column)) throw twice(column, 'DEFAULT', position);
    this.#defaults.set(column, this.#takeDefault());
  }

  #setGenerated(column: string, position: number): void {
    if (this.#generated.has(column)) throw twice(column, 'expression', position);
    this.#generated.set(column, this.#takeParenthesized());
    // All are stored: a frame holds rows.
    if (!this.#cursor.takes('virtual')) this.#cursor.takes('stored');
  }

  #setPrimaryKey(key: WrittenKey): void {
    if (this.#primaryKey !== undefined) throw keyError('a table has at most one primary key', key.position);
    this.#primaryKey = key;
  }

  /** The tokens up to the next clause. */
  #takeDefault(): readonly Token[] {
    const cursor = this.#cursor;
    const { index } = cursor;
    const isEnd = (token: Token): boolean => isItemEnd(token) || (cursor.index > index && beginsClause(token));
    const tokens = cursor.takeUntil(isEnd, (token) => bracketDepth(token) + caseDepth(token));
    if (tokens.length === 0) throw cursor.unexpected('a value');
    return tokens;
  }

  #takeParenthesized(): readonly Token[] {
    const cursor = this.#cursor;
    if (!cursor.takesMark('(')) throw cursor.unexpected('an expression in parentheses');
    const tokens = cursor.takeUntil((token) => isMark(token, ')'));
    if (!cursor.takesMark(')')) throw cursor.unexpected('a closing parenthesis');
    return tokens;
  }

  #takeColumns(): readonly string[] {
    return this.#cursor.takeNames().map(({ name }) => name);
  }

  #takeOwnTable(): string {
    const { position } = this.#cursor;
    const table = this.#cursor.takeTableName();
    checkWritable(table, position);
    if (sharedSchema(table) === undefined) return table.name;
    throw new AppError('sql_forbidden', 'a foreign key names a frame of your own', { position });
  }

  /** The table and columns of a foreign key with `count` columns. */
  #takeReference(count: number): Pick<ForeignKey, 'table' | 'references'> {
    const cursor = this.#cursor;
    const table = this.#takeOwnTable();
    const { position } = cursor;
    const references = cursor.seesMark('(') ? this.#takeColumns() : undefined;
    if (references !== undefined && references.length !== count) {
      const message = `a foreign key has ${count} of its own columns and ${references.length} of ${sqlName(table)}`;
      throw keyError(message, position);
    }
    while (cursor.takes('on', 'delete') || cursor.takes('on', 'update')) {
      if (cursor.takes('no', 'action') || cursor.takes('restrict')) continue;
      throw new AppError('sql_forbidden', 'a foreign key cannot change other rows: it is not enforced', {
        hint: 'leave ON DELETE and ON UPDATE out',
        position: cursor.position,
      });
    }
    return { table, references };
  }
}

/** NOT and NULL between CASE and END begin no clause. */
function caseDepth(token: Token): number {
  return token.word === 'case' ? 1 : token.word === 'end' ? -1 : 0;
}

function refuseUnknown(cursor: StatementCursor): void {
  const { position } = cursor;
  const token = cursor.peek();
  if (cursor.sees('generated')) throw noSequences(position);
  if (cursor.sees('collate')) {
    throw new AppError('sql_forbidden', 'a column has no collation of its own', {
      hint: "write it in the query, as in WHERE c COLLATE NOCASE = 'x' and ORDER BY c COLLATE de, or set default_collation",
      position,
    });
  }
  if (token === undefined || !clauseWords.has(token.word)) return;
  throw new AppError('sql_forbidden', `${token.text.toUpperCase()} is not supported in the definition of a table`, {
    hint: 'allowed are NOT NULL, DEFAULT, CHECK, PRIMARY KEY, UNIQUE, FOREIGN KEY and GENERATED ALWAYS AS',
    position,
  });
}

export function noSequences(position: number): AppError {
  return new AppError('sql_forbidden', 'a column that numbers its rows is not supported: there are no sequences', {
    hint: 'bring the ids, or let DEFAULT uuid() give each row one',
    position,
  });
}

function twice(column: string, what: string, position: number): AppError {
  return new AppError('sql_error', `column ${sqlName(column)} has more than one ${what}`, { position });
}

function keyError(message: string, position: number): AppError {
  return new AppError('sql_error', message, { position });
}
