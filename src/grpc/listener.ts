import type { Server } from 'node:tls';
import { type GrpcTimeouts, type Listener, type Service, startListener } from '@framehold/grpc';
import { limitConnections } from '../core/callers/connection-limit.ts';
import type { Principal } from '../core/callers/principal.ts';
import type { Logger } from '../core/logs/logger.ts';
import type { ServerTls } from '../tls/server-tls.ts';
import { TlsConnections, tlsOptions } from '../tls/tls-connections.ts';
import { type CallParts, CallsOfConnection } from './call-hooks.ts';

export interface GrpcListenerOptions extends CallParts {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Open connections, nine tenths of them from one address. One more is closed at once, which its client sees as UNAVAILABLE. */
  readonly maxConnections: number;
  readonly services: readonly Service<Principal>[];
  /** Undefined: without TLS. */
  readonly tls?: ServerTls | undefined;
  readonly logger: Logger;
  readonly timeouts?: Partial<GrpcTimeouts>;
}

export interface GrpcListener extends Listener {
  /** Number of open connections. */
  readonly connections: () => number;
}

const defaultHandshakeTimeoutMs = 10_000;

/** A gRPC listener whose callers are those of Framehold: they are identified, counted, traced and noted in the audit. */
export async function startGrpcListener({ tls, ...options }: GrpcListenerOptions): Promise<GrpcListener> {
  const logger = options.logger.area('grpc');
  const { handshakeTimeoutMs = defaultHandshakeTimeoutMs } = options.timeouts ?? {};
  let handshakes: TlsConnections | undefined;
  let connections = (): number => 0;
  let opened = 0;
  const listener = await startListener({
    ...options,
    logger,
    timeouts: { ...options.timeouts, handshakeTimeoutMs },
    tls: tls && tlsOptions(tls, handshakeTimeoutMs),
    onServer: (server) => {
      handshakes = tls && new TlsConnections(server as Server, tls, logger);
      connections = limitConnections(server, options.maxConnections, logger);
    },
    connect: (socket) => new CallsOfConnection(options, socket, `grpc-${++opened}`, logger),
  });
  const close = (how: { readonly graceMs: number }): Promise<void> => {
    const closed = listener.close(how);
    handshakes?.cut();
    return closed;
  };
  return { ...listener, connections, close, [Symbol.asyncDispose]: () => close({ graceMs: 0 }) };
}
