import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadTickets } from '../auth/download-tickets.ts';
import type { Config } from '../config/config.ts';
import type { ListenAddress } from '../config/listen-address.ts';
import type { ReloadTarget } from '../config/settings-reload.ts';
import { Cleanup } from '../core/async/cleanup.ts';
import type { Logger } from '../core/logs/logger.ts';
import { createAnalyticsDatabase } from '../engines/duckdb/analytics-database.ts';
import { Followers } from '../follow/followers.ts';
import type { FrameStore } from '../frames/store.ts';
import type { ShownConfig } from '../http/routes/config.ts';
import { metricsRoute } from '../http/routes/metrics.ts';
import { ExportFiles } from '../http/table/export-files.ts';
import { EventLoopMonitor } from '../telemetry/event-loop-delay.ts';
import { EventLoopWatch } from '../telemetry/event-loop-watch.ts';
import { ServerTimings } from '../telemetry/server-timings.ts';
import { ServerTls } from '../tls/server-tls.ts';
import { openAccess, openAudit, openRecords, tenantReach } from './access.ts';
import { openCapacities } from './capacities.ts';
import { openFramePools } from './duckdb-pools.ts';
import { type CreateClusterEngine, createClusterEngine } from './engines.ts';
import { GarbageWatch } from './garbage-watch.ts';
import { openListeners, openPlainListener } from './listeners.ts';
import { createMetrics, poolFigures } from './metrics.ts';
import { openQueries } from './queries.ts';
import { Readiness } from './readiness.ts';
import { probeRoutes } from './routes.ts';
import { openFrames, openWriteProbe, prepareStorage } from './storage.ts';
import { openTracing } from './tracing.ts';

export interface RunningServer extends AsyncDisposable, ReloadTarget {
  readonly httpAddress: ListenAddress;
  readonly grpcAddress: ListenAddress;
  /** The number of held frames at the start. */
  readonly frameCount: number;
  readonly frames: FrameStore;
}

export interface StartOptions {
  /** Default: by the kind of the engine. */
  readonly createEngine?: CreateClusterEngine | undefined;
  /** The settings in force and their sources, for operators. Default: not shown. */
  readonly shown?: (() => ShownConfig) | undefined;
  /** The processes for frames start with the server rather than with the first job. Default true. */
  readonly startsWorkers?: boolean | undefined;
}

/** Prometheus may look as seldom as this. */
const longestScrapeMs = 10 * 60_000;

/** Joins the parts of the process: frames, access, queries, listeners. Each is closed before the parts that it uses. */
export async function startServer(
  config: Config,
  logger: Logger,
  {
    createEngine = createClusterEngine,
    shown = () => ({ settings: [], configFile: undefined }),
    startsWorkers = true,
  }: StartOptions = {},
): Promise<RunningServer> {
  const tls = await openTls(config, logger);
  await prepareStorage(config, logger);
  const stopping = new AbortController();
  const timings = new ServerTimings();
  const readiness = new Readiness();
  const tracing = openTracing(config, logger);
  const capacities = openCapacities(config);
  let { server } = config;
  return Cleanup.scope(async (cleanup) => {
    cleanup.defer(() => tls?.[Symbol.dispose]());
    cleanup.defer(() => tracing?.exporter.close(server.shutdownGraceMs));
    const probes = probeRoutes(readiness, !config.auth.enabled);
    await openPlainListener(config, config.server.healthAddress, probes, capacities, cleanup, logger);
    const pools = cleanup.use(openFramePools(config, logger, { startsWorkers }));
    const records = await openRecords(config, cleanup, logger);
    const store = await openFrames(config, pools, records, timings, cleanup, logger);
    const probe = await openWriteProbe(store, cleanup, logger);
    const audit = await openAudit(config, logger);
    cleanup.defer(() => audit?.[Symbol.asyncDispose]());
    const access = await openAccess(config, store, records, cleanup, logger);
    const reachOf = tenantReach(store, records);
    const queries = cleanup.use(
      await openQueries(config, access.frames, reachOf, createEngine, timings.statements, pools.shares, logger),
    );
    if (config.frames.demo) {
      const { makeDemoFrames } = await import('../demo/make-demo-frames.ts');
      await makeDemoFrames(store, logger, { signal: stopping.signal });
    }
    const followers = new Followers(config.server);
    cleanup.defer(async () => followers[Symbol.dispose]());
    const eventLoop = new EventLoopMonitor();
    cleanup.defer(async () => eventLoop[Symbol.dispose]());
    const garbage = new GarbageWatch();
    cleanup.defer(async () => garbage[Symbol.dispose]());
    const turns = new EventLoopWatch(logger.area('server'));
    cleanup.defer(() => turns[Symbol.dispose]());
    let connections: () => ReadonlyMap<string, number> = () => new Map();
    // Not that of `/stats`: a client that polls more often would take the figures from one that polls less.
    const scraped = new EventLoopMonitor(longestScrapeMs);
    cleanup.defer(async () => scraped[Symbol.dispose]());
    const metrics = createMetrics({
      ...{ config, timings, eventLoop: scraped, turns, store, pools, queries, followers, readiness, records, tracing },
      capacities,
      connections: () => connections(),
    });
    // Opened before the others, so that it is closed after them.
    const routes = [...probeRoutes(readiness, !config.auth.enabled), metricsRoute(metrics, { withTenants: false })];
    await openPlainListener(config, config.metrics.bindAddress, routes, capacities, cleanup, logger);
    const workerPids = (): number[] =>
      [...poolFigures(pools, queries.engines).values()].flatMap(({ pids }) => [...pids]);
    const own = {
      timings,
      turns,
      tracing,
      readiness,
      metrics,
      eventLoop,
      totals: () => store.totals,
      workerPids,
      shown,
    };
    const { cache, diskCache } = store;
    const exportFiles = cleanup.use(new ExportFiles());
    const shared = { capacities, exportFiles, audit, tls, followers, tickets: new DownloadTickets(), cache, diskCache };
    const listeners = cleanup.use(
      await openListeners(config, { ...access, frames: queries.frames, ...own, ...shared, queries }, logger),
    );
    connections = listeners.connections;
    const frameCount = await store.count();
    readiness.serving(
      () => store.trouble,
      () => probe.trouble,
    );
    cleanup.defer(async () => {
      readiness.stopping();
      stopping.abort();
      listeners.announceStop();
      await sleep(server.shutdownDelayMs);
    });
    createAnalyticsDatabase(pools.foreground, config.storage.duckdbPath, logger, stopping.signal);
    return {
      httpAddress: listeners.httpAddress,
      grpcAddress: listeners.grpcAddress,
      frameCount,
      frames: store,
      applySettings: (changed) => {
        server = changed.server;
        access.applySettings(changed.auth);
        followers.most = changed.server.maxFollowers;
        queries.slow.thresholdMs = changed.sql.slowThresholdMs;
        listeners.applySettings(changed);
      },
      rereadFiles: async () => {
        const readRecords = records
          ?.refresh()
          .catch((error: unknown) =>
            logger.area('auth').warn('could not read the access records', { error: String(error) }),
          );
        await Promise.all([tls?.reload(), audit?.reopen(), readRecords]);
      },
    };
  });
}

/** Checked before all other parts: a wrong file stops the start. */
async function openTls({ tls }: Config, logger: Logger): Promise<ServerTls | undefined> {
  const { certFile, keyFile } = tls;
  if (certFile === undefined || keyFile === undefined) return undefined;
  return ServerTls.open({ ...tls, certFile, keyFile }, logger.area('tls'));
}
