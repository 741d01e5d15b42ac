import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { identify } from './auth/identify.ts';
import type { Config } from './config/config.ts';
import type { EngineConfig } from './config/engine-settings.ts';
import type { ListenAddress } from './config/listen-address.ts';
import { Cleanup } from './core/async/cleanup.ts';
import type { ClusterEngine } from './core/engine.ts';
import type { Logger } from './core/logger.ts';
import { makeFolder } from './core/make-folder.ts';
import type { ArrowRecoder } from './core/sql.ts';
import { errnoOf } from './core/storage-error.ts';
import { version } from './core/version.ts';
import { inspectAnalyticsFile } from './engines/duckdb/analytics-file.ts';
import { DuckDbEngine } from './engines/duckdb/duckdb-engine.ts';
import { DuckDbSqlEngine } from './engines/duckdb/duckdb-sql-engine.ts';
import { localEngine } from './engines/duckdb/local-engine.ts';
import { NativeCopies } from './engines/duckdb/native-copies.ts';
import { sweepSpill } from './engines/duckdb/pool/spill-directory.ts';
import { createTsdb } from './engines/tsdb/tsdb.ts';
import { tsdbEngine } from './engines/tsdb/tsdb-engine.ts';
import { createFlightService } from './flight/flight-service.ts';
import { Sessions } from './flight/request/sessions.ts';
import { createFlightSql } from './flight/sql/flight-sql.ts';
import { DurableFiles } from './frames/disk/durable-file.ts';
import { type FrameStore, openFrameStore } from './frames/store.ts';
import { type FrameVerdict, verifyDirectory } from './frames/upkeep/verify-directory.ts';
import { flightServiceName } from './grpc/messages/flight.ts';
import { createHealthService } from './grpc/server/health.ts';
import { startGrpcListener } from './grpc/server/listener.ts';
import type { Route } from './http/exchange/route.ts';
import { startHttpListener } from './http/listener/listener.ts';
import { enginesRoute } from './http/routes/engines.ts';
import { execRoute } from './http/routes/exec/route.ts';
import { expRoute } from './http/routes/exp/route.ts';
import { handleRoute } from './http/routes/handles/frame-route.ts';
import { handlesRoute } from './http/routes/handles/list-route.ts';
import { renewRoute } from './http/routes/handles/renew-route.ts';
import { impRoute } from './http/routes/imp/route.ts';
import { infoRoute } from './http/routes/info.ts';
import { openApiRoute } from './http/routes/openapi.ts';
import { pingRoute } from './http/routes/ping.ts';
import { queriesRoute, queryRoute } from './http/routes/queries.ts';
import { sqlRoute } from './http/routes/sql/route.ts';
import { AutoEngine } from './query/auto-engine.ts';
import { EngineDirectory } from './query/engine-directory.ts';
import { autoEngineName, localEngineName, tsdbEngineName } from './query/engine-names.ts';
import { EngineRouter } from './query/engine-router.ts';
import { FrameStatements } from './query/frame-statements.ts';
import { RunningQueries } from './query/running-queries.ts';

export interface RunningServer extends AsyncDisposable {
  readonly httpAddress: ListenAddress;
  readonly grpcAddress: ListenAddress;
  /** How many frames are held as the server starts. */
  readonly frameCount: number;
  readonly frames: FrameStore;
}

/** For answers to those whose statement outlasts a stop. */
const lastWordMs = 250;

/** How much a worker may spill to disk. */
const maxTempBytes = 64_000_000_000;

/** What an engine of other machines is made of. */
export interface ClusterEngineOptions extends EngineConfig {
  readonly name: string;
  readonly coldDirectory: string;
  readonly extraCertificatesFile: string | undefined;
  readonly recoder: ArrowRecoder;
  readonly logger: Logger;
}

export type CreateClusterEngine = (options: ClusterEngineOptions) => ClusterEngine | Promise<ClusterEngine>;

