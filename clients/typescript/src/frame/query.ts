import { quoteName } from '../names.ts';
import { type Expression, type Rendered, sourceAlias } from './expression.ts';

export interface OrderTerm {
  readonly by: Expression;
  readonly isDescending: boolean;
  readonly nullsLast: boolean;
}

interface Clauses {
  readonly source: Rendered;
  readonly where: readonly Rendered[];
  /** Undefined: all of the source. */
  readonly columns: readonly Expression[] | undefined;
  /** Number of the columns that are grouped by. */
  readonly keys: number;
  readonly isDistinct: boolean;
  readonly order: readonly OrderTerm[];
  readonly limit: number | undefined;
}

/** One SELECT. Its clauses run in this order, so that a verb that comes before another needs a query around it. */
export class Query {
  readonly #clauses: Clauses;

  constructor(clauses: Partial<Clauses> & Pick<Clauses, 'source'>) {
    const empty = { where: [], columns: undefined, keys: 0, isDistinct: false, order: [], limit: undefined };
    this.#clauses = { ...empty, ...clauses };
  }

  /** A table, or a query in parentheses, that is read. */
  static of(text: string, params: readonly unknown[] = []): Query {
    return new Query({ source: { text: `${text} AS ${sourceAlias}`, params } });
  }

  filter(conditions: readonly Expression[]): Query {
    const query = this.#unlessFilterOnly();
    return query.#with({ where: [...query.#clauses.where, ...conditions.map(({ rendered }) => rendered)] });
  }

  choose(columns: readonly Expression[]): Query {
    const { columns: chosen, isDistinct } = this.#clauses;
    return (chosen !== undefined || isDistinct ? this.nested() : this).#with({ columns });
  }

  group(keys: readonly Expression[], columns: readonly Expression[]): Query {
    const grouped = { columns: [...keys, ...columns], keys: keys.length, order: [] };
    return this.#unlessFilterOnly().#with(grouped).nested();
  }

  sort(order: readonly OrderTerm[]): Query {
    return this.#unlessFilterOnly().#with({ order });
  }

  limit(rows: number): Query {
    const { limit = rows } = this.#clauses;
    return this.#with({ limit: Math.min(rows, limit) });
  }

  distinct(): Query {
    return (this.#clauses.limit === undefined ? this : this.nested()).#with({ isDistinct: true, order: [] });
  }

  /** The same rows, as the source of another query. Their order goes with them as far as its columns do. */
  nested(): Query {
    const { text, params } = this.render();
    const source = { text: `(${text}) AS ${sourceAlias}`, params };
    return new Query({ source, order: this.#clauses.columns === undefined ? this.#clauses.order : [] });
  }

  render(): Rendered {
    const { source, where, columns, keys, isDistinct, order, limit } = this.#clauses;
    const params: unknown[] = [];
    const taken = ({ text, params: values }: Rendered): string => {
      params.push(...values);
      return text;
    };
    const chosen = columns?.map(({ rendered, name }) => `${taken(rendered)} AS ${quoteName(name)}`).join(', ') ?? '*';
    const parts = [`SELECT${isDistinct ? ' DISTINCT' : ''} ${chosen} FROM ${taken(source)}`];
    if (where.length > 0) parts.push(`WHERE ${where.map(taken).join(' AND ')}`);
    // By their places: an expression with values in it would not be known again.
    if (keys > 0) parts.push(`GROUP BY ${Array.from({ length: keys }, (_, at) => at + 1).join(', ')}`);
    const terms = order.map(({ by, isDescending, nullsLast }) => {
      return `${taken(by.rendered)}${isDescending ? ' DESC' : ''} NULLS ${nullsLast ? 'LAST' : 'FIRST'}`;
    });
    if (terms.length > 0) parts.push(`ORDER BY ${terms.join(', ')}`);
    if (limit !== undefined) parts.push(`LIMIT ${limit}`);
    return { text: parts.join(' '), params };
  }

  #unlessFilterOnly(): Query {
    const { columns, isDistinct, limit } = this.#clauses;
    return columns === undefined && !isDistinct && limit === undefined ? this : this.nested();
  }

  #with(clauses: Partial<Clauses>): Query {
    return new Query({ ...this.#clauses, ...clauses });
  }
}
