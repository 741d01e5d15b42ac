import { quoteName } from '../names.ts';

/** The alias of a query's source. Columns are qualified with it, so that the name of a result never hides one. */
export const sourceAlias = 't';

/** SQL with `?` for values, and the values in their order. */
export interface Rendered {
  readonly text: string;
  readonly params: readonly unknown[];
}

/** An expression over columns: `col('price').gt(100)`. Everything here means the same in DuckDB, in Spark and in Polars. */
export class Expression {
  readonly rendered: Rendered;
  /** Of the column in a result. */
  readonly name: string;
  readonly isAggregate: boolean;

  constructor(rendered: Rendered, name: string, isAggregate = false) {
    this.rendered = rendered;
    this.name = name;
    this.isAggregate = isAggregate;
  }

  // Arithmetic: a quotient is a float, also of whole numbers.

  add(other: unknown): Expression {
    return this.#with('({} + {})', other);
  }

  sub(other: unknown): Expression {
    return this.#with('({} - {})', other);
  }

  mul(other: unknown): Expression {
    return this.#with('({} * {})', other);
  }

  div(other: unknown): Expression {
    return this.#with('(CAST({} AS DOUBLE) / CAST({} AS DOUBLE))', other);
  }

  neg(): Expression {
    return this.#with('(- {})');
  }

  abs(): Expression {
    return this.#with('abs({})');
  }

  // Conditions: of NULL they are NULL, and a filter keeps rows where they are true. NaN is equal to itself and greater than all.

  eq(other: unknown): Expression {
    return this.#compared('=', other);
  }

  ne(other: unknown): Expression {
    return this.#compared('<>', other);
  }

  lt(other: unknown): Expression {
    return this.#compared('<', other);
  }

  le(other: unknown): Expression {
    return this.#compared('<=', other);
  }

  gt(other: unknown): Expression {
    return this.#compared('>', other);
  }

  ge(other: unknown): Expression {
    return this.#compared('>=', other);
  }

  and(other: Expression): Expression {
    return this.#with('({} AND {})', other);
  }

  or(other: Expression): Expression {
    return this.#with('({} OR {})', other);
  }

  not(): Expression {
    return this.#with('(NOT {})');
  }

  isNull(): Expression {
    return this.#with('({} IS NULL)');
  }

  isNotNull(): Expression {
    return this.#with('({} IS NOT NULL)');
  }

  /** Both ends included. */
  isBetween(low: unknown, high: unknown): Expression {
    return this.#with('({} BETWEEN {} AND {})', low, high);
  }

  isIn(values: Iterable<unknown>): Expression {
    const listed = [...values].filter((value) => value !== null && value !== undefined);
    if (listed.length === 0) return this.#with('({} <> {})', this);
    return this.#with(`({} IN (${listed.map(() => '{}').join(', ')}))`, ...listed);
  }

  // Text

  startsWith(text: string): Expression {
    return this.#with("({} LIKE {} ESCAPE '!')", `${literally(text)}%`);
  }

  endsWith(text: string): Expression {
    return this.#with("({} LIKE {} ESCAPE '!')", `%${literally(text)}`);
  }

  /** As it stands there: no pattern. */
  contains(text: string): Expression {
    return this.#with("({} LIKE {} ESCAPE '!')", `%${literally(text)}%`);
  }

  /** Of a text, in characters. */
  length(): Expression {
    return this.#with('length({})');
  }

  // Dates and timestamps, in UTC

  year(): Expression {
    return this.#with('year({})');
  }

  month(): Expression {
    return this.#with('month({})');
  }

  day(): Expression {
    return this.#with('day({})');
  }

  hour(): Expression {
    return this.#with('hour({})');
  }

  minute(): Expression {
    return this.#with('minute({})');
  }

  // Aggregates: NULL is left out.

  /** 0 where there are no values; of whole numbers on the engine local a decimal, which does not overflow. */
  sum(): Expression {
    return this.#aggregate('coalesce(sum({}), 0)');
  }

  mean(): Expression {
    return this.#aggregate('avg({})');
  }

  min(): Expression {
    return this.#aggregate('min({})');
  }

  /** NaN where there is one. */
  max(): Expression {
    return this.#aggregate('max({})');
  }

  /** Of a sample; NULL of a single value. */
  std(): Expression {
    return this.#aggregate('stddev_samp({})');
  }

  var(): Expression {
    return this.#aggregate('var_samp({})');
  }

  /** Of the values that are not NULL; the function `count()` counts rows. */
  count(): Expression {
    return this.#aggregate('count({})');
  }

  /** The number of distinct values; NULL is one. */
  nUnique(): Expression {
    return this.#aggregate('(count(DISTINCT {}) + CASE WHEN count(*) > count({}) THEN 1 ELSE 0 END)', this);
  }

  // Names and defaults

  alias(name: string): Expression {
    return new Expression(this.rendered, name, this.isAggregate);
  }

  fillNull(value: unknown): Expression {
    return this.#with('coalesce({}, {})', value);
  }

  #compared(operator: string, other: unknown): Expression {
    if (other === null || other === undefined) throw new TypeError('nothing equals NULL: use isNull() or isNotNull()');
    return this.#with(`({} ${operator} {})`, other);
  }

  #aggregate(template: string, ...others: unknown[]): Expression {
    if (this.isAggregate) throw new TypeError(`an aggregate of an aggregate: ${this.rendered.text}`);
    const { rendered, name } = this.#with(template, ...others);
    return new Expression(rendered, name, true);
  }

  #with(template: string, ...others: unknown[]): Expression {
    const operands = [this, ...others.map(lit)];
    const parts = template.split('{}');
    const text = parts.map((part, at) => part + (at < operands.length ? operands[at]?.rendered.text : '')).join('');
    const params = operands.flatMap(({ rendered }) => rendered.params);
    return new Expression(
      { text, params },
      this.name,
      operands.some(({ isAggregate }) => isAggregate),
    );
  }
}

/** A column. */
export function col(name: string): Expression {
  if (typeof name !== 'string') throw new TypeError('col() takes the name of a column');
  return new Expression({ text: `${sourceAlias}.${quoteName(name)}`, params: [] }, name);
}

/** A value, which is sent apart from the SQL. */
export function lit(value: unknown): Expression {
  if (value instanceof Expression) return value;
  const isNull = value === null || value === undefined;
  return new Expression(isNull ? { text: 'NULL', params: [] } : { text: '?', params: [value] }, 'literal');
}

/** The number of rows. */
export function count(): Expression {
  return new Expression({ text: 'count(*)', params: [] }, 'count', true);
}

/** For LIKE, without patterns. */
function literally(text: string): string {
  return text.replaceAll(/[!%_]/g, '!$&');
}