/** The composition root: both listeners up, over one store and its engines. */
export async function startServer(
  config: Config,
  logger: Logger,
  createEngine: CreateClusterEngine = createClusterEngine,
): Promise<RunningServer> {
  const { storage, server, http, tsdb, sql } = config;
  await makeDataDirectory(storage.dataDir);
  await checkAnalyticsPath(storage.duckdbPath);
  const stopping = new AbortController();
  const cleanup = new Cleanup();
  try {
    const duckdb = {
      maxTempBytes,
      threads: sql.threads,
      memoryBytes: sql.memoryBytes,
      tempDirectory: join(storage.dataDir, 'spill'),
      maxQueue: sql.maxQueue,
      logger: logger.area('duckdb'),
    };
    sweepSpill(duckdb.tempDirectory).catch((error: unknown) =>
      logger.debug('could not sweep the spill directory', { error }),
    );
    const engine = cleanup.use(
      new DuckDbEngine({ ...duckdb, workers: sql.workers, writeThreads: sql.workers, timeoutMs: sql.timeoutMs }),
    );
    const backgroundEngine = cleanup.use(new DuckDbEngine({ ...duckdb, workers: 1, timeoutMs: 0, background: true }));
    const frames = cleanup.use(
      await openFrameStore({
        coldDirectory: storage.parquetPath,
        engine,
        backgroundEngine,
        cacheBytes: storage.cacheSizeBytes,
        compression: config.compression,
        defaultTtlMs: config.frames.defaultTtlMs,
        tombstoneTtlMs: config.frames.tombstoneTtlMs,
        logger: logger.area('frames'),
      }),
    );
    // Recompression may take minutes, and copies shall not wait for it.
    const warmingEngine = cleanup.use(new DuckDbEngine({ ...duckdb, workers: 1, timeoutMs: 0, background: true }));
    const warmRoot = join(storage.dataDir, 'warm');
    sweepSpill(warmRoot).catch((error: unknown) => logger.debug('could not sweep the warm copies', { error }));
    const nativeCopies = cleanup.use(
      new NativeCopies({
        root: warmRoot,
        budgetBytes: storage.cacheSizeBytes,
        copy: (frame, signal) => warmingEngine.warm(frame, { signal }),
        logger: logger.area('duckdb'),
      }),
    );
    const coldDirectory = resolve(storage.parquetPath);
    const sqlEngine = cleanup.use(
      new DuckDbSqlEngine({
        ...duckdb,
        workers: sql.workers,
        timeoutMs: sql.timeoutMs,
        nativeCopies,
        reach: {
          coldDirectory,
          warmDirectory: nativeCopies.directory,
          analyticsPath: resolve(storage.duckdbPath),
        },
      }),
    );
    const clusters: ClusterEngine[] = [];
    const common = {
      coldDirectory,
      extraCertificatesFile: config.extraCertificatesFile,
      recoder: sqlEngine,
      logger: logger.area('engines'),
    };
    for (const [name, engine] of config.engines) {
      clusters.push(cleanup.use(await createEngine({ ...engine, ...common, name })));
    }
    const auto = new AutoEngine({
      frames,
      local: sqlEngine,
      cluster: clusters.find(({ name }) => name === sql.autoEngine),
      thresholdBytes: sql.autoThresholdBytes,
    });
    const running = new RunningQueries();
    const frameSql = new EngineRouter({
      local: new FrameStatements({ engine: sqlEngine, frames }),
      clusters: new Map(clusters.map((each) => [each.name, new FrameStatements({ engine: each.sql, frames })])),
      auto,
      running,
    });
    const upstream =
      tsdb.httpUrl === undefined ? undefined : createTsdb({ ...tsdb, url: tsdb.httpUrl, logger: logger.area('tsdb') });
    if (upstream !== undefined) cleanup.use(upstream);
    const { defaultEngine, autoEngine } = sql;
    const engines = new EngineDirectory({
      engines: [
        localEngine(localEngineName, sqlEngine),
        ...(upstream === undefined ? [] : [tsdbEngine(tsdbEngineName, upstream)]),
        ...clusters,
      ],
      defaultEngine,
      autoEngine,
    });

    if (config.frames.demo) {
      const { makeDemoFrames } = await import('./demo/make-demo-frames.ts');
      await makeDemoFrames(frames, logger, { signal: stopping.signal });
    }

    const health = createHealthService(['', flightServiceName]);
    const sessions = new Sessions([localEngineName, ...clusters.map(({ name }) => name), autoEngineName]);
    const flightSql = createFlightSql({
      sql: frameSql,
      frames,
      sessions,
      expectStatements: () => sqlEngine.expect(),
      logger,
      version,
      maxConnections: server.maxConnections,
    });
    const flight = createFlightService({ frames, sql: flightSql, sessions });
    const grpc = await startGrpcListener({
      host: server.grpcHost,
      port: server.grpcPort,
      maxConnections: server.maxConnections,
      services: [health, flight],
      identify,
      logger,
    });
    cleanup.use(grpc);
    const routes: readonly Route[] = [
      pingRoute,
      execRoute({ frames, tsdb: upstream, sql: frameSql, settings: { ...http, defaultEngine } }),
      expRoute({ frames, tsdb: upstream, sql: frameSql, settings: { ...http, defaultEngine } }),
      impRoute({ frames, limits: http }),
      handlesRoute(frames),
      handleRoute(frames),
      renewRoute(frames, http),
      sqlRoute({ frames, sql: frameSql, settings: http }),
      queriesRoute(running),
      queryRoute(running),
      enginesRoute(engines),
      infoRoute({ version, grpc: grpc.address, engines: engines.names, defaultEngine, autoEngine }),
    ];
    const listener = await startHttpListener({
      ...http,
      host: http.bindAddress.host,
      port: http.bindAddress.port,
      cors: http.corsOrigins === undefined ? undefined : { origins: http.corsOrigins },
      identify,
      routes: [...routes, openApiRoute(routes, { version })],
      logger: logger.area('http'),
    });
    cleanup.defer(async () => {
      stopping.abort();
      const { shutdownGraceMs: graceMs } = server;
      // A statement that outlasts the grace is answered so; what is cut off then is other than that.
      const told = setTimeout(() => running.stopAll(), graceMs);
      await Promise.all([listener.close(graceMs + lastWordMs), grpc.close({ graceMs })]);
      clearTimeout(told);
    });

    createAnalyticsDatabase(engine, storage.duckdbPath, logger, stopping.signal);
    return {
      httpAddress: listener.address,
      grpcAddress: grpc.address,
      frameCount: await frames.count(),
      frames,
      [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
    };
  } catch (error) {
    await cleanup[Symbol.asyncDispose]();
    throw error;
  }
}

/** The one place where an engine's kind becomes an engine. Loaded where there is one: a seventh of the program is its code. */
async function createClusterEngine(options: ClusterEngineOptions): Promise<ClusterEngine> {
  const { SparkEngine } = await import('./engines/spark/spark-engine.ts');
  return new SparkEngine(options);
}

async function checkAnalyticsPath(path: string): Promise<void> {
  if ((await inspectAnalyticsFile(path)) === 'other') {
    throw new Error(
      `storage.duckdb_path names ${path}, which is not a DuckDB database; name another file or remove it`,
    );
  }
}

/** Does not hold up the start: the first thing that needs it is SQL. */
function createAnalyticsDatabase(engine: DuckDbEngine, path: string, logger: Logger, signal: AbortSignal): void {
  const create = async (): Promise<void> => {
    if ((await inspectAnalyticsFile(path)) !== 'absent') return;
    await makeFolder(dirname(resolve(path)));
    await engine.createDatabase(path, { signal });
  };
  create().catch((error: unknown) => {
    if (!signal.aborted) logger.warn('the analytics database could not be created', { path, error });
  });
}

async function makeDataDirectory(path: string): Promise<void> {
  try {
    await new DurableFiles().makeFolder(resolve(path));
  } catch (error) {
    const code = errnoOf(error);
    const isThere = (await stat(path).catch(() => undefined))?.isDirectory() === true;
    // One that is there and read-only still serves what it holds.
    if (!isThere) throw new Error(`the data directory ${path} cannot be made (${code}); name another with --data-dir`);
  }
}

/** Checks all frames of the configured directory, each as it is asked for. */
export async function* verifyFrames(
  { storage, sql }: Config,
  logger: Logger,
  options: { readonly signal: AbortSignal },
): AsyncGenerator<FrameVerdict, void, undefined> {
  await using engine = new DuckDbEngine({
    workers: 1,
    threads: sql.threads,
    memoryBytes: sql.memoryBytes,
    tempDirectory: join(storage.dataDir, 'spill'),
    maxTempBytes,
    maxQueue: 1,
    timeoutMs: 0,
    logger: logger.area('duckdb'),
    background: true,
  });
  yield* verifyDirectory(storage.parquetPath, engine, options);
}
