import { type LogFields, type Logger, silentLogger } from '../../src/core/logs/logger.ts';
import type { Tsdb, TsdbRequest, TsdbResponse } from '../../src/core/sql/tsdb.ts';
import { createTsdb, type TsdbOptions } from '../../src/engines/tsdb/tsdb.ts';

/** A Tsdb for one test, with limits that a test can reach. */
export function tsdbFor(url: string, options: Partial<TsdbOptions> = {}): Tsdb {
  return createTsdb({
    url,
    timeoutMs: 10_000,
    connectTimeoutMs: 2000,
    maxConnections: 4,
    maxQueue: 4,
    logger: silentLogger,
    ...options,
  });
}

/** Executes one statement with a signal of its own. */
export function exec(
  tsdb: Tsdb,
  query = 'select 1',
  request: Partial<TsdbRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<TsdbResponse> {
  const parameters = [
    ['query', query],
    ['fmt', 'json'],
  ] as const;
  return tsdb.forward(
    { door: 'exec', parameters, statementTimeout: undefined, acceptEncoding: undefined, ...request },
    { signal },
  );
}

/** The whole body; rejects if it breaks off. */
export async function bodyOf({ body }: TsdbResponse): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A logger that keeps each line. */
export function recordingLogger(): { readonly logger: Logger; readonly lines: readonly [string, LogFields?][] } {
  const lines: [string, LogFields?][] = [];
  const keep = (message: string, fields?: LogFields): void => {
    lines.push(fields === undefined ? [message] : [message, fields]);
  };
  const logger: Logger = { trace: keep, debug: keep, info: keep, warn: keep, error: keep, area: () => logger };
  return { logger, lines };
}
