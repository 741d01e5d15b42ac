import { quoteName, quoteTable } from '../names.ts';
import type { Kept, KeptAs, SqlOptions } from '../operations.ts';
import type { Selection } from '../selection.ts';
import type { RowObject } from '../upload.ts';
import { col, Expression, type Rendered } from './expression.ts';
import { Query } from './query.ts';

/** Runs the queries of frames. */
export interface FrameSource {
  /** The names of a frame's columns. */
  columnsOf(name: string): Promise<readonly string[]>;
  collect<Row>(statement: () => Promise<Rendered>, options: CollectOptions): Selection<Row>;
  keep(statement: Rendered, options: CollectOptions & KeptAs): Promise<Kept>;
}

export type CollectOptions = Pick<SqlOptions, 'engine' | 'settings' | 'id' | 'signal'>;

/** Names of columns, expressions, and expressions by the names that they get. */
export type Columns = string | Expression | Readonly<Record<string, string | Expression>>;

export interface JoinOptions {
  /** Columns of both frames whose values must be equal; NULL equals nothing. */
  readonly on: string | readonly string[];
  /** Default: `inner`. */
  readonly how?: 'inner' | 'left' | 'semi' | 'anti' | undefined;
  /** Behind a name of the other frame that both have. Default: `_right`. */
  readonly suffix?: string | undefined;
}

export interface SortOptions {
  /** One for all, or one for each. Default: false. */
  readonly descending?: boolean | readonly boolean[] | undefined;
  /** Default: NULL comes first. */
  readonly nullsLast?: boolean | undefined;
}

/** A query as far as it is known without asking the server: the names of all columns may have to be asked for. */
interface Plan {
  readonly query: Query;
  /** Of the result. */
  readonly columns: () => Promise<readonly string[]>;
}

/** A query over a frame. Each verb gives another; nothing is sent before its rows are asked for. */
export class Frame<Row = RowObject> {
  readonly #source: FrameSource;
  readonly #plan: () => Promise<Plan>;

  private constructor(source: FrameSource, plan: () => Promise<Plan>) {
    this.#source = source;
    this.#plan = plan;
  }

  static of<Row>(source: FrameSource, name: string): Frame<Row> {
    let names: Promise<readonly string[]> | undefined;
    const columns = (): Promise<readonly string[]> => {
      names ??= source.columnsOf(name);
      return names;
    };
    const query = Query.of(quoteTable(name));
    return new Frame<Row>(source, async () => ({ query, columns }));
  }

  /** The rows for which all conditions are true. */
  filter(...conditions: readonly Expression[]): Frame<Row> {
    const other = conditions.find((condition) => !(condition instanceof Expression));
    if (other !== undefined) {
      const what = JSON.stringify(other);
      throw new TypeError(`filter takes conditions such as col("symbol").eq("x"), and not ${what}`);
    }
    refuseAggregates(conditions, 'filter');
    return this.#then(({ query, columns }) => ({ query: query.filter(conditions), columns }));
  }

  /** These columns, in this order; aggregates give one row. */
  select<Next = RowObject>(...columns: readonly Columns[]): Frame<Next> {
    const chosen = expressions(columns);
    const isGrouped = chosen.some(({ isAggregate }) => isAggregate);
    return this.#then(({ query }) => planOf(isGrouped ? query.group([], chosen) : query.choose(chosen), chosen));
  }

