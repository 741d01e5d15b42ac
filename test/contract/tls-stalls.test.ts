import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectRaw } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identify } from '../../src/auth/identify.ts';
import { FairShares } from '../../src/core/async/fair-shares.ts';
import { silentLogger } from '../../src/core/logs/logger.ts';
import type { Route } from '../../src/http/exchange/route.ts';
import { type HttpListener, startHttpListener } from '../../src/http/listener/listener.ts';
import { ServerTls } from '../../src/tls/server-tls.ts';
import { startTestListener } from '../support/grpc-listener.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { makeTlsFiles, type TlsFiles } from '../support/tls-framehold.ts';

const stallTimeoutMs = 1000;
const bodyBytes = 32 * 1024 * 1024;

/** One piece, as a page of the cache is sent. */
const large: Route = {
  path: '/large',
  methods: ['GET'],
  operations: { GET: { access: 'open', summary: '', parameters: {}, responses: {}, errors: [] } },
  handle(exchange) {
    exchange.headers.push('content-length', String(bodyBytes));
    exchange.send(200, Buffer.alloc(bodyBytes));
  },
};

let folder: TemporaryDirectory;
let files: TlsFiles;
let tls: ServerTls;
let listener: HttpListener;

beforeAll(async () => {
  folder = await temporaryDirectory();
  files = await makeTlsFiles(folder.path);
  const { certFile, keyFile } = files;
  tls = await ServerTls.open(
    { certFile, keyFile, clientAuth: 'off', clientCaFile: undefined, crlFile: undefined, minVersion: '1.2' },
    silentLogger,
  );
  listener = await startHttpListener({
    memory: new FairShares({ units: 1e9, what: 'bytes' }),
    host: '127.0.0.1',
    port: 0,
    routes: [large],
    identify,
    isClosed: false,
    audit: undefined,
    tls,
    cors: undefined,
    hosts: undefined,
    requests: new FairShares({ units: 100, what: 'places' }),
    maxConnections: 100,
    maxBodyBytes: 1000,
    headerTimeoutMs: 5000,
    stallTimeoutMs,
    idleTimeoutMs: 5000,
    logger: silentLogger,
  });
});

afterAll(async () => {
  await listener.close(0);
  tls[Symbol.dispose]();
  await folder[Symbol.asyncDispose]();
});

async function requestLarge() {
  const socket = connect({ port: listener.address.port, host: '127.0.0.1', ca: files.authority.cert });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.pause();
  socket.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return socket;
}

describe('a reader of an answer over TLS', () => {
  it.each([
    ['takes nothing', ''],
    ['takes nothing and sends empty lines', '\r\n'],
  ])('that %s is cut', async (_, line) => {
    const socket = await requestLarge();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const drip = setInterval(() => socket.write(line), 50);
    await sleep(2.5 * stallTimeoutMs);
    clearInterval(drip);
    // What the kernel has already; then the end.
    let bytes = 0;
    socket.on('data', (piece: Buffer) => {
      bytes += piece.length;
    });
    socket.resume();
    await closed;
    expect(bytes).toBeLessThan(bodyBytes);
  });

  it('that is slow is not', async () => {
    const startedMs = performance.now();
    const socket = await requestLarge();
    let bytes = 0;
    while (bytes < bodyBytes && !socket.destroyed) {
      const piece: Buffer | null = socket.read();
      bytes += piece?.length ?? 0;
      await sleep(2);
    }
    expect(bytes).toBeGreaterThanOrEqual(bodyBytes);
    expect(performance.now() - startedMs).toBeGreaterThan(2 * stallTimeoutMs);
    socket.destroy();
  });
});

describe('over gRPC', () => {
  it('a client that does not finish the TLS handshake is cut', async () => {
    await using grpc = await startTestListener({ tls, timeouts: { handshakeTimeoutMs: 300 } });
    const socket = connectRaw(grpc.port, '127.0.0.1');
    socket.on('error', () => {});
    const startedMs = performance.now();
    await once(socket.resume(), 'close');
    expect(performance.now() - startedMs).toBeLessThan(3000);
  });

  it('a client that finishes it and says nothing of HTTP/2 is cut', async () => {
    await using grpc = await startTestListener({ tls, timeouts: { handshakeTimeoutMs: 300 } });
    const options = { port: grpc.port, host: '127.0.0.1', ca: files.authority.cert, ALPNProtocols: ['h2'] };
    const socket = connect(options);
    socket.on('error', () => {});
    const startedMs = performance.now();
    await once(socket.resume(), 'close');
    expect(performance.now() - startedMs).toBeLessThan(3000);
  });

  it('a client that takes nothing is cut', async () => {
    await using grpc = await startTestListener({ tls, timeouts: { stallTimeoutMs: 300 } });
    const session = connectHttp2(`https://127.0.0.1:${grpc.port}`, { ca: files.authority.cert });
    session.on('error', () => {});
    const stream = session.request({
      ':method': 'POST',
      ':path': '/test.Test/Flood',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => {});
    stream.end();
    stream.pause();
    await once(stream, 'close');
    expect(stream.rstCode).not.toBe(0);
    session.destroy();
  });
});
