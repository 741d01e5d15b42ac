import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AuditLog } from './audit/audit-log.ts';
import { FrameAudit } from './audit/frame-audit.ts';
import { AccessRecords } from './auth/access-records.ts';
import { DownloadTickets } from './auth/download-tickets.ts';
import { FailedLogins } from './auth/failed-logins.ts';
import { FrameAccess } from './auth/frame-access.ts';
import { FrameShares } from './auth/frame-shares.ts';
import { identify } from './auth/identify.ts';
import type { IssuerLogin } from './auth/issuer.ts';
import { RateLimiter } from './auth/rate-limiter.ts';
import { SessionTokens } from './auth/session-tokens.ts';
import { shareName } from './auth/share-index.ts';
import { openTenantRegistry, type TenantRegistry, tenantRegistry } from './auth/tenant-registry.ts';
import { openTokenRegistry, type TokenRegistry } from './auth/token-registry.ts';
import { ByteCache } from './cache/byte-cache.ts';
import type { Config } from './config/config.ts';
import type { EngineConfig } from './config/engine-settings.ts';
import type { ListenAddress } from './config/listen-address.ts';
import { Cleanup } from './core/async/cleanup.ts';
import type { Audit } from './core/audit.ts';
import { CredentialWatch } from './core/credential-watch.ts';
import type { ClusterEngine } from './core/engine.ts';
import { autoEngineName, localEngineName, mayUseEngine, tsdbEngineName } from './core/engine-names.ts';
import type { Logger } from './core/logger.ts';
import type { Identify, Principal, Tenant } from './core/principal.ts';
import { type ArrowRecoder, analyticsCatalog } from './core/sql.ts';
import type { Tsdb } from './core/tsdb.ts';
import { version } from './core/version.ts';
import { checkAnalyticsPath, createAnalyticsDatabase } from './engines/duckdb/analytics-database.ts';
import { DuckDbEngine } from './engines/duckdb/duckdb-engine.ts';
import { DuckDbSqlEngine } from './engines/duckdb/duckdb-sql-engine.ts';
import { localEngine } from './engines/duckdb/local-engine.ts';
import { NativeCopies } from './engines/duckdb/native-copies.ts';
import { sweepSpill } from './engines/duckdb/pool/spill-directory.ts';
import type { ReachOf } from './engines/duckdb/worker-owners.ts';
import { createTsdb } from './engines/tsdb/tsdb.ts';
import { tsdbEngine } from './engines/tsdb/tsdb-engine.ts';
import { createFlightService } from './flight/flight-service.ts';
import { Sessions } from './flight/request/sessions.ts';
import { createFlightSql } from './flight/sql/flight-sql.ts';
import { Followers } from './follow/followers.ts';
import { makeDataDirectory } from './frames/disk/data-directory.ts';
import { DurableFiles } from './frames/disk/durable-file.ts';
import type { Frames, StoreTotals } from './frames/frames.ts';
import { type FrameStore, openFrameStore } from './frames/store.ts';
import { type FrameVerdict, verifyDirectory } from './frames/upkeep/verify-directory.ts';
import { flightServiceName } from './grpc/messages/flight.ts';
import { createHealthService } from './grpc/server/health.ts';
import { startGrpcListener } from './grpc/server/listener.ts';
import type { Route } from './http/exchange/route.ts';
import { startHttpListener } from './http/listener/listener.ts';
import { configRoute, type ShownConfig } from './http/routes/config.ts';
import { consoleRoutes } from './http/routes/console/route.ts';
import { enginesRoute } from './http/routes/engines.ts';
import { execRoute } from './http/routes/exec/route.ts';
import { expRoute } from './http/routes/exp/route.ts';
import { flushRoute } from './http/routes/handles/flush-route.ts';
import { handleRoute } from './http/routes/handles/frame-route.ts';
import { handlesRoute } from './http/routes/handles/list-route.ts';
import { profileRoute } from './http/routes/handles/profile-route.ts';
import { renewRoute } from './http/routes/handles/renew-route.ts';
import { shareRoute, sharesRoute } from './http/routes/handles/share-routes.ts';
import { impRoute } from './http/routes/imp/route.ts';
import { infoRoute } from './http/routes/info.ts';
import { openApiRoute } from './http/routes/openapi.ts';
import { pingRoute } from './http/routes/ping.ts';
import { plotRoute } from './http/routes/plot/route.ts';
import { queriesRoute, queryRoute } from './http/routes/queries.ts';
import { rowsRoute } from './http/routes/rows/route.ts';
import { sqlRoute } from './http/routes/sql/route.ts';
import { statsRoute } from './http/routes/stats.ts';
import { tenantRoute, tenantsRoute } from './http/routes/tenants.ts';
import { ticketsRoute } from './http/routes/tickets.ts';
import { rotateTokenRoute, tokenRoute, tokensRoute } from './http/routes/tokens.ts';
import { whoamiRoute } from './http/routes/whoami.ts';
import { writeRoutes } from './http/routes/write/route.ts';
import { settingsRoute } from './http/routes/write/settings-route.ts';
import { AutoEngine } from './query/auto-engine.ts';
import { EngineDirectory } from './query/engine-directory.ts';
import { EngineRouter } from './query/engine-router.ts';
import type { FrameSql } from './query/frame-sql.ts';
import { FrameStatements } from './query/frame-statements.ts';
import { Plotter } from './query/plot/plotter.ts';
import { ColumnProfiler } from './query/profile/column-profiler.ts';
import { RowFilter } from './query/row-filter.ts';
import { RunningQueries } from './query/running-queries.ts';
import { EventLoopMonitor } from './telemetry/event-loop-delay.ts';
import { ServerCounters } from './telemetry/server-counters.ts';
import { ServerTls } from './tls/server-tls.ts';