  /** All columns, and these: behind the others, or in the place of one of the same name. */
  withColumns<Next = RowObject>(...columns: readonly Columns[]): Frame<Next> {
    const added = new Map(expressions(columns).map((column) => [column.name, column]));
    refuseAggregates([...added.values()], 'withColumns');
    return this.#then(async ({ query, columns: known }) => {
      const names = await known();
      const kept = names.map((name) => added.get(name) ?? col(name));
      const chosen = [...kept, ...[...added.values()].filter(({ name }) => !names.includes(name))];
      return planOf(query.choose(chosen), chosen);
    });
  }

  groupBy(...keys: readonly Columns[]): Groups {
    const made = expressions(keys);
    refuseAggregates(made, 'groupBy');
    return {
      agg: (...columns) => {
        const aggregates = expressions(columns);
        const plain = aggregates.find(({ isAggregate }) => !isAggregate);
        if (plain !== undefined) {
          const what = JSON.stringify(plain.name);
          throw new TypeError(`${what} is no aggregate: use sum(), mean(), min(), max(), count() …, or group by it`);
        }
        return this.#then(({ query }) => planOf(query.group(made, aggregates), [...made, ...aggregates]));
      },
    };
  }

  /** The rows of both whose columns `on` are equal. */
  join<Next = RowObject>(other: Frame<unknown>, { on, how = 'inner', suffix = '_right' }: JoinOptions): Frame<Next> {
    if (!['inner', 'left', 'semi', 'anti'].includes(how)) {
      throw new TypeError(`how is ${JSON.stringify(how)}; it is 'inner', 'left', 'semi' or 'anti'`);
    }
    if (other.#source !== this.#source) throw new TypeError('a join is with a frame of the same connection');
    const keys = typeof on === 'string' ? [on] : on;
    return this.#then(async (left) => {
      const right = await other.#plan();
      const [ours, theirs] = [left.query.render(), right.query.render()];
      const equal = keys.map((key) => `l.${quoteName(key)} = r.${quoteName(key)}`).join(' AND ');
      const params = [...ours.params, ...theirs.params];
      if (how === 'semi' || how === 'anti') {
        const exists = `${how === 'semi' ? '' : 'NOT '}EXISTS (SELECT 1 FROM (${theirs.text}) AS r WHERE ${equal})`;
        const text = `(SELECT l.* FROM (${ours.text}) AS l WHERE ${exists})`;
        return { query: Query.of(text, params), columns: left.columns };
      }
      const mine = await left.columns();
      const others = (await right.columns()).filter((name) => !keys.includes(name));
      const named = others.map((name) => (mine.includes(name) ? `${name}${suffix}` : name));
      const chosen = [
        ...mine.map((name) => `l.${quoteName(name)}`),
        ...others.map((name, at) => `r.${quoteName(name)} AS ${quoteName(named[at] ?? name)}`),
      ];
      const join = `(${ours.text}) AS l ${how.toUpperCase()} JOIN (${theirs.text}) AS r ON ${equal}`;
      const query = Query.of(`(SELECT ${chosen.join(', ')} FROM ${join})`, params);
      return { query, columns: async () => [...mine, ...named] };
    });
  }

  sort(by: Columns | readonly Columns[], { descending = false, nullsLast = false }: SortOptions = {}): Frame<Row> {
    const made = expressions(Array.isArray(by) ? by : [by as Columns]);
    refuseAggregates(made, 'sort');
    const downs = typeof descending === 'boolean' ? made.map(() => descending) : descending;
    if (downs.length !== made.length) {
      throw new TypeError(`descending has ${downs.length} values for ${made.length} columns`);
    }
    const order = made.map((each, at) => ({ by: each, isDescending: downs[at] ?? false, nullsLast }));
    return this.#then(({ query, columns }) => ({ query: query.sort(order), columns }));
  }

  /** The first rows. */
  limit(rows: number): Frame<Row> {
    if (!Number.isSafeInteger(rows) || rows < 0) throw new TypeError(`limit is ${rows}; it is a number of rows`);
    return this.#then(({ query, columns }) => ({ query: query.limit(rows), columns }));
  }

  /** Each row once. */
  distinct(): Frame<Row> {
    return this.#then(({ query, columns }) => ({ query: query.distinct(), columns }));
  }

  /** The names of the result's columns. */
  async columns(): Promise<readonly string[]> {
    return (await this.#plan()).columns();
  }

  /** The statement that runs, and its values: `db.sql(text, { params })`. */
  async sql(): Promise<Rendered> {
    return (await this.#plan()).query.render();
  }

  /** Runs it. */
  collect(options: CollectOptions = {}): Selection<Row> {
    return this.#source.collect<Row>(() => this.sql(), options);
  }

  /** Runs it, and keeps its rows on the server as a frame. */
  async keep(name: string, options: CollectOptions & Omit<KeptAs, 'keep'> = {}): Promise<Kept> {
    return this.#source.keep(await this.sql(), { ...options, keep: name });
  }

  #then<Next>(step: (plan: Plan) => Plan | Promise<Plan>): Frame<Next> {
    return new Frame<Next>(this.#source, async () => step(await this.#plan()));
  }
}

/** `agg` makes one row of each group. */
export interface Groups {
  agg<Next = RowObject>(...columns: readonly Columns[]): Frame<Next>;
}

function planOf(query: Query, chosen: readonly Expression[]): Plan {
  return { query, columns: async () => chosen.map(({ name }) => name) };
}

function expressions(columns: readonly Columns[]): Expression[] {
  const found = columns.flatMap((column) => {
    if (typeof column === 'string') return [col(column)];
    if (column instanceof Expression) return [column];
    return Object.entries(column).map(([name, each]) => (typeof each === 'string' ? col(each) : each).alias(name));
  });
  const names = found.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new TypeError(`two columns are named ${JSON.stringify(twice)}: name one of them otherwise with alias()`);
  }
  if (found.length === 0) throw new TypeError('no columns are given');
  return found;
}

function refuseAggregates(columns: readonly Expression[], verb: string): void {
  const found = columns.find(({ isAggregate }) => isAggregate);
  if (found === undefined) return;
  throw new TypeError(`${verb} takes no aggregate, and ${found.rendered.text} is one: use groupBy(…).agg(…)`);
}
