import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { sharedTurn, TimeoutList, withTimeout } from '@framehold/async';
import type { FairShares } from '../../core/async/fair-shares.ts';
import type { Audit } from '../../core/callers/audit.ts';
import { limitConnections } from '../../core/callers/connection-limit.ts';
import type { CredentialWatch, WatchedRequest } from '../../core/callers/credential-watch.ts';
import { type Identify, laneOf, laneOfUnknown, type Principal } from '../../core/callers/principal.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { BeginSpan } from '../../core/logs/span.ts';
import { requestIdOf } from '../../core/names/request-id.ts';
import type { EventLoopWatch } from '../../telemetry/event-loop-watch.ts';
import type { RequestCounter } from '../../telemetry/request-counter.ts';
import { clientCertificate } from '../../tls/client-certificate.ts';
import type { ServerTls } from '../../tls/server-tls.ts';
import { TlsConnections, tlsOptions } from '../../tls/tls-connections.ts';
import { GrpcError } from '../wire/grpc-status.ts';
import { type CallTimeouts, type EndedCall, type RunningCall, startCall } from './call.ts';
import { type ConnectionTimeouts, watchConnection } from './connection.ts';
import { errorTrailers } from './error-status.ts';
import { http2Options, windowBytes } from './http2-settings.ts';
import type { Method, Service } from './method.ts';
import { endResponse } from './response.ts';
import { StallTimeout } from './write-stall.ts';

export interface GrpcListenerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Open connections, nine tenths of them from one address. One more is closed at once, which its client sees as UNAVAILABLE. */
  readonly maxConnections: number;
  /** Places for running calls. Default: any number. */
  readonly calls?: FairShares | undefined;
  readonly services: readonly Service[];
  readonly identify: Identify;
  /** Throws where the caller has sent too many. */
  readonly admit?: ((principal: Principal) => void) | undefined;
  /** Undefined: there is none. */
  readonly audit?: Audit | undefined;
  /** Undefined where there are no credentials that could end. */
  readonly watch?: CredentialWatch | undefined;
  /** Undefined: none is traced. */
  readonly beginSpan?: BeginSpan | undefined;
  /** Counts its calls. Undefined: not counted. */
  readonly counter?: RequestCounter | undefined;
  /** Watches how long each turn of the event loop takes. Undefined: not watched. */
  readonly eventLoop?: EventLoopWatch | undefined;
  /** Undefined: without TLS. */
  readonly tls?: ServerTls | undefined;
  readonly logger: Logger;
  readonly timeouts?: Partial<GrpcTimeouts>;
}

export interface GrpcTimeouts extends ConnectionTimeouts {
  /** For a unary request to arrive whole. */
  readonly requestTimeoutMs: number;
  /** Most time for which a client may take no byte while there is something to send. */
  readonly stallTimeoutMs: number;
}

export interface GrpcListener {
  readonly address: { readonly host: string; readonly port: number };
  /** Number of open connections. */
  readonly connections: () => number;
  /** Notifies watchers of health that the server will stop soon. Calls are taken as before. */
  announceStop(): void;
  /** Takes no more connections and calls, waits for running ones, and after `graceMs` ends them as UNAVAILABLE. */
  close(options: { readonly graceMs: number }): Promise<void>;
  /** Closes without grace. */
  [Symbol.asyncDispose](): Promise<void>;
}

const defaultTimeouts: GrpcTimeouts = {
  handshakeTimeoutMs: 10_000,
  keepaliveMs: 20_000,
  idleTimeoutMs: 300_000,
  probeMs: 2000,
  requestTimeoutMs: 15_000,
  stallTimeoutMs: 30_000,
};

/** For the last trailers to leave before connections are cut. */
const flushMs = 250;

interface Connection {
  /** Its number on this listener. */
  readonly id: string;
  readonly address: string;
  readonly certificate: X509Certificate | undefined;
  readonly enter: () => () => void;
}

/** Node gives flags and raw headers; its types know only the flags. */
type StreamDetails = readonly [flags: number, rawHeaders?: readonly string[]];