export interface RunningServer extends AsyncDisposable {
  readonly httpAddress: ListenAddress;
  readonly grpcAddress: ListenAddress;
  /** How many frames are held as the server starts. */
  readonly frameCount: number;
  readonly frames: FrameStore;
  /** Reads again what may be read again while it runs. Undefined where there is nothing of the kind. */
  readonly reload: (() => void) | undefined;
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

export interface StartOptions {
  /** Default: by the kind of the engine. */
  readonly createEngine?: CreateClusterEngine | undefined;
  /** What the config was made of, for operators to look at. Default: nothing is told. */
  readonly shown?: ShownConfig | undefined;
}

/** The composition root: engines, frames, queries, doors. Each step is closed before those that it stands on. */
export async function startServer(
  config: Config,
  logger: Logger,
  { createEngine = createClusterEngine, shown = { settings: [], configFile: undefined } }: StartOptions = {},
): Promise<RunningServer> {
  const tls = await openTls(config, logger);
  await makeDataDirectory(config.storage.dataDir);
  await checkAnalyticsPath(config.storage.duckdbPath);
  const stopping = new AbortController();
  return Cleanup.scope(async (cleanup) => {
    cleanup.defer(() => tls?.[Symbol.dispose]());
    const engines = cleanup.use(openEngines(config, logger));
    const records = config.auth.enabled ? await openRecords(config, cleanup, logger) : undefined;
    const store = cleanup.use(await openFrames(config, engines, records, logger));
    const audit = await openAudit(config, logger);
    cleanup.defer(() => audit?.[Symbol.asyncDispose]());
    const opened = await openAccess(config, store, records, cleanup, logger);
    const access = audit === undefined ? opened : { ...opened, frames: new FrameAudit(opened.frames) };
    const reachOf = tenantReach(store, access.records);
    const queries = cleanup.use(await openQueries(config, access.frames, reachOf, createEngine, logger));
    if (config.frames.demo) {
      const { makeDemoFrames } = await import('./demo/make-demo-frames.ts');
      await makeDemoFrames(store, logger, { signal: stopping.signal });
    }
    const followers = new Followers(config.server);
    cleanup.defer(async () => followers[Symbol.dispose]());
    const eventLoop = new EventLoopMonitor();
    cleanup.defer(async () => eventLoop[Symbol.dispose]());
    const own = { counters: new ServerCounters(), eventLoop, totals: () => store.totals, shown };
    const inside = { ...access, ...own, audit, tls, followers, tickets: new DownloadTickets(), cache: store.cache };
    const doors = cleanup.use(await openDoors(config, inside, queries, logger));
    cleanup.defer(async () => stopping.abort());
    createAnalyticsDatabase(engines.foreground, config.storage.duckdbPath, logger, stopping.signal);
    return {
      httpAddress: doors.httpAddress,
      grpcAddress: doors.grpcAddress,
      frameCount: await store.count(),
      frames: store,
      reload: reloadOf(tls, audit),
    };
  });
}

/** What SIGHUP does. */
function reloadOf(tls: ServerTls | undefined, audit: AuditLog | undefined): (() => void) | undefined {
  if (tls === undefined && audit === undefined) return undefined;
  return () => {
    void tls?.reload();
    void audit?.reopen();
  };
}

/** Checked before anything else is opened: a wrong file stops the start. */
async function openTls({ tls }: Config, logger: Logger): Promise<ServerTls | undefined> {
  const { certFile, keyFile } = tls;
  if (certFile === undefined || keyFile === undefined) return undefined;
  return ServerTls.open({ ...tls, certFile, keyFile }, logger.area('tls'));
}

/** What every pool of DuckDB processes has. */
function duckdbOptions({ storage, sql }: Config, logger: Logger) {
  return {
    maxTempBytes,
    threads: sql.threads,
    memoryBytes: sql.memoryBytes,
    tempDirectory: join(storage.dataDir, 'spill'),
    maxQueue: sql.maxQueue,
    logger: logger.area('duckdb'),
  };
}

interface Engines extends AsyncDisposable {
  /** Reads and writes frames for callers. */
  readonly foreground: DuckDbEngine;
  readonly background: DuckDbEngine;
}

function openEngines(config: Config, logger: Logger): Engines {
  const { sql } = config;
  const duckdb = duckdbOptions(config, logger);
  const cleanup = new Cleanup();
  sweepSpill(duckdb.tempDirectory).catch((error: unknown) =>
    logger.debug('could not sweep the spill directory', { error }),
  );
  return {
    foreground: cleanup.use(
      new DuckDbEngine({ ...duckdb, workers: sql.workers, writeThreads: sql.workers, timeoutMs: sql.timeoutMs }),
    ),
    background: cleanup.use(new DuckDbEngine({ ...duckdb, workers: 1, timeoutMs: 0, background: true })),
    [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
  };
}

async function openRecords({ storage }: Config, cleanup: Cleanup, logger: Logger): Promise<AccessRecords> {
  const records = await AccessRecords.open(resolve(storage.parquetPath), new DurableFiles());
  cleanup.defer(() => records[Symbol.dispose]());
  records.watch(logger.area('auth'));
  return records;
}

function openFrames(
  config: Config,
  { foreground, background }: Engines,
  records: AccessRecords | undefined,
  logger: Logger,
): Promise<FrameStore> {
  const { storage, compression, frames } = config;
  return openFrameStore({
    coldDirectory: storage.parquetPath,
    engine: foreground,
    backgroundEngine: background,
    cache: new ByteCache(storage.cacheSizeBytes),
    compression,
    defaultTtlMs: frames.defaultTtlMs,
    tombstoneTtlMs: frames.tombstoneTtlMs,
    limitsOf: records && ((tenant) => records.limitsOf(tenant)),
    onRemoved: records && ((tenant, handle) => records.endShares(tenant, handle)),
    logger: logger.area('frames'),
  });
}

interface Access {
  /** As callers may see and change them. */
  readonly frames: Frames;
  readonly identify: Identify;
  /** Throws where the caller has sent too many requests. */
  readonly admit?: (principal: Principal) => void;
  /** Undefined while there is no authentication. */
  readonly records: AccessRecords | undefined;
  readonly sessionTokens?: SessionTokens;
  /** How people log in by a browser. */
  readonly logins: () => readonly IssuerLogin[];
  /** Undefined while there is no authentication. */
  readonly watch: CredentialWatch | undefined;
}

async function openAudit({ audit }: Config, logger: Logger): Promise<AuditLog | undefined> {
  const { file: path, onFailure = 'refuse' } = audit;
  return path === undefined ? undefined : AuditLog.open({ path, onFailure, logger: logger.area('audit') });
}

async function openAccess(
  { auth, storage }: Config,
  store: FrameStore,
  records: AccessRecords | undefined,
  cleanup: Cleanup,
  logger: Logger,
): Promise<Access> {
  if (records === undefined)
    return { frames: new FrameAccess(store), identify, records, logins: () => [], watch: undefined };
  // Loaded where they are needed: the verifier of JWTs is large.
  const { Authenticator } = await import('./auth/authenticator.ts');
  const { Issuer } = await import('./auth/issuer.ts');
  const sessionTokens = new SessionTokens(resolve(storage.parquetPath), new DurableFiles());
  const keys = { maxStaleMs: auth.jwksMaxStaleMs, logger: logger.area('auth') };
  const logins = new FailedLogins({ maxPerMinute: auth.maxFailedLogins, logger: logger.area('auth') });
  cleanup.defer(() => logins[Symbol.dispose]());
  const issuers = [...auth.issuers].map(([name, settings]) => new Issuer({ ...settings, name }, keys));
  const authenticator = new Authenticator({
    records,
    issuers,
    certificates: [...auth.certificates].map(([name, rule]) => ({ ...rule, name })),
    sessions: sessionTokens,
    anonymousTenant: auth.anonymous,
  });
  const watch = new CredentialWatch(authenticator.identify);
  cleanup.defer(() => watch[Symbol.dispose]());
  const rates = new RateLimiter();
  return {
    frames: new FrameAccess(store, records),
    records,
    sessionTokens,
    logins: () => issuers.flatMap(({ login }) => login ?? []),
    watch,
    identify: logins.limit(authenticator.identify),
    admit: (principal) => rates.count(principal),
  };
}

/** What the doors open on. */
interface Inside extends Access {
  readonly audit: Audit | undefined;
  readonly cache: ByteCache;
  readonly counters: ServerCounters;
  readonly eventLoop: EventLoopMonitor;
  readonly totals: () => StoreTotals;
  readonly shown: ShownConfig;
  readonly followers: Followers;
  readonly tickets: DownloadTickets;
  readonly tls: ServerTls | undefined;
}

interface Queries extends AsyncDisposable {
  readonly local: DuckDbSqlEngine;
  readonly clusters: readonly ClusterEngine[];
  readonly tsdb: Tsdb | undefined;
  readonly sql: FrameSql;
  readonly running: RunningQueries;
  readonly filter: RowFilter;
  readonly engines: EngineDirectory;
}

async function openQueries(
  config: Config,
  frames: Frames,
  reachOf: ReachOf | undefined,
  createEngine: CreateClusterEngine,
  logger: Logger,
): Promise<Queries> {
  const { tsdb, sql } = config;
  return Cleanup.scope(async (cleanup) => {
    const local = openLocalSql(config, reachOf, cleanup, logger);
    const clusters = await openClusters(config, local, createEngine, cleanup, logger);
    const upstream =
      tsdb.httpUrl === undefined
        ? undefined
        : cleanup.use(createTsdb({ ...tsdb, url: tsdb.httpUrl, logger: logger.area('tsdb') }));
    const cluster = clusters.find(({ name }) => name === sql.autoEngine);
    const running = new RunningQueries();
    const router = new EngineRouter({
      local: new FrameStatements({ engine: local, frames }),
      clusters: new Map(clusters.map((each) => [each.name, new FrameStatements({ engine: each.sql, frames })])),
      auto: new AutoEngine({ frames, local, cluster, thresholdBytes: sql.autoThresholdBytes }),
      running,
    });
    const engines = new EngineDirectory({
      engines: [
        localEngine(localEngineName, local),
        ...(upstream === undefined ? [] : [tsdbEngine(tsdbEngineName, upstream)]),
        ...clusters,
      ],
      defaultEngine: sql.defaultEngine,
      autoEngine: sql.autoEngine,
    });
    return {
      local,
      clusters,
      tsdb: upstream,
      sql: router,
      running,
      engines,
      filter: new RowFilter({ engine: local, frames }),
    };
  });
}

/** What the processes of a tenant may read. Undefined while there is only one tenant. */
function tenantReach(store: FrameStore, records: AccessRecords | undefined): ReachOf | undefined {
  if (records === undefined) return undefined;
  const shared = new Map<Tenant, string>();
  records.onChange(() => shared.clear());
  const sharedWith = (tenant: Tenant): string => {
    const known = shared.get(tenant) ?? hash('sha256', records.sharesWith(tenant).map(shareName).sort().join());
    shared.set(tenant, known);
    return known;
  };
  return async (tenant) => ({
    linksFolder: await store.linksFolder(tenant),
    hasAnalytics: mayUseEngine({ limits: await records.limitsOf(tenant) }, analyticsCatalog),
    shared: sharedWith(tenant),
  });
}

function openLocalSql(config: Config, reachOf: ReachOf | undefined, cleanup: Cleanup, logger: Logger): DuckDbSqlEngine {
  const { storage, sql } = config;
  const duckdb = duckdbOptions(config, logger);
  // Recompression may take minutes, and copies shall not wait for it.
  const copyEngine = cleanup.use(new DuckDbEngine({ ...duckdb, workers: 1, timeoutMs: 0, background: true }));
  const root = join(storage.dataDir, 'warm');
  sweepSpill(root).catch((error: unknown) => logger.debug('could not sweep the native copies', { error }));
  const nativeCopies = cleanup.use(
    new NativeCopies({
      root,
      budgetBytes: storage.cacheSizeBytes,
      copy: (frame, signal) => copyEngine.warm(frame, { signal }),
      logger: logger.area('duckdb'),
    }),
  );
  const reach = {
    coldDirectory: resolve(storage.parquetPath),
    warmDirectory: nativeCopies.directory,
    analyticsPath: resolve(storage.duckdbPath),
  };
  return cleanup.use(
    new DuckDbSqlEngine({ ...duckdb, workers: sql.workers, timeoutMs: sql.timeoutMs, nativeCopies, reach, reachOf }),
  );
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

interface Doors extends AsyncDisposable {
  readonly httpAddress: ListenAddress;
  readonly grpcAddress: ListenAddress;
}

async function openDoors(config: Config, inside: Inside, queries: Queries, logger: Logger): Promise<Doors> {
  const { server, http } = config;
  return Cleanup.scope(async (cleanup) => {
    const grpc = cleanup.use(await openGrpc(config, inside, queries, logger));
    const routes = httpRoutes(config, inside, queries, grpc.address);
    const listener = await startHttpListener({
      ...http,
      host: http.bindAddress.host,
      port: http.bindAddress.port,
      cors: http.corsOrigins === undefined ? undefined : { origins: http.corsOrigins },
      identify: inside.identify,
      admit: inside.admit,
      isClosed: inside.records !== undefined,
      audit: inside.audit,
      watch: inside.watch,
      tickets: inside.tickets,
      counter: inside.counters.http,
      tls: inside.tls,
      routes: withConsole(http.console, [...routes, openApiRoute(routes, { version })], inside.logins),
      logger: logger.area('http'),
    });
    if (server.healthAddress !== undefined) await openHealth(config, server.healthAddress, cleanup, logger);
    cleanup.defer(async () => {
      const { shutdownGraceMs: graceMs } = server;
      inside.followers.endAll();
      // Statements that outlast the grace period are answered 503 first; whatever else is open is cut 250 ms later.
      const told = setTimeout(() => queries.running.stopAll(), graceMs);
      await Promise.all([listener.close(graceMs + lastWordMs), grpc.close({ graceMs })]);
      clearTimeout(told);
    });
    return { httpAddress: listener.address, grpcAddress: grpc.address };
  });
}

/** The build puts its files beside the program. */
const consoleFolder = fileURLToPath(new URL('./console', import.meta.url));

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

/** For probes that cannot show a certificate: in clear text, and nothing but whether we live. */
async function openHealth({ http }: Config, address: ListenAddress, cleanup: Cleanup, logger: Logger): Promise<void> {
  const listener = await startHttpListener({
    ...http,
    ...address,
    cors: undefined,
    hosts: ['*'],
    identify,
    isClosed: false,
    audit: undefined,
    routes: [pingRoute],
    logger: logger.area('http'),
  });
  cleanup.defer(() => listener.close(lastWordMs));
}

function openGrpc(
  { server }: Config,
  { frames, followers, identify: identifyCaller, admit, audit, records, sessionTokens, watch, tls, counters }: Inside,
  queries: Queries,
  logger: Logger,
) {
  const { local, clusters, sql, filter } = queries;
  const issueToken = sessionTokens && ((principal: Principal) => sessionTokens.issue(principal));
  const sessions = new Sessions({ takesTokens: records === undefined, issueToken }, [
    localEngineName,
    ...clusters.map(({ name }) => name),
    autoEngineName,
  ]);
  const flightSql = createFlightSql({
    sql,
    frames,
    sessions,
    expectStatements: ({ tenant }) => local.expect(tenant),
    logger,
    version,
    maxConnections: server.maxConnections,
  });
  return startGrpcListener({
    host: server.grpcHost,
    port: server.grpcPort,
    maxConnections: server.maxConnections,
    services: [
      createHealthService(['', flightServiceName]),
      createFlightService({ frames, followers, filter, sql: flightSql, sessions }),
    ],
    identify: identifyCaller,
    admit,
    audit,
    watch,
    counter: counters.grpc,
    tls,
    logger,
  });
}

function httpRoutes(config: Config, inside: Inside, queries: Queries, grpc: ListenAddress): readonly Route[] {
  const { http, write } = config;
  const { defaultEngine, autoEngine } = config.sql;
  const { sql, tsdb, running, engines, filter } = queries;
  const { frames, followers, cache, records, tickets, tls, logins } = inside;
  const plotter = new Plotter({ sql, frames });
  return [
    pingRoute,
    execRoute({ frames, pages: cache.space(), tsdb, sql, settings: { ...http, defaultEngine } }),
    expRoute({ frames, tsdb, sql, settings: { ...http, defaultEngine } }),
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
    enginesRoute(engines),
    whoamiRoute(frames),
    ticketsRoute(tickets, ['/exp', '/exec'], http),
    statsRoute({ ...inside, running, version, dataDir: config.storage.dataDir }),
    configRoute(inside.shown),
    ...(records === undefined
      ? []
      : [
          tokensRoute(records, http),
          tokenRoute(records),
          rotateTokenRoute(records, http),
          tenantsRoute(tenantRegistry(records), http),
          tenantRoute(tenantRegistry(records), http),
          sharesRoute(new FrameShares(frames, records)),
          shareRoute(new FrameShares(frames, records)),
        ]),
    infoRoute({
      version,
      grpc: { ...grpc, tls: tls !== undefined },
      engines,
      defaultEngine,
      autoEngine,
      credentials: credentialKinds(config.auth),
      logins,
    }),
  ];
}

/** What callers may show. */
function credentialKinds({ issuers, certificates }: Config['auth']): readonly string[] {
  return ['token', ...(issuers.size > 0 ? ['jwt'] : []), ...(certificates.size > 0 ? ['certificate'] : [])];
}

/** The one place where an engine's kind becomes an engine. Loaded where there is one: a seventh of the program is its code. */
async function createClusterEngine(options: ClusterEngineOptions): Promise<ClusterEngine> {
  switch (options.kind) {
    case 'spark-connect': {
      const { SparkEngine } = await import('./engines/spark/spark-engine.ts');
      return new SparkEngine(options);
    }
    default:
      return options.kind satisfies never;
  }
}

/** The tokens of the configured directory, for commands that work without a server. */
export function openTokens({ storage }: Config): Promise<TokenRegistry> {
  return openTokenRegistry(resolve(storage.parquetPath));
}

/** Its tenants, likewise. */
export function openTenants({ storage }: Config): Promise<TenantRegistry> {
  return openTenantRegistry(resolve(storage.parquetPath));
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
