import type { SqlResult } from './sql.ts';

/** The same result, with which something else ends as well. */
export function endingWith(result: SqlResult, end: () => void | Promise<void>): SqlResult {
  return {
    columns: result.columns,
    rows: () => result.rows(),
    whole: result.whole,
    arrowStream: () => result.arrowStream(),
    get totalRows() {
      return result.totalRows;
    },
    async [Symbol.asyncDispose]() {
      try {
        await result[Symbol.asyncDispose]();
      } finally {
        await end();
      }
    },
  };
}
