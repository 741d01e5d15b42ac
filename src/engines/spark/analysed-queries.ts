import type { Flavour } from '@framehold/spark-connect';
import { AppError } from '../../core/errors/app-error.ts';
import type { Query, Statement } from '../../core/sql/sql.ts';
import { readStatement, type SparkQuery } from './sql/read-statement.ts';

interface AnalysedQuery {
  readonly query: SparkQuery;
  readonly flavour: Flavour;
}

/** Reads statements in the dialect of a server, and knows which it was. */
export class AnalysedQueries {
  readonly #read = new WeakMap<Query, AnalysedQuery>();

  analyse(sql: string, flavour: Flavour): Statement {
    const statement = readStatement(sql, flavour);
    if ('query' in statement) this.#read.set(statement.query, { query: statement.query, flavour });
    return statement;
  }

  /** Undefined for a query of our own. */
  get(query: Query): SparkQuery | undefined {
    return this.#read.get(query)?.query;
  }

  /** Refuses a query that a server of this kind would read otherwise than this parser did. */
  check(query: Query, flavour: Flavour, engine: string): void {
    const read = this.#read.get(query);
    if (read === undefined || read.flavour === flavour) return;
    const statement = readStatement(query.sql, flavour);
    if (statement.kind === 'query' && meaningOf(statement.query) === meaningOf(query)) return;
    throw new AppError('engine_unreachable', `engine ${engine} has become one of another kind`, {
      hint: 'run the query again',
    });
  }
}

function meaningOf({ tables, parameterCount, parameterNames }: Query): string {
  return JSON.stringify([tables.map(({ name }) => name), parameterCount, parameterNames]);
}
