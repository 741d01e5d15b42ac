import type { Logger } from '../../core/logs/logger.ts';
import { workerEntry } from './pool/worker-entry.ts';
import { type PoolSettings, WorkerProcess } from './pool/worker-process.ts';
import { encodedRows } from './protocol/encoded-rows.ts';
import type { Job } from './protocol/protocol.ts';

export interface TriedWorker {
  /** DuckDB's version: `1.5.6`. */
  readonly version: string;
  /** Whether the kernel denies it all files but its own. */
  readonly isConfined: boolean;
  readonly startMs: number;
}

const sql = 'SELECT version() AS version';

/** Starts a process as one for the SQL of a tenant, lets it run a statement and ends it. Rejects with the reason where it does not work. */
export async function tryWorker(
  settings: PoolSettings,
  logger: Logger,
  { signal }: { readonly signal: AbortSignal },
): Promise<TriedWorker> {
  const begunMs = performance.now();
  const reach = { directories: [], files: [], analyticsPath: undefined, isConfined: true };
  const worker = new WorkerProcess(workerEntry(), settings, { key: '', tenant: '', sql: reach }, logger);
  const stop = (): void => worker.kill('not_needed');
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    await worker.ready;
    const startMs = performance.now() - begunMs;
    const query = { sql, tables: [], parameterCount: 0 };
    const job: Job = { kind: 'query', query, tables: [], into: undefined, hasParameters: false, form: 'ndjson' };
    // The first message holds the columns.
    const messages: Buffer[] = [];
    for await (const message of worker.execute(job, { signal })) messages.push(message);
    const text = messages
      .slice(1)
      .map((message) => Buffer.from(encodedRows(message).bytes).toString())
      .join('');
    const { version } = JSON.parse(text) as { readonly version: string };
    return { version: version.replace(/^v/, ''), isConfined: !worker.isUnconfined, startMs };
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
    await worker.cleared();
  }
}
