import { once } from 'node:events';
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { sharedTurn, TimeoutList, withTimeout } from '@framehold/async';
import { GrpcError } from '../wire/grpc-status.ts';
import { type CallTimeouts, type RunningCall, startCall } from './call.ts';
import { type ConnectionTimeouts, watchConnection } from './connection.ts';
import { failureOf, trailersOf } from './failure.ts';
import type { ConnectionHooks } from './hooks.ts';
import { http2Options, windowBytes } from './http2-settings.ts';
import type { Method, Service } from './method.ts';
import { endResponse } from './response.ts';
import { StallTimeout } from './write-stall.ts';

export interface ListenerOptions<Principal> {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly services: readonly Service<Principal>[];
  /** Says of each connection who may call, and when. `anybody` asks nobody. */
  readonly connect: (socket: Socket) => ConnectionHooks<Principal>;
  /** Undefined: without TLS. */
  readonly tls?: TlsOptions | undefined;
  /** Called before the server listens: for limits of connections, and changes of TLS. */
  readonly onServer?: (server: Http2Server | Http2SecureServer) => void;
  /** Default: nothing is logged. */
  readonly logger?: ListenerLogger | undefined;
  readonly timeouts?: Partial<GrpcTimeouts> | undefined;
}

export interface ListenerLogger {
  debug(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface GrpcTimeouts extends ConnectionTimeouts {
  /** For a unary request to arrive whole. */
  readonly requestTimeoutMs: number;
  /** Most time for which a client may take no byte while there is something to send. */
  readonly stallTimeoutMs: number;
}

export interface Listener {
  readonly address: { readonly host: string; readonly port: number };
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

interface Connection<Principal> {
  readonly hooks: ConnectionHooks<Principal>;
  readonly enter: () => () => void;
}

/** Node gives flags and raw headers; its types know only the flags. */
type StreamDetails = readonly [flags: number, rawHeaders?: readonly string[]];

/** A method, as its path finds it. */
interface FoundMethod<Principal> {
  readonly method: Method<Principal>;
  readonly isOpen: boolean;
}

const silent: ListenerLogger = { debug: () => {}, error: () => {} };

export async function startListener<Principal>(options: ListenerOptions<Principal>): Promise<Listener> {
  const { logger = silent, tls, services } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const connections = new Map<ServerHttp2Session, Connection<Principal>>();
  const dispatcher = new Dispatcher(services, timeouts);
  const server = tls === undefined ? createServer(http2Options) : createSecureServer({ ...http2Options, ...tls });
  options.onServer?.(server);

  server.on('session', (session) => {
    const hooks = options.connect(session.socket as Socket);
    connections.set(session, { hooks, enter: watchConnection(session, timeouts) });
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
    for (const service of services) service.drain?.();
    for (const session of connections.keys()) session.close();
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
    announceStop: () => {
      for (const service of services) service.announceStop?.();
    },
    close,
    [Symbol.asyncDispose]: () => close({ graceMs: 0 }),
  };
}

/** Finds the method of each call and begins it. */
class Dispatcher<Principal> {
  readonly #timeouts: CallTimeouts;
  readonly #methods: ReadonlyMap<string, FoundMethod<Principal>>;
  readonly #calls = new Set<RunningCall>();

  constructor(services: readonly Service<Principal>[], { requestTimeoutMs, stallTimeoutMs }: GrpcTimeouts) {
    this.#timeouts = { request: new TimeoutList(requestTimeoutMs), stall: new StallTimeout(stallTimeoutMs) };
    this.#methods = methodsByPath(services);
  }

  /** At once, or in one of the next turns of the event loop where those of this one are many. */
  dispatch(
    stream: ServerHttp2Stream,
    connection: Connection<Principal>,
    metadata: IncomingHttpHeaders,
    rawHeaders: readonly string[] | undefined,
  ): void {
    const turn = sharedTurn(() => connection.hooks.laneOf(metadata));
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
    connection: Connection<Principal>,
    metadata: IncomingHttpHeaders,
    rawHeaders: readonly string[] | undefined,
  ): void {
    const leave = connection.enter();
    const found = route(stream, metadata, this.#methods, this.#timeouts);
    if (found === undefined) {
      stream.once('close', leave);
      return;
    }
    const call = startCall(stream, {
      method: found.method,
      isOpen: found.isOpen,
      timeouts: this.#timeouts,
      path: metadata[':path'] ?? '',
      metadata,
      rawHeaders,
      connection: connection.hooks,
      onClosed: () => {
        leave();
        this.#calls.delete(call);
      },
    });
    this.#calls.add(call);
  }

  abortAll(reason: GrpcError): void {
    for (const call of this.#calls) call.abort(reason);
  }
}

function methodsByPath<Principal>(
  services: readonly Service<Principal>[],
): ReadonlyMap<string, FoundMethod<Principal>> {
  const methods = new Map<string, FoundMethod<Principal>>();
  for (const { name: service, methods: its, isOpen = false } of services) {
    for (const [name, method] of Object.entries(its)) methods.set(`/${service}/${name}`, { method, isOpen });
  }
  return methods;
}

/** The requested method. Answers the stream itself if there is none. */
function route<Principal>(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  methods: ReadonlyMap<string, FoundMethod<Principal>>,
  { stall }: CallTimeouts,
): FoundMethod<Principal> | undefined {
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
    stream.once('close', endResponse(stream, trailersOf(failureOf(error)), stall));
  }
  return method;
}
