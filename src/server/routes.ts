import { fileURLToPath } from 'node:url';
import type { AccessRecords } from '../auth/access-records.ts';
import type { DownloadTickets } from '../auth/download-tickets.ts';
import { FrameShares } from '../auth/frame-shares.ts';
import { tenantRegistry } from '../auth/tenant-registry.ts';
import type { ByteCache } from '../cache/byte-cache.ts';
import type { DiskCache } from '../cache/disk-cache.ts';
import type { Config } from '../config/config.ts';
import type { ListenAddress } from '../config/listen-address.ts';
import { version } from '../core/system/version.ts';
import type { Followers } from '../follow/followers.ts';
import type { Frames, StoreTotals } from '../frames/frames.ts';
import type { Route } from '../http/exchange/route.ts';
import { configRoute, type ShownConfig } from '../http/routes/config.ts';
import { consoleRoutes } from '../http/routes/console/route.ts';
import { enginesRoute } from '../http/routes/engines.ts';
import { execRoute } from '../http/routes/exec/route.ts';
import { frameFileRoute, sharedFrameFileRoute } from '../http/routes/exp/frame-file-route.ts';
import { expRoute } from '../http/routes/exp/route.ts';
import { flushRoute } from '../http/routes/handles/flush-route.ts';
import { handleRoute } from '../http/routes/handles/frame-route.ts';
import { handlesRoute } from '../http/routes/handles/list-route.ts';
import { profileRoute } from '../http/routes/handles/profile-route.ts';
import { renewRoute } from '../http/routes/handles/renew-route.ts';
import { shareRoute, sharesRoute } from '../http/routes/handles/share-routes.ts';
import { impRoute } from '../http/routes/imp/route.ts';
import { infoRoute } from '../http/routes/info.ts';
import { type MetricsSource, metricsRoute } from '../http/routes/metrics.ts';
import { openApiRoute } from '../http/routes/openapi.ts';
import { pingRoute } from '../http/routes/ping.ts';
import { plotRoute } from '../http/routes/plot/route.ts';
import { livezRoute, readyzRoute } from '../http/routes/probes.ts';
import { queriesRoute, queryRoute } from '../http/routes/queries.ts';
import { rowsRoute } from '../http/routes/rows/route.ts';
import { sqlRoute } from '../http/routes/sql/route.ts';
import { statsRoute } from '../http/routes/stats.ts';
import { tenantRoute, tenantsRoute } from '../http/routes/tenants.ts';
import { ticketsRoute } from '../http/routes/tickets.ts';
import { rotateTokenRoute, tokenRoute, tokensRoute } from '../http/routes/tokens.ts';
import { whoamiRoute } from '../http/routes/whoami.ts';
import { writeRoutes } from '../http/routes/write/route.ts';
import { settingsRoute } from '../http/routes/write/settings-route.ts';
import type { ExportFiles } from '../http/table/export-files.ts';
import { ColumnProfiler } from '../plot/column-profiler.ts';
import { Plotter } from '../plot/plotter.ts';
import type { EventLoopMonitor } from '../telemetry/event-loop-delay.ts';
import type { ServerTimings } from '../telemetry/server-timings.ts';
import type { ServerTls } from '../tls/server-tls.ts';
import type { Access } from './access.ts';
import type { Queries } from './queries.ts';
import type { Readiness } from './readiness.ts';

/** The parts that the routes use. */
export interface RouteParts extends Access {
  readonly cache: ByteCache;
  readonly diskCache: DiskCache | undefined;
  readonly timings: ServerTimings;
  readonly readiness: Readiness;
  readonly metrics: MetricsSource;
  readonly eventLoop: EventLoopMonitor;
  readonly totals: () => StoreTotals;
  readonly workerPids: () => readonly number[];
  readonly shown: () => ShownConfig;
  readonly followers: Followers;
  readonly tickets: DownloadTickets;
  readonly exportFiles: ExportFiles;
  readonly tls: ServerTls | undefined;
  readonly queries: Queries;
}

