import type { Statement } from '../../src/core/sql.ts';
import { analyzeSql as gated } from '../../src/engines/duckdb/worker/gate/analyze.ts';
import type { Connection } from '../../src/engines/duckdb/worker/native/session.ts';

/** In the place of the gate in a worker of `ungatedBuild`: a text that begins so is run as it is, whatever it says. */
export const ungatedMark = '/*ungated*/';

export async function analyzeSql(connection: Connection, sql: string): Promise<Statement> {
  if (!sql.startsWith(ungatedMark)) return await gated(connection, sql);
  return { kind: 'query', query: { sql: sql.slice(ungatedMark.length), tables: [], parameterCount: 0 } };
}
