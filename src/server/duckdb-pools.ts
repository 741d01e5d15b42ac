import { join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { Cleanup } from '../core/async/cleanup.ts';
import type { Logger } from '../core/logs/logger.ts';
import { DuckDbEngine } from '../engines/duckdb/duckdb-engine.ts';
import { DuckDbSqlEngine } from '../engines/duckdb/duckdb-sql-engine.ts';
import { NativeCopies } from '../engines/duckdb/native-copies.ts';
import { type MeasuredShares, memoryShares, spillShares } from '../engines/duckdb/pool/measured-shares.ts';
import { sweepSpill } from '../engines/duckdb/pool/spill-directory.ts';
import type { ReachOf } from '../engines/duckdb/worker-owners.ts';

/** Most bytes that a worker may spill, if the disk has them. */
const maxTempBytes = 64_000_000_000;

/** The options of every pool of DuckDB processes. */
function poolOptions({ storage, sql }: Config, logger: Logger) {
  return {
    maxTempBytes,
    threads: sql.threads,
    memoryBytes: sql.memoryBytes,
    tempDirectory: join(storage.dataDir, 'spill'),
    maxQueue: sql.maxQueue,
    logger: logger.area('duckdb'),
  };
}

/** Disk and memory that jobs take without a question. */
export interface PoolShares {
  /** Of all pools. */
  readonly spill: MeasuredShares;
  /** Of callers' SQL. */
  readonly memory: MeasuredShares;
}

/** Memory of a process beside DuckDB's own, for which a statement is not ended. */
const spareMemoryBytes = 500_000_000;

export interface FramePools extends AsyncDisposable {
  /** Reads and writes frames for callers. */
  readonly foreground: DuckDbEngine;
  readonly background: DuckDbEngine;
  readonly shares: PoolShares;
}

export function openFramePools(
  config: Config,
  logger: Logger,
  { startsWorkers }: { readonly startsWorkers: boolean },
): FramePools {
  const { sql } = config;
  const own = poolOptions(config, logger);
  const spill = spillShares({ directory: own.tempDirectory });
  const options = { ...own, spill };
  const cleanup = new Cleanup();
  sweepSpill(options.tempDirectory).catch((error: unknown) =>
    logger.debug('could not sweep the spill directory', { error }),
  );
  return {
    foreground: cleanup.use(
      new DuckDbEngine({
        ...options,
        workers: sql.workers,
        writeThreads: sql.workers,
        timeoutMs: sql.timeoutMs,
        warm: startsWorkers,
      }),
    ),
    background: cleanup.use(backgroundPool(options)),
    shares: { spill, memory: memoryShares(sql.workers * (sql.memoryBytes + spareMemoryBytes)) },
    [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
  };
}

export interface SqlPool {
  readonly engine: DuckDbSqlEngine;
  /** Makes native copies of frames for it. */
  readonly copyEngine: DuckDbEngine;
}

/** Runs callers' SQL, over native copies of the frames where there are some. `liveDirectory`: with rows of the external database. */
export function openSqlPool(
  config: Config,
  reachOf: ReachOf | undefined,
  liveDirectory: string | undefined,
  { spill, memory }: PoolShares,
  cleanup: Cleanup,
  logger: Logger,
): SqlPool {
  const { storage, sql } = config;
  const options = { ...poolOptions(config, logger), spill };
  // Recompression may take minutes, and copies shall not wait for it.
  const copyEngine = cleanup.use(backgroundPool(options));
  const root = join(storage.dataDir, 'warm');
  sweepSpill(root).catch((error: unknown) => logger.debug('could not sweep the native copies', { error }));
  const nativeCopies = cleanup.use(
    new NativeCopies({
      root,
      budgetBytes: storage.cacheSizeBytes,
      copy: (frame, job) => copyEngine.warm(frame, job),
      logger: logger.area('duckdb'),
    }),
  );
  const reach = {
    coldDirectory: resolve(storage.parquetPath),
    warmDirectory: nativeCopies.directory,
    analyticsPath: resolve(storage.duckdbPath),
    liveDirectory,
  };
  const engine = cleanup.use(
    new DuckDbSqlEngine({
      ...options,
      memory,
      workers: sql.workers,
      timeoutMs: sql.timeoutMs,
      nativeCopies,
      reach,
      reachOf,
    }),
  );
  return { engine, copyEngine };
}

/** For a command that works without a server. */
export function openVerifyPool(config: Config, logger: Logger): DuckDbEngine {
  return backgroundPool({ ...poolOptions(config, logger), maxQueue: 1 });
}

/** One process, whose jobs have no time limit. */
function backgroundPool(options: ReturnType<typeof poolOptions> & { readonly spill?: MeasuredShares }): DuckDbEngine {
  return new DuckDbEngine({ ...options, workers: 1, timeoutMs: 0, background: true });
}
