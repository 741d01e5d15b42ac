import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { grpcCall } from '@framehold/grpc';
import { ConnectFailure, connectFailure } from './connect-failure.ts';
import type { ConnectAddress } from './connect-url.ts';
import { trustedCertificates } from './trusted-certificates.ts';

/** Bytes that a stream may send ahead of its reader. HTTP/2's own 64 KiB would make large results wait for acknowledgements. */
const streamWindowBytes = 2 * 1024 * 1024;
const connectionWindowBytes = 64 * 1024 * 1024;
/** HTTP/2's own 16 KiB would cut each read from the socket into four. */
const frameBytes = 1024 * 1024;
/** As much as Spark's own clients and server take. */
const maxMessageBytes = 128 * 1024 * 1024;
const firstPingAfterMs = 30_000;
const pingTimeoutMs = 10_000;

export interface ConnectChannelOptions {
  readonly address: ConnectAddress;
  readonly connectTimeoutMs: number;
  /** Certificates to trust beside the system's, as PEM. */
  readonly extraCertificatesFile?: string | undefined;
  /** For a URL that names none. */
  readonly userAgent: string;
  /** Default: nothing is logged. */
  readonly logger?: { debug(message: string, fields: Readonly<Record<string, unknown>>): void } | undefined;
}

/** One HTTP/2 connection to a server, made on demand and again after a loss. */
export class ConnectChannel {
  readonly #options: ConnectChannelOptions;
  readonly #headers: Readonly<Record<string, string>>;
  #connection: Promise<ClientHttp2Session> | undefined;
  #isClosed = false;
  #calls = 0;
  #pingAfterMs = firstPingAfterMs;
  /** The number of lost connections so far. */
  epoch = 0;

  constructor(options: ConnectChannelOptions) {
    this.#options = options;
    const { token, headers, userAgent } = options.address;
    this.#headers = {
      ...headers,
      'user-agent': userAgent ?? options.userAgent,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  }

  /** Rejects with a ConnectFailure, `too_large`, or the signal's reason. */
  async *call(path: string, request: Uint8Array, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    signal.throwIfAborted();
    const connection = await this.#connected(signal);
    this.#calls += 1;
    try {
      yield* grpcCall(connection, [[request]], { path, headers: this.#headers, signal, maxMessageBytes });
    } catch (thrown) {
      throw isDeadConnection(thrown)
        ? new ConnectFailure('UNAVAILABLE', 'the connection broke')
        : connectFailure(thrown);
    } finally {
      this.#calls -= 1;
    }
  }

  close(): void {
    this.#isClosed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.then(
      (session) => session.destroy(),
      () => {},
    );
  }

  async #connected(signal: AbortSignal): Promise<ClientHttp2Session> {
    if (this.#isClosed) throw new ConnectFailure('UNAVAILABLE', 'the engine is closed');
    this.#connection ??= this.#connect();
    const connection = this.#connection;
    // Others may wait for the same connection: an abort ends this wait only.
    return await new Promise<ClientHttp2Session>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener('abort', onAbort);
      connection.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  #connect(): Promise<ClientHttp2Session> {
    const connecting: Promise<ClientHttp2Session> = this.#open(() => forget());
    const forget = (): void => {
      if (this.#connection !== connecting) return;
      this.#connection = undefined;
      this.epoch += 1;
    };
    connecting.catch(forget);
    return connecting;
  }

  async #open(forget: () => void): Promise<ClientHttp2Session> {
    const { address, connectTimeoutMs, logger } = this.#options;
    const socket = await openSocket(this.#options);
    const authority = `${address.isTls ? 'https' : 'http'}://${hostText(address.host)}:${address.port}`;
    const session = connectHttp2(authority, {
      createConnection: () => socket,
      settings: { initialWindowSize: streamWindowBytes, maxFrameSize: frameBytes, enablePush: false },
    });
    return await new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        clearTimeout(timer);
        session.destroy();
        socket.destroy();
        reject(new ConnectFailure('UNAVAILABLE', `no connection: ${reasonOf(error)}`, { cause: error }));
      };
      const onClose = (): void => fail(new Error('closed'));
      const timer = setTimeout(
        () => fail(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })),
        connectTimeoutMs,
      );
      session.once('error', fail);
      session.once('close', onClose);
      // Only a server that speaks HTTP/2 sends its settings.
      session.once('remoteSettings', () => {
        clearTimeout(timer);
        session.off('error', fail).off('close', onClose);
        session.on('error', (error) => logger?.debug('the connection to the engine broke', { error: reasonOf(error) }));
        session.once('close', forget);
        session.once('goaway', (code) => {
          forget();
          if (code === constants.NGHTTP2_ENHANCE_YOUR_CALM) this.#pingAfterMs *= 2;
        });
        session.setLocalWindowSize(connectionWindowBytes);
        this.#watch(session, socket);
        resolve(session);
      });
    });
  }

  /** A peer that is gone without a word is found out, as long as somebody waits for it. */
  #watch(session: ClientHttp2Session, socket: Socket): void {
    let bytesRead = socket.bytesRead;
    let silentLooks = 0;
    const timer = setInterval(() => {
      const isSilent = socket.bytesRead === bytesRead;
      bytesRead = socket.bytesRead;
      silentLooks = isSilent && this.#calls > 0 ? silentLooks + 1 : 0;
      if (silentLooks === 0) return;
      if (session.closed || session.destroyed) {
        // Node answers pings of a connection after GOAWAY itself, and leaves the socket to the peer.
        if (silentLooks > 1 || session.destroyed) socket.destroy();
        return;
      }
      const overdue = setTimeout(() => session.destroy(new Error('no answer to a ping')), pingTimeoutMs);
      const isSent = session.ping(() => clearTimeout(overdue));
      if (!isSent) clearTimeout(overdue);
    }, this.#pingAfterMs);
    timer.unref();
    session.once('close', () => clearInterval(timer));
  }
}

async function openSocket({ address, extraCertificatesFile }: ConnectChannelOptions): Promise<Socket> {
  const { host, port, isTls } = address;
  if (!isTls) return connectPlain({ host, port, noDelay: true, keepAlive: true });
  const ca = await trustedCertificates(extraCertificatesFile);
  const servername = /^[\d.]+$|:/.test(host) ? '' : host;
  return connectTls({ host, port, ca, servername, ALPNProtocols: ['h2'] });
}

function hostText(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function reasonOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

/** The session was found closed only as the call began. */
function isDeadConnection(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'code' in thrown &&
    (thrown.code === 'ERR_HTTP2_INVALID_SESSION' || thrown.code === 'ERR_HTTP2_GOAWAY_SESSION')
  );
}
