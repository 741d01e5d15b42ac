import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { limitConnections } from '../../core/callers/connection-limit.ts';
import { TlsConnections, tlsOptions } from '../../tls/tls-connections.ts';
import { Connections } from './connections.ts';
import { Dispatcher, type HttpListenerOptions, type HttpListenerSettings, maxHeaders } from './dispatcher.ts';
import { answerMalformed, answerWithoutTls } from './malformed-request.ts';

export interface HttpListener {
  readonly address: { readonly host: string; readonly port: number };
  /** Number of open connections. */
  readonly connections: () => number;
  applySettings(settings: HttpListenerSettings): void;
  /** From now on each connection ends with its next answer, so that clients connect anew: elsewhere. Requests are taken as before. */
  announceStop(): void;
  /** Takes no more requests, gives running ones `graceMs` to finish, then cuts the rest. */
  close(graceMs: number): Promise<void>;
}

const maxHeaderBytes = 16 * 1024;
/** How often Node looks for connections that are late with their request. */
const checkEveryMs = 1000;

export async function startHttpListener(options: HttpListenerOptions): Promise<HttpListener> {
  const { tls, logger } = options;
  const server = createHttpServer(options);
  const handshakes = tls && new TlsConnections(server as HttpsServer, tls, logger, answerWithoutTls);
  const connections = new Connections(server, { ...options, isTls: tls !== undefined }, logger);
  const dispatcher = new Dispatcher(options, connections);
  server.on('request', (request, response) => dispatcher.dispatch(request, response));
  // A client that sends `Expect: 100-continue`, as curl does with large files, is answered by the reader of its body.
  server.on('checkContinue', (request, response) => dispatcher.dispatch(request, response));
  // RFC 9110 allows to ignore any other expectation.
  server.on('checkExpectation', (request, response) => dispatcher.dispatch(request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // A connection in its TLS handshake is not HTTP yet.
    if (!connections.has(socket)) return;
    if (connections.isBetweenRequests(socket)) answerMalformed(error, socket);
    else socket.destroy();
  });
  // Node silently drops headers beyond its limit, and an If-Match among them; one more shows that there are too many.
  server.maxHeadersCount = maxHeaders + 1;
  const openConnections = limitConnections(server, options.maxConnections, logger);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => logger.error('the HTTP listener failed', { error }));
  const { address, port } = server.address() as AddressInfo;
  const close = (graceMs: number): Promise<void> => {
    const closed = closeServer(server, dispatcher, graceMs);
    handshakes?.cut();
    return closed;
  };
  return {
    address: { host: address, port },
    connections: openConnections,
    applySettings: (settings) => dispatcher.applySettings(settings),
    announceStop: () => dispatcher.announceStop(),
    close,
  };
}

function createHttpServer(options: HttpListenerOptions): Server | HttpsServer {
  const http: ServerOptions = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: options.headerTimeoutMs,
    // Bodies may take hours; stalled and unread ones have clocks of their own.
    requestTimeout: 0,
    keepAliveTimeout: options.idleTimeoutMs,
    connectionsCheckingInterval: checkEveryMs,
    noDelay: true,
    // Node would answer by itself, in no shape of ours, and once more when the body is broken as well.
    requireHostHeader: false,
  };
  const { tls, headerTimeoutMs } = options;
  if (tls === undefined) return createServer(http);
  return createTlsServer({ ...http, ...tlsOptions(tls, headerTimeoutMs), ALPNProtocols: ['http/1.1'] });
}

async function closeServer(server: Server | HttpsServer, dispatcher: Dispatcher, graceMs: number): Promise<void> {
  // http.Server's own close() destroys answers that are ended but not yet flushed; that of net.Server only stops listening.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  await dispatcher.drain();
  server.closeIdleConnections();
  const idleSweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearInterval(idleSweep);
  clearTimeout(deadline);
}