/** A method, as its path finds it. */
interface FoundMethod {
  readonly method: Method;
  readonly isOpen: boolean;
}

export async function startGrpcListener(options: GrpcListenerOptions): Promise<GrpcListener> {
  const logger = options.logger.area('grpc');
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const connections = new Map<ServerHttp2Session, Connection>();
  const dispatcher = new Dispatcher(options, timeouts, logger);
  let opened = 0;

  const { tls } = options;
  const server =
    tls === undefined
      ? createServer(http2Options)
      : createSecureServer({ ...http2Options, ...tlsOptions(tls, timeouts.handshakeTimeoutMs) });
  const handshakes = tls && new TlsConnections(server as Http2SecureServer, tls, logger);
  const openConnections = limitConnections(server, options.maxConnections, logger);

  server.on('session', (session) => {
    opened += 1;
    const address = session.socket.remoteAddress ?? '';
    const id = `grpc-${opened}`;
    const certificate = clientCertificate(session.socket as Socket);
    connections.set(session, { id, address, certificate, enter: watchConnection(session, timeouts) });
    session.on('error', (error) => logger.debug('connection failed', { error: error.message }));
    session.once('close', () => connections.delete(session));
    session.setLocalWindowSize(windowBytes);
  });

  const onStreamError = (error: Error): void => logger.debug('stream failed', { error: error.message });
  server.on('stream', (stream, metadata, ...[, rawHeaders]: StreamDetails) => {
    stream.on('error', onStreamError);
    const connection = stream.session && connections.get(stream.session as ServerHttp2Session);
    if (!connection) return stream.destroy();
    dispatcher.dispatch(stream, connection, metadata, rawHeaders);
  });

  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  server.on('sessionError', (error) => logger.debug('connection failed', { error: error.message }));

  server.listen(options.port, options.host);
  await once(server, 'listening');
  server.on('error', (error) => logger.error('listener failed', { error: error.message }));
  const { address: host, port } = server.address() as AddressInfo;

  const stop = async (graceMs: number): Promise<void> => {
    const closed = new Promise<boolean>((resolve) => server.close(() => resolve(true)));
    for (const service of options.services) service.drain?.();
    for (const session of connections.keys()) session.close();
    handshakes?.cut();
    if (await withTimeout(closed, graceMs, () => false)) return;
    dispatcher.abortAll(new GrpcError('UNAVAILABLE', 'the server is stopping'));
    if (await withTimeout(closed, flushMs, () => false)) return;
    // After its GOAWAY Node leaves a connection to the client, which may never close its side.
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  let stopping: Promise<void> | undefined;
  const close = ({ graceMs }: { readonly graceMs: number }): Promise<void> => {
    stopping ??= stop(graceMs);
    return stopping;
  };
  return {
    address: { host, port },
    connections: openConnections,
    announceStop: () => {
      for (const service of options.services) service.announceStop?.();
    },
    close,
    [Symbol.asyncDispose]: () => close({ graceMs: 0 }),
  };
}

/** Finds the method of each call and begins it. */
class Dispatcher {
  readonly #options: GrpcListenerOptions;
  readonly #timeouts: CallTimeouts;
  readonly #logger: Logger;
  readonly #methods: ReadonlyMap<string, FoundMethod>;
  readonly #calls = new Set<RunningCall>();

  constructor(options: GrpcListenerOptions, { requestTimeoutMs, stallTimeoutMs }: GrpcTimeouts, logger: Logger) {
    this.#options = options;
    this.#timeouts = { request: new TimeoutList(requestTimeoutMs), stall: new StallTimeout(stallTimeoutMs) };
    this.#logger = logger;
    this.#methods = methodsByPath(options.services);
  }

  /** At once, or in one of the next turns of the event loop where those of this one are many. */
  dispatch(
    stream: ServerHttp2Stream,
    connection: Connection,
    metadata: IncomingHttpHeaders,
    rawHeaders: readonly string[] | undefined,
  ): void {
    const turn = sharedTurn(() => laneOfUnknown(connection.address, metadata.authorization, connection.id));
    if (turn === undefined) this.#begin(stream, connection, metadata, rawHeaders);
    else {
      const leave = connection.enter();
      void turn.then(() => {
        if (!stream.destroyed) this.#begin(stream, connection, metadata, rawHeaders);
        leave();
      });
    }
  }

  #begin(
    stream: ServerHttp2Stream,
    connection: Connection,
    metadata: IncomingHttpHeaders,
    rawHeaders: readonly string[] | undefined,
  ): void {
    const { identify, admit, audit, watch, counter, eventLoop, beginSpan, calls } = this.#options;
    const { id, address, certificate, enter } = connection;
    const leave = enter();
    const found = route(stream, metadata, this.#methods, this.#timeouts);
    if (found === undefined) {
      stream.once('close', leave);
      return;
    }
    const path = metadata[':path'] ?? '';
    let watched: WatchedRequest | undefined;
    const beganMs = counter?.begin() ?? 0;
    const onClosed = (ended: EndedCall): void => {
      leave();
      counter?.end({ ...ended, route: path.slice(1), method: 'grpc', beganMs, traceId: span?.traceId });
      span?.set({ 'rpc.response.status_code': ended.status });
      span?.end(ended.hasFailed ? ended.status : undefined);
      if (watched !== undefined) watch?.delete(watched);
      this.#calls.delete(call);
    };
    const caller = { headers: metadata, rawHeaders, address, certificate };
    const givenId = metadata['x-request-id'];
    const requestId = requestIdOf(givenId);
    const span = found.isOpen
      ? undefined
      : beginSpan?.(path.slice(1), metadata.traceparent, {
          'rpc.system.name': 'grpc',
          'rpc.method': path.slice(1),
          'framehold.request_id': requestId,
        });
    const work = { route: path.slice(1), requestId };
    const goesOn = (): void => eventLoop?.goesOn(work);
    goesOn();
    const audited = { door: 'grpc', method: path, isChange: false, requestId, givenId, address } as const;
    const onIdentified = (principal: Principal): void => {
      if (watch === undefined || stream.destroyed) return;
      watched = { caller, principal, endNow: (error) => call.abort(error) };
      watch.add(watched);
    };
    const call = startCall(stream, {
      timeouts: this.#timeouts,
      method: found.method,
      path,
      metadata,
      identify: found.isOpen ? undefined : () => identify(caller),
      onIdentified,
      admit,
      calls: found.isOpen ? undefined : calls,
      requestId,
      record: found.isOpen ? undefined : audit?.begin(audited),
      span,
      laneOf: (principal) =>
        principal === undefined ? laneOfUnknown(address, metadata.authorization, id) : laneOf(principal, address, id),
      logger: this.#logger,
      onClosed,
      goesOn,
    });
    this.#calls.add(call);
  }

  abortAll(reason: GrpcError): void {
    for (const call of this.#calls) call.abort(reason);
  }
}

function methodsByPath(services: readonly Service[]): ReadonlyMap<string, FoundMethod> {
  const methods = new Map<string, FoundMethod>();
  for (const { name: service, methods: its, isOpen = false } of services) {
    for (const [name, method] of Object.entries(its)) methods.set(`/${service}/${name}`, { method, isOpen });
  }
  return methods;
}

/** The requested method. Answers the stream itself if there is none. */
function route(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  methods: ReadonlyMap<string, FoundMethod>,
  { stall }: CallTimeouts,
): FoundMethod | undefined {
  if (headers[':method'] !== 'POST') {
    stream.respond({ ':status': 405, allow: 'POST' }, { endStream: true });
    return undefined;
  }
  const contentType = headers['content-type'] ?? '';
  if (contentType !== 'application/grpc' && !/^application\/grpc(\+proto)?\s*(;|$)/i.test(contentType)) {
    stream.respond({ ':status': 415, 'accept-post': 'application/grpc' }, { endStream: true });
    return undefined;
  }
  const path = headers[':path'] ?? '';
  const method = methods.get(path);
  if (method === undefined) {
    const error = new GrpcError('UNIMPLEMENTED', `there is no method ${path.slice(0, 200)}`);
    stream.once('close', endResponse(stream, errorTrailers(error), stall));
  }
  return method;
}
