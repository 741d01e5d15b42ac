import { AppError } from '../../core/app-error.ts';
import type { Query, SqlEngine } from '../../core/sql.ts';

/** The query of a text that the server has kept or put together itself. */
export async function ownQuery(
  engine: Pick<SqlEngine, 'analyze'>,
  sql: string,
  options: Parameters<SqlEngine['analyze']>[1],
): Promise<Query> {
  const statement = await engine.analyze(sql, options);
  if (statement.kind !== 'query') throw new AppError('internal', 'the definition of a view or macro is no query');
  return statement.query;
}
