import type { SqlResult } from './sql.ts';

/** The same result, whose end also calls `end`. */
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

/** The result that `start` gives, and with which the resource ends. Where there is none, it ends at once. */
export async function resultOver(resource: AsyncDisposable, start: () => Promise<SqlResult>): Promise<SqlResult> {
  const end = async (): Promise<void> => resource[Symbol.asyncDispose]();
  try {
    return endingWith(await start(), end);
  } catch (error) {
    await end();
    throw error;
  }
}
