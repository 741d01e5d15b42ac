import { LinkedAbort } from '../../core/async/linked-abort.ts';
import { AppError } from '../../core/errors/app-error.ts';
import type { EngineHealth, NamedEngine } from '../../core/sql/engine.ts';
import type { SqlEngine } from '../../core/sql/sql.ts';

/** Behind many others a statement may wait for longer, and that is no fault. */
const probeTimeoutMs = 2000;

/** The engine of this server, under its name. */
export function localEngine(name: string, sql: Pick<SqlEngine, 'run'>): NamedEngine {
  let version: string | undefined;
  return {
    name,
    kind: 'duckdb',
    async health({ signal }): Promise<EngineHealth> {
      using limit = new LinkedAbort([signal], probeTimeoutMs);
      try {
        version = await askVersion(sql, limit.signal);
      } catch (error) {
        if (limit.isLate) return { state: 'up', version };
        return { state: 'down', problem: error instanceof AppError ? error.message : 'it does not work' };
      }
      return { state: 'up', version };
    },
  };
}

async function askVersion(sql: Pick<SqlEngine, 'run'>, signal: AbortSignal): Promise<string> {
  const query = { sql: 'SELECT version() AS version', tables: [], parameterCount: 0 };
  await using result = await sql.run({ query, tables: [], form: 'ndjson' }, { signal });
  let text = '';
  for await (const { bytes } of result.rows()) text += Buffer.from(bytes).toString();
  const { version } = JSON.parse(text) as { version: string };
  return version.replace(/^v/, '');
}
