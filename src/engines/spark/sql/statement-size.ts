import { AppError } from '../../../core/errors/app-error.ts';

/** Sail has no recursion, and less room for nested text. */
export type Dialect = 'spark' | 'sail';

/** Spark's parser overflows its stack at some hundreds. */
const maxDepth = 100;
/**
 * `a + b + c` hangs a below two operators, and each clause of a query hangs on the one before it. Sail ends as a whole at
 * some hundreds, Spark refuses at a thousand.
 */
const maxHeight: Readonly<Record<Dialect, number>> = { spark: 1000, sail: 200 };
/** With each level of these Sail's planning time doubles: 20 take seconds, 30 minutes without a way to stop. */
const maxDoublings: Readonly<Record<Dialect, number>> = { spark: maxDepth, sail: 16 };
/** Twice as many take more than twice as long to plan. */
const maxRelations = 1000;
/** An engine may copy the expression of a FROM query's column to each use. */
const maxColumnReferences = 5_000;
/**
 * Spark runs each subquery as a value on one of 16 threads, on which it waits for those inside of it: with 16 waiting none
 * continues, for all sessions and for ever.
 */
export const maxWaitingSubqueries = 15;

/** The sizes of a query so far. */
interface Measure {
  /** The current chain: its links, and the height of its highest part. */
  chain: { links: number; below: number };
  /** Subqueries as values and lambdas around the place that is being read, and the most so far. */
  doublings: number;
  mostDoublings: number;
  /** Queries, tables and grouping sets. */
  relations: number;
  /** Subqueries as values that hold others. */
  waitingSubqueries: number;
  /** Whether there is a subquery as a value. */
  hasSubquery: boolean;
}

/** The sizes that a name of WITH adds wherever it is used. */
export interface Expansion extends Pick<Measure, 'relations' | 'waitingSubqueries' | 'hasSubquery'> {
  readonly height: number;
  readonly doublings: number;
}

/** The size of a statement for the engine that plans it. Refuses statements that would end it or plan without a stop. */
export class StatementSize {
  readonly #dialect: Dialect;
  readonly #position: () => number;
  #depth = 0;
  #measure = newMeasure();
  /** Expressions of the current query that become a step of their own in a plan. */
  #stacked = 0;

  /** `position`: where the reader is, for errors. */
  constructor(dialect: Dialect, position: () => number) {
    this.#dialect = dialect;
    this.#position = position;
  }

  /** Subqueries as values that hold others; 0 on an engine that does not wait for them. */
  get waitingSubqueries(): number {
    return this.#measure.waitingSubqueries;
  }

  /** Every step into something nested goes through here, so that no text can exhaust a stack, here or in the cluster. */
  deepen(levels: number): void {
    this.#depth += levels;
    if (this.#depth <= maxDepth) return;
    throw this.#error(`the statement is nested more than ${maxDepth} deep`, 'split it into several, or use WITH');
  }

  /** Every step into a subquery as a value, or a lambda. */
  deepenDoubling(levels: number): void {
    this.#measure.doublings += levels;
    this.#noteDoublings(this.#measure.doublings);
  }

  #noteDoublings(doublings: number): void {
    this.#measure.mostDoublings = Math.max(this.#measure.mostDoublings, doublings);
    const most = maxDoublings[this.#dialect];
    if (doublings <= most) return;
    throw this.#error(
      `subqueries as values, or lambdas, are nested more than ${most} deep`,
      'join instead, or put the inner ones into FROM or WITH',
    );
  }

  nested<T>(read: () => T): T {
    this.deepen(1);
    const value = this.chained(() => {
      this.link();
      return read();
    });
    this.deepen(-1);
    return value;
  }

