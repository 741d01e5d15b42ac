import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { EngineConfig } from '../config/engine-settings.ts';
import type { Cleanup } from '../core/async/cleanup.ts';
import type { Logger } from '../core/logs/logger.ts';
import type { Timings } from '../core/logs/timings.ts';
import { localEngineName, tsdbEngineName } from '../core/names/engine-names.ts';
import type { ClusterEngine } from '../core/sql/engine.ts';
import type { LiveTables } from '../core/sql/live-tables.ts';
import type { ArrowRecoder } from '../core/sql/sql.ts';
import type { Tsdb } from '../core/sql/tsdb.ts';
import type { DuckDbEngine } from '../engines/duckdb/duckdb-engine.ts';
import type { DuckDbSqlEngine } from '../engines/duckdb/duckdb-sql-engine.ts';
import { localEngine } from '../engines/duckdb/local-engine.ts';
import { newSpillDirectory, removeSpillDirectory, sweepSpill } from '../engines/duckdb/pool/spill-directory.ts';
import type { ReachOf } from '../engines/duckdb/worker-owners.ts';
import { QuestDbTables } from '../engines/tsdb/live/questdb-tables.ts';
import { createTsdb } from '../engines/tsdb/tsdb.ts';
import { tsdbEngine } from '../engines/tsdb/tsdb-engine.ts';
import { EngineDirectory } from '../query/engine-directory.ts';
import { openSqlPool, type PoolShares } from './duckdb-pools.ts';

/** The parts of an engine of other machines. */
export interface ClusterEngineOptions extends EngineConfig {
  readonly name: string;
  readonly coldDirectory: string;
  readonly extraCertificatesFile: string | undefined;
  readonly recoder: ArrowRecoder;
  readonly logger: Logger;
}

export type CreateClusterEngine = (options: ClusterEngineOptions) => ClusterEngine | Promise<ClusterEngine>;

/** The engines that callers may name. */
export interface Engines {
  readonly local: DuckDbSqlEngine;
  readonly clusters: readonly ClusterEngine[];
  readonly tsdb: Tsdb | undefined;
  /** Tables of it, for SQL of the local one. */
  readonly live: LiveTables | undefined;
  readonly directory: EngineDirectory;
  /** Makes native copies of frames for the local one. */
  readonly copyEngine: DuckDbEngine;
}

export async function openEngines(
  config: Config,
  reachOf: ReachOf | undefined,
  createEngine: CreateClusterEngine,
  timings: Timings,
  shares: PoolShares,
  cleanup: Cleanup,
  logger: Logger,
): Promise<Engines> {
  const tsdb = openTsdb(config, timings, cleanup, logger);
  const live = tsdb && openLiveTables(config, tsdb, cleanup, logger);
  const { engine: local, copyEngine } = openSqlPool(config, reachOf, live?.directory, shares, cleanup, logger);
  const clusters = await openClusters(config, local, createEngine, cleanup, logger);
  const directory = new EngineDirectory({
    engines: [
      localEngine(localEngineName, local),
      ...(tsdb === undefined ? [] : [tsdbEngine(tsdbEngineName, tsdb)]),
      ...clusters,
    ],
    defaultEngine: config.sql.defaultEngine,
    autoEngine: config.sql.autoEngine,
  });
  return { local, copyEngine, clusters, tsdb, live: live?.tables, directory };
}

async function openClusters(
  { storage, extraCertificatesFile, engines }: Config,
  recoder: ArrowRecoder,
  createEngine: CreateClusterEngine,
  cleanup: Cleanup,
  logger: Logger,
): Promise<readonly ClusterEngine[]> {
  const coldDirectory = resolve(storage.parquetPath);
  const common = { coldDirectory, extraCertificatesFile, recoder, logger: logger.area('engines') };
  const clusters: ClusterEngine[] = [];
  for (const [name, engine] of engines) {
    clusters.push(cleanup.use(await createEngine({ ...engine, ...common, name })));
  }
  return clusters;
}

function openTsdb({ tsdb }: Config, timings: Timings, cleanup: Cleanup, logger: Logger): Tsdb | undefined {
  const { httpUrl: url } = tsdb;
  return url === undefined
    ? undefined
    : cleanup.use(createTsdb({ ...tsdb, url, timings, logger: logger.area('tsdb') }));
}

/** Tables of the external database, for SQL over frames. Files of earlier processes are removed. */
function openLiveTables(
  { tsdb: settings, storage }: Config,
  tsdb: Tsdb,
  cleanup: Cleanup,
  logger: Logger,
): { readonly tables: LiveTables; readonly directory: string } {
  const root = resolve(storage.dataDir, 'live');
  sweepSpill(root).catch((error: unknown) => logger.debug('could not sweep the rows of live tables', { error }));
  const directory = newSpillDirectory(root);
  cleanup.defer(() => removeSpillDirectory(directory));
  const { maxFederatedBytes: maxBytes, maxExports, maxQueue, federationTimeoutMs, federationCacheMs } = settings;
  const options = { directory, maxBytes, maxExports, maxQueue, logger: logger.area('tsdb') };
  const tables = new QuestDbTables({ ...options, tsdb, timeoutMs: federationTimeoutMs, cacheMs: federationCacheMs });
  return { tables: cleanup.use(tables), directory };
}

/** The one place where an engine's kind becomes an engine. Loaded where there is one: a seventh of the program is its code. */
export async function createClusterEngine(options: ClusterEngineOptions): Promise<ClusterEngine> {
  switch (options.kind) {
    case 'spark-connect': {
      const { SparkEngine } = await import('../engines/spark/spark-engine.ts');
      return new SparkEngine(options);
    }
    default:
      return options.kind satisfies never;
  }
}
