import { createHealthService, createReflectionServices } from '@framehold/grpc';
import { flightServiceName } from '@framehold/grpc/flight';
import { flightDescriptors } from '@framehold/grpc/flight-descriptors';
import { identify } from '../auth/identify.ts';
import type { Config } from '../config/config.ts';
import type { ListenAddress } from '../config/listen-address.ts';
import { Cleanup } from '../core/async/cleanup.ts';
import type { Audit } from '../core/callers/audit.ts';
import type { Principal } from '../core/callers/principal.ts';
import type { Logger } from '../core/logs/logger.ts';
import { autoEngineName, localEngineName } from '../core/names/engine-names.ts';
import { version } from '../core/system/version.ts';
import { createFlightService } from '../flight/flight-service.ts';
import { Sessions } from '../flight/request/sessions.ts';
import { createFlightSql } from '../flight/sql/flight-sql.ts';
import { startGrpcListener } from '../grpc/listener.ts';
import type { Route } from '../http/exchange/route.ts';
import type { HttpListenerSettings } from '../http/listener/dispatcher.ts';
import { startHttpListener } from '../http/listener/listener.ts';
import type { EventLoopWatch } from '../telemetry/event-loop-watch.ts';
import { type Capacities, placesForRequests } from './capacities.ts';
import { httpRoutes, type RouteParts } from './routes.ts';
import type { Tracing } from './tracing.ts';

/** Time for answers to clients whose statement outlasts a stop. */
const lastWordMs = 250;

/** The parts that the listeners use. */
export interface ListenerParts extends RouteParts {
  readonly capacities: Capacities;
  readonly audit: Audit | undefined;
  /** Undefined where nothing is traced. */
  readonly tracing: Tracing | undefined;
  readonly turns: EventLoopWatch;
}

interface Listeners extends AsyncDisposable {
  readonly httpAddress: ListenAddress;
  readonly grpcAddress: ListenAddress;
  /** Open connections of each. */
  readonly connections: () => ReadonlyMap<string, number>;
  readonly applySettings: (config: Config) => void;
  /** Sends clients elsewhere, without a refusal. */
  readonly announceStop: () => void;
}

export async function openListeners(config: Config, parts: ListenerParts, logger: Logger): Promise<Listeners> {
  let { server } = config;
  return Cleanup.scope(async (cleanup) => {
    const grpc = cleanup.use(await openGrpc(config, parts, logger));
    const http = await openHttp(config, parts, grpc.address, logger);
    cleanup.defer(async () => {
      const { shutdownGraceMs: graceMs } = server;
      parts.followers.endAll();
      // Statements that outlast the grace period are answered 503 first; other open requests are cut 250 ms later.
      const timer = setTimeout(() => parts.queries.running.stopAll(), graceMs);
      await Promise.all([http.close(graceMs + lastWordMs), grpc.close({ graceMs })]);
      clearTimeout(timer);
    });
    return {
      httpAddress: http.address,
      grpcAddress: grpc.address,
      applySettings: (changed) => {
        server = changed.server;
        parts.capacities.requests.units = changed.http.maxConcurrentRequests;
        http.applySettings(httpSettings(changed));
      },
      announceStop: () => {
        http.announceStop();
        grpc.announceStop();
      },
      connections: () =>
        new Map([
          ['http', http.connections()],
          ['grpc', grpc.connections()],
        ]),
    };
  });
}

function httpSettings({ http }: Config): HttpListenerSettings {
  const { corsOrigins: origins, hosts } = http;
  return { cors: origins === undefined ? undefined : { origins }, hosts };
}

function openHttp(config: Config, parts: ListenerParts, grpc: ListenAddress, logger: Logger) {
  const { http } = config;
  return startHttpListener({
    ...http,
    host: http.bindAddress.host,
    port: http.bindAddress.port,
    ...httpSettings(config),
    identify: parts.identify,
    admit: parts.admit,
    isClosed: parts.records !== undefined,
    ...parts.capacities,
    audit: parts.audit,
    watch: parts.watch,
    tickets: parts.tickets,
    counter: parts.timings.http,
    eventLoop: parts.turns,
    beginSpan: parts.tracing?.beginSpan,
    tls: parts.tls,
    routes: httpRoutes(config, parts, grpc),
    logger: logger.area('http'),
  });
}

/** For clients without a certificate or a token: in clear text, and no data of callers. */
export async function openPlainListener(
  { http }: Config,
  address: ListenAddress | undefined,
  routes: readonly Route[],
  capacities: Capacities,
  cleanup: Cleanup,
  logger: Logger,
): Promise<void> {
  if (address === undefined) return;
  const listener = await startHttpListener({
    ...http,
    ...address,
    cors: undefined,
    hosts: ['*'],
    identify,
    isClosed: false,
    memory: capacities.memory,
    requests: placesForRequests(http.maxConcurrentRequests),
    audit: undefined,
    routes,
    logger: logger.area('http'),
  });
  cleanup.defer(() => listener.close(lastWordMs));
}

function openGrpc({ server }: Config, parts: ListenerParts, logger: Logger) {
  const { frames, followers, queries, records, sessionTokens } = parts;
  const { engines, sql, filter } = queries;
  const issueToken = sessionTokens && ((principal: Principal) => sessionTokens.issue(principal));
  const sessions = new Sessions({ takesTokens: records === undefined, issueToken, sql }, [
    localEngineName,
    ...engines.clusters.map(({ name }) => name),
    autoEngineName,
  ]);
  const flightSql = createFlightSql({
    sql,
    frames,
    sessions,
    expectStatements: ({ tenant }) => engines.local.expect(tenant),
    logger,
    version,
    maxConnections: server.maxConnections,
  });
  const isReady = (): boolean => parts.readiness.problem === undefined;
  return startGrpcListener({
    host: server.grpcHost,
    port: server.grpcPort,
    maxConnections: server.maxConnections,
    calls: parts.capacities.calls,
    services: [
      createHealthService(
        new Map([
          ['', isReady],
          [flightServiceName, isReady],
          ['framehold.writes', () => parts.readiness.problemOfWrites === undefined],
        ]),
      ),
      createFlightService({ frames, followers, filter, sql: flightSql, sessions, memory: parts.capacities.memory }),
      ...createReflectionServices(flightDescriptors),
    ],
    identify: parts.identify,
    admit: parts.admit,
    audit: parts.audit,
    watch: parts.watch,
    counter: parts.timings.grpc,
    eventLoop: parts.turns,
    beginSpan: parts.tracing?.beginSpan,
    tls: parts.tls,
    logger,
  });
}
