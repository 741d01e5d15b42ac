import { AppError } from '../../core/app-error.ts';
import type { Query, Statement } from '../../core/sql.ts';
import type { Flavour } from './spark-session.ts';
import { readStatement } from './sql/read-statement.ts';

/** Reads statements in the dialect of a server, and knows which it was. */
export class ReadQueries {
  readonly #readFor = new WeakMap<Query, Flavour>();

  read(sql: string, flavour: Flavour): Statement {
    const statement = readStatement(sql, flavour);
    if ('query' in statement) this.#readFor.set(statement.query, flavour);
    return statement;
  }

  /** Refuses a query that a server of this kind would take for another than the one that was read. */
  check(query: Query, flavour: Flavour, engine: string): void {
    const readFor = this.#readFor.get(query);
    if (readFor === undefined || readFor === flavour) return;
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
