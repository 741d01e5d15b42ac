import { AppError } from '../../core/errors/app-error.ts';
import type { Query, SqlEngine } from '../../core/sql/sql.ts';

/** The query of a text that the server has stored or composed itself. */
export async function ownQuery(
  engine: Pick<SqlEngine, 'analyze'>,
  sql: string,
  options: Parameters<SqlEngine['analyze']>[1],
): Promise<Query> {
  const statement = await engine.analyze(sql, options);
  if (statement.kind !== 'query') throw new AppError('internal', 'the definition of a view or macro is no query');
  return statement.query;
}
