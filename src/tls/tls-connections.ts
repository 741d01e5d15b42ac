import type { Socket } from 'node:net';
import type { Server, TLSSocket, TlsOptions } from 'node:tls';
import type { Logger } from '../core/logs/logger.ts';
import { hasUnverifiedCertificate } from './client-certificate.ts';
import type { ServerTls } from './server-tls.ts';

const warnEveryMs = 60_000;

/** For the listener's start. `handshakeTimeoutMs`: for the client to finish the TLS handshake. */
export function tlsOptions(tls: ServerTls, handshakeTimeoutMs: number): TlsOptions {
  return {
    ...tls.context,
    requestCert: tls.clientAuth !== 'off',
    rejectUnauthorized: tls.clientAuth === 'required',
    handshakeTimeout: handshakeTimeoutMs,
  };
}

/** The connections of a listener from their first byte to the end of the TLS handshake. */
export class TlsConnections {
  /** By address and port of the client, which a raw socket and the TLS socket on it have in common. */
  readonly #raw = new Map<string, Socket>();
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  /** `answerPlain`: the answer to a client that sends HTTP without TLS. */
  constructor(server: Server, tls: ServerTls, logger: Logger, answerPlain?: () => string) {
    server.on('connection', (socket: Socket) => {
      const key = keyOf(socket);
      this.#raw.set(key, socket);
      // Without a listener an error ends the process.
      socket.on('error', (error) => logger.debug('connection failed', { error: error.message }));
      socket.once('close', () => {
        if (this.#raw.get(key) === socket) this.#raw.delete(key);
      });
    });
    server.prependListener('secureConnection', (socket: TLSSocket) => {
      this.#raw.delete(keyOf(socket));
      socket.on('error', (error) => logger.debug('connection failed', { error: error.message }));
      if (!hasUnverifiedCertificate(socket)) return;
      logger.debug('a client certificate was refused', { reason: socket.authorizationError });
      this.#warnOfOldList(socket, logger);
      socket.destroy();
    });
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      const reason = socket.authorizationError ?? error.code ?? error.message;
      logger.debug('the TLS handshake failed', { reason });
      this.#warnOfOldList(socket, logger);
      if (error.code === 'ERR_SSL_HTTP_REQUEST' && answerPlain !== undefined) {
        this.#raw.get(keyOf(socket))?.write(answerPlain());
      }
      // Node leaves the connection of a late handshake open.
      socket.destroy();
    });
    const stop = tls.onChange((context) => server.setSecureContext(context));
    server.once('close', stop);
  }

  #warnOfOldList({ authorizationError }: TLSSocket, logger: Logger): void {
    if (String(authorizationError) !== 'CRL_HAS_EXPIRED' || performance.now() - this.#warnedAtMs < warnEveryMs) return;
    this.#warnedAtMs = performance.now();
    logger.warn('client certificates are refused: a list in tls.crl_file is past its next update');
  }

  /** Ends connections in the handshake: they have no requests. */
  cut(): void {
    for (const socket of this.#raw.values()) socket.destroy();
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
