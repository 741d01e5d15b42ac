import { dirname, resolve } from 'node:path';
import type { Logger } from '../../core/logs/logger.ts';
import { makeFolder } from '../../core/system/make-folder.ts';
import { inspectAnalyticsFile } from './analytics-file.ts';
import type { DuckDbEngine } from './duckdb-engine.ts';

/** Refuses a path that names some other file. */
export async function checkAnalyticsPath(path: string): Promise<void> {
  if ((await inspectAnalyticsFile(path)) === 'other') {
    throw new Error(
      `storage.duckdb_path names ${path}, which is not a DuckDB database; name another file or remove it`,
    );
  }
}

/** Does not hold up the start: the first thing that needs it is SQL. */
export function createAnalyticsDatabase(engine: DuckDbEngine, path: string, logger: Logger, signal: AbortSignal): void {
  const create = async (): Promise<void> => {
    if ((await inspectAnalyticsFile(path)) !== 'absent') return;
    await makeFolder(dirname(resolve(path)));
    await engine.createDatabase(path, { signal });
  };
  create().catch((error: unknown) => {
    if (!signal.aborted) logger.warn('the analytics database could not be created', { path, error });
  });
}
