import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect as connectRaw, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FlightClient } from '../support/flight-client.ts';
import { ask, sendRaw } from '../support/http-client.ts';
import { startTlsFramehold, type TlsFramehold } from '../support/tls-framehold.ts';

const headerTimeoutMs = 600;

let server: TlsFramehold;
let ca: string;

beforeAll(async () => {
  server = await startTlsFramehold(() => ({
    'http.header_timeout': `${headerTimeoutMs}ms`,
    'http.stall_timeout': '400ms',
    'server.max_connections': '1000',
  }));
  ca = server.files.authority.cert;
  const answer = await get('/imp?name=trades', { method: 'POST', body: 'price,symbol\n1,A\n2,B\n' });
  expect(answer.status).toBe(200);
});

afterAll(() => server[Symbol.asyncDispose]());

function get(path: string, options: { method?: string; body?: string } = {}) {
  const headers = { authorization: `Bearer ${server.tokens.write}` };
  return ask(`${server.url}${path}`, { ...options, headers, tls: { ca } });
}

const httpPort = (): number => Number(new URL(server.url).port);

async function connectTls(port: number, options: object = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca, ...options });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

/** How long it stays open. */
async function openMs(socket: Socket): Promise<number> {
  const startedMs = performance.now();
  socket.on('error', () => {});
  if (!socket.destroyed) await once(socket.resume(), 'close');
  return performance.now() - startedMs;
}

describe('with TLS', () => {
  it('HTTP and gRPC answer to clients that trust the authority', async () => {
    expect((await get('/exec?handle=trades&fmt=json')).json().count).toBe(2);
    using flight = new FlightClient(server.grpcAddress.port, {}, credentials.createSsl(Buffer.from(ca)));
    const { status, messages } = await flight.list('', { authorization: `Bearer ${server.tokens.read}` });
    expect([status.code, messages.length]).toEqual([0, 1]);
  });

  it('a client that does not know the authority refuses the server', async () => {
    await expect(ask(`${server.url}/ping`)).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  });

  it('info says that the gRPC listener speaks TLS', async () => {
    expect((await get('/info')).json().grpc).toMatchObject({ tls: true });
  });

  it('each listener offers its own protocol by ALPN and refuses a client that has only another', async () => {
    const http = await connectTls(httpPort(), { ALPNProtocols: ['h2', 'http/1.1'] });
    const grpc = await connectTls(server.grpcAddress.port, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect([http.alpnProtocol, grpc.alpnProtocol]).toEqual(['http/1.1', 'h2']);
    http.destroy();
    grpc.destroy();
    await expect(connectTls(httpPort(), { ALPNProtocols: ['h2'] })).rejects.toThrow(/application protocol/);
    await expect(connectTls(server.grpcAddress.port, { ALPNProtocols: ['http/1.1'] })).rejects.toThrow(/application/);
  });

  it('a request that is not well-formed is answered as without TLS', async () => {
    const socket = await connectTls(httpPort());
    socket.setEncoding('utf8');
    let text = '';
    socket.on('data', (piece: string) => {
      text += piece;
    });
    socket.write('NOT HTTP AT ALL\r\n\r\n');
    await once(socket, 'close');
    expect(text).toContain('HTTP/1.1 400 Bad Request');
    expect(text).toContain('this is not a well-formed HTTP request');
  });

  it('the oldest version may be set', async () => {
    await using strict = await startTlsFramehold(() => ({ 'tls.min_version': '1.3' }));
    const trust = { ca: strict.files.authority.cert };
    expect((await ask(`${strict.url}/ping`, { tls: trust })).status).toBe(200);
    await expect(ask(`${strict.url}/ping`, { tls: { ...trust, maxVersion: 'TLSv1.2' } })).rejects.toThrow(/version/);
  });
});

describe('a client without TLS', () => {
  it('is told over HTTP that the port speaks TLS', async () => {
    const text = await sendRaw(server.url, 'GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(text).toContain('HTTP/1.1 400 Bad Request');
    expect(text).toContain('"hint":"use https"');
    expect(text).toContain('this port speaks TLS');
  });

  it.each(['GET / HTTP/1.1\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\0'.repeat(100)])(
    'is closed, and others are served: %j',
    async (bytes) => {
      for (const port of [httpPort(), server.grpcAddress.port]) {
        const socket = connectRaw(port, '127.0.0.1', () => socket.write(bytes));
        expect(await openMs(socket)).toBeLessThan(5000);
      }
      expect((await get('/ping')).status).toBe(200);
    },
  );
});

describe('a slow client', () => {
  it('that never begins the handshake is cut', async () => {
    const socket = connectRaw(httpPort(), '127.0.0.1');
    const ms = await openMs(socket);
    expect(ms).toBeGreaterThan(headerTimeoutMs * 0.8);
    expect(ms).toBeLessThan(headerTimeoutMs + 3000);
  });

  it('that begins the handshake and stops there is cut', async () => {
    // The first bytes of a ClientHello.
    const socket = connectRaw(httpPort(), '127.0.0.1', () => socket.write(Buffer.from('160301020001000', 'hex')));
    expect(await openMs(socket)).toBeLessThan(headerTimeoutMs + 3000);
  });

  it('that sends nothing behind the handshake is cut', async () => {
    expect(await openMs(await connectTls(httpPort()))).toBeLessThan(headerTimeoutMs + 3000);
  });

  it('that sends half of its headers is cut', async () => {
    const socket = await connectTls(httpPort());
    socket.write('GET /ping HTTP/1.1\r\nHos');
    expect(await openMs(socket)).toBeLessThan(headerTimeoutMs + 4000);
  });
});

describe('a stop', () => {
  it('lets a request finish and does not wait for a client in its handshake', async () => {
    // A stop that waits for either would outlast the test.
    const own = await startTlsFramehold(() => ({ 'server.shutdown_grace': '200s', 'http.header_timeout': '200s' }));
    const sockets = [Number(new URL(own.url).port), own.grpcAddress.port].map((port) => connectRaw(port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => {});
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const upload = request(`${own.url}/imp?name=late`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own.tokens.write}`, expect: '100-continue' },
      ca: own.files.authority.cert,
      agent: false,
    });
    upload.flushHeaders();
    await once(upload, 'continue');
    const stopped = own[Symbol.asyncDispose]();
    upload.end('price\n1\n');
    const [answer] = (await once(upload, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(200);
    await stopped;
  });
});
