import { join } from 'node:path';
import { Session } from '@framehold/duckdb';

/** The operator's database of a data directory, made by these statements. They name it `analytics`. */
export async function createAnalyticsDatabase(dataDir: string, statements: readonly string[]): Promise<void> {
  using connection = new Session({ threads: 1, memoryBytes: 1e8, tempDirectory: dataDir, maxTempBytes: 0 }).connect();
  await connection.run(`ATTACH '${join(dataDir, 'analytics.duckdb')}' AS analytics`);
  for (const statement of statements) await connection.run(statement);
  await connection.run('DETACH analytics');
}