/** The build puts its files beside the program. */
const consoleFolder = fileURLToPath(new URL('./console', import.meta.url));

/** All routes of the HTTP listener. `grpc`: the address of the other one, for callers that need it. */
export function httpRoutes(config: Config, parts: RouteParts, grpc: ListenAddress): readonly Route[] {
  const routes = apiRoutes(config, parts, grpc);
  return withConsole(config.http.console, [...routes, openApiRoute(routes, { version })], parts.logins);
}

function withConsole(isOffered: boolean, routes: readonly Route[], logins: Access['logins']): readonly Route[] {
  if (!isOffered) return routes;
  return [
    ...routes,
    ...consoleRoutes(
      consoleFolder,
      routes.map(({ path }) => path),
      () => logins().map(({ tokenEndpoint }) => new URL(tokenEndpoint).origin),
    ),
  ];
}

function apiRoutes(config: Config, parts: RouteParts, grpc: ListenAddress): readonly Route[] {
  const { http, write } = config;
  const { defaultEngine, autoEngine } = config.sql;
  const { frames, followers, cache, records, tickets, tls, logins } = parts;
  const { sql, running, engines, filter } = parts.queries;
  const { tsdb, directory } = engines;
  const plotter = new Plotter({ sql, frames });
  const exports = { frames, files: parts.exportFiles, sql, settings: http };
  return [
    ...probeRoutes(parts.readiness, true),
    metricsRoute(parts.metrics, { withTenants: true }),
    execRoute({ frames, pages: cache.space(), tsdb, sql, settings: { ...http, defaultEngine } }),
    expRoute({ ...exports, tsdb, settings: { ...http, defaultEngine } }),
    frameFileRoute(exports),
    impRoute({ frames, limits: http }),
    ...writeRoutes({ frames, limits: { ...http, maxBodyBytes: write.maxBodyBytes }, addsColumns: write.addsColumns }),
    settingsRoute,
    handlesRoute(frames, followers, cache),
    handleRoute(frames, cache),
    renewRoute(frames, cache, http),
    rowsRoute({ frames, followers, filter, settings: http }),
    flushRoute(frames, cache),
    profileRoute({ frames, profiler: new ColumnProfiler({ sql, plotter }), settings: http }),
    sqlRoute({ frames, sql, settings: http }),
    plotRoute({ plotter, sql, tsdb, settings: http }),
    queriesRoute(running),
    queryRoute(running),
    enginesRoute(directory),
    whoamiRoute(frames),
    ticketsRoute(tickets, ['/exp', '/exec'], http),
    statsRoute({ ...parts, counters: parts.timings, running, version, dataDir: config.storage.dataDir }),
    configRoute(parts.shown),
    ...(records === undefined ? [] : [...accessRoutes(config, frames, records), sharedFrameFileRoute(exports)]),
    infoRoute({
      version,
      grpc: { ...grpc, tls: tls !== undefined },
      engines: directory,
      defaultEngine,
      autoEngine,
      maxLimit: config.http.maxLimit,
      credentials: parts.credentials,
      logins,
    }),
  ];
}

/** For checks of the server's health. `tellsWhy`: operators read the reason. */
export function probeRoutes(readiness: Readiness, tellsWhy: boolean): readonly Route[] {
  return [pingRoute, livezRoute, readyzRoute(readiness, { tellsWhy })];
}

/** Tokens, tenants and shares: with authentication only. */
function accessRoutes({ http }: Config, frames: Frames, records: AccessRecords): readonly Route[] {
  return [
    tokensRoute(records, http),
    tokenRoute(records),
    rotateTokenRoute(records, http),
    tenantsRoute(tenantRegistry(records), http),
    tenantRoute(tenantRegistry(records), http),
    sharesRoute(new FrameShares(frames, records)),
    shareRoute(new FrameShares(frames, records)),
  ];
}