  /** Reads things that links hang upon each other: operands by operators, tables by joins, queries by set operations. */
  chained<T>(read: () => T): T {
    const outer = this.#measure.chain;
    this.#measure.chain = { links: 0, below: 0 };
    const value = read();
    outer.below = Math.max(outer.below, heightOf(this.#measure));
    this.#measure.chain = outer;
    this.#checkHeight();
    return value;
  }

  link(weight = 1): void {
    this.#measure.chain.links += weight;
    this.#checkHeight();
  }

  /** Every window and every subquery as a value: engines put one behind the other, wherever in the query they stand. */
  stack(): void {
    this.#stacked += 1;
  }

  stacked<T>(read: () => T): T {
    const outer = this.#stacked;
    this.#stacked = 0;
    const value = read();
    this.link(this.#stacked);
    this.#stacked = outer;
    return value;
  }

  #checkHeight(): void {
    const most = maxHeight[this.#dialect];
    if (heightOf(this.#measure) <= most) return;
    throw this.#error(
      `more than ${most} operators and clauses hang on each other (a join or a set operation counts as 2)`,
      'write x = 1 OR x = 2 as x IN (1, 2), SELECT 1 UNION ALL SELECT 2 as VALUES (1), (2), or split the statement',
    );
  }

  /** Every query, table and grouping set. */
  addRelations(count: number): void {
    this.#measure.relations += count;
    if (this.#measure.relations <= maxRelations) return;
    throw this.#error(
      `the statement reads more than ${maxRelations} queries, tables and grouping sets`,
      'a name of WITH counts for every use of it: keep its rows as a frame (CREATE TABLE x AS …) and read that',
    );
  }

  checkColumnReferences(count: number): void {
    if (count <= maxColumnReferences) return;
    throw this.#error(
      `the expressions of the statement are larger than ${maxColumnReferences} columns`,
      'a column of a query in FROM counts as the expression that it is made by, for every use of it, and * for all columns',
    );
  }

  /** Reads a subquery that stands as a value. */
  subquery(read: () => void): void {
    this.stack();
    this.#measure.hasSubquery = false;
    this.deepenDoubling(1);
    read();
    this.deepenDoubling(-1);
    if (this.#measure.hasSubquery) this.#addWaiting(1);
    this.#measure.hasSubquery = true;
  }

  #addWaiting(subqueries: number): void {
    if (this.#dialect === 'sail') return;
    this.#measure.waitingSubqueries += subqueries;
    if (this.#measure.waitingSubqueries <= maxWaitingSubqueries) return;
    throw this.#error(
      `more than ${maxWaitingSubqueries} subqueries as values hold others, for which Spark would wait for ever`,
      'join instead, or put the inner ones into FROM or WITH',
    );
  }

  /** Reads the query of a name of WITH. */
  measured(read: () => void): Expansion {
    const outer = this.#measure;
    this.#measure = newMeasure();
    read();
    const { mostDoublings: doublings, relations, waitingSubqueries, hasSubquery } = this.#measure;
    const height = heightOf(this.#measure);
    this.#measure = outer;
    // Also if it is never used.
    this.addRelations(relations);
    return { height, doublings, relations, waitingSubqueries, hasSubquery };
  }

  /** Every place where a name of WITH stands. */
  expand({ height, doublings, relations, waitingSubqueries, hasSubquery }: Expansion): void {
    const { chain } = this.#measure;
    chain.below = Math.max(chain.below, height);
    this.#checkHeight();
    this.#noteDoublings(this.#measure.doublings + doublings);
    this.addRelations(relations);
    this.#addWaiting(waitingSubqueries);
    this.#measure.hasSubquery ||= hasSubquery;
  }

  #error(message: string, hint: string): AppError {
    return new AppError('sql_error', message, { position: this.#position(), hint });
  }
}

function newMeasure(): Measure {
  return {
    chain: { links: 0, below: 0 },
    doublings: 0,
    mostDoublings: 0,
    relations: 0,
    waitingSubqueries: 0,
    hasSubquery: false,
  };
}

function heightOf({ chain }: Measure): number {
  return chain.links + chain.below;
}
