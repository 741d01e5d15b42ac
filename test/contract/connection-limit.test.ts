import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { preface, settings } from '../faults/grpc/http2-frames.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { startTlsFramehold, type TlsFramehold } from '../support/tls-framehold.ts';

const limits = { 'server.max_connections': '20', 'http.max_connections': '20' };
const mostOfOne = 20;
const attacker = '127.0.0.1';
const otherAttacker = '127.0.0.3';
const victim = '127.0.0.2';

let plain: Framehold;
let tls: TlsFramehold;

beforeAll(async () => {
  plain = await startFramehold({ settings: limits });
  tls = await startTlsFramehold(() => limits);
});

afterAll(async () => {
  await plain[Symbol.asyncDispose]();
  await tls[Symbol.asyncDispose]();
});

const httpPort = ({ url }: Framehold): number => Number(new URL(url).port);
const ca = (): string => tls.files.authority.cert;
const unfinishedHead = 'GET /ping HTTP/1.1\r\nHost: localhost\r\nX-Slow: ';
const greeting = Buffer.concat([preface, settings()]);
const openPlain = (port: number, localAddress: string): Socket => connect({ port, host: '127.0.0.1', localAddress });
const openTls = (port: number, localAddress: string): Socket =>
  connectTls({ port, host: '127.0.0.1', localAddress, ca: ca(), ALPNProtocols: ['h2', 'http/1.1'] } as object);

async function answersHttp(url: string, localAddress: string, tls?: { ca: string }): Promise<boolean> {
  const answer = ask(`${url}/ping`, { localAddress, ...(tls && { tls }) });
  return answer.then(
    ({ status }) => status === 204 || status === 200,
    () => false,
  );
}

/** Whether the call is heard at all. */
async function answersGrpc(socket: Socket): Promise<boolean> {
  const session = connectHttp2('http://localhost', { createConnection: () => socket });
  session.on('error', () => {});
  const path = '/grpc.health.v1.Health/Check';
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
  stream.on('error', () => {});
  stream.end(Buffer.alloc(5));
  const isAnswered = await new Promise<boolean>((resolve) => {
    stream.once('response', () => resolve(true)).once('close', () => resolve(false));
  });
  session.destroy();
  return isAnswered;
}

describe.each([
  {
    listener: 'HTTP',
    open: (address: string) => openPlain(httpPort(plain), address),
    bytes: unfinishedHead,
    isServed: (address: string) => answersHttp(plain.url, address),
  },
  {
    listener: 'HTTP with TLS',
    open: (address: string) => openTls(httpPort(tls), address),
    bytes: unfinishedHead,
    isServed: (address: string) => answersHttp(tls.url, address, { ca: ca() }),
  },
  {
    listener: 'HTTP with TLS, before the handshake,',
    open: (address: string) => openPlain(httpPort(tls), address),
    bytes: '',
    isServed: (address: string) => answersHttp(tls.url, address, { ca: ca() }),
  },
  {
    listener: 'gRPC',
    open: (address: string) => openPlain(plain.grpcAddress.port, address),
    bytes: greeting,
    isServed: (address: string) => answersGrpc(openPlain(plain.grpcAddress.port, address)),
  },
  {
    listener: 'gRPC with TLS',
    open: (address: string) => openTls(tls.grpcAddress.port, address),
    bytes: greeting,
    isServed: (address: string) => answersGrpc(openTls(tls.grpcAddress.port, address)),
  },
])('of the $listener listener', ({ open, bytes, isServed }) => {
  it('two addresses take as many connections as they may, not those of others, and get them back', async () => {
    const flood = (address: string) =>
      Array.from({ length: 60 }, () => {
        const socket = open(address);
        socket.on('error', () => {}).resume();
        socket.write(bytes);
        return socket;
      });
    const sockets = flood(attacker);
    await expect.poll(() => sockets.filter(({ closed }) => !closed).length, { timeout: 5000 }).toBe(mostOfOne);
    const others = flood(otherAttacker);
    await expect.poll(() => others.filter(({ closed }) => !closed).length, { timeout: 5000 }).toBe(1);
    expect(await isServed(victim)).toBe(true);
    expect(await isServed(attacker)).toBe(false);
    for (const socket of [...sockets, ...others]) socket.destroy();
    await expect.poll(() => isServed(attacker), { timeout: 5000 }).toBe(true);
  });
});

it('the log tells which address had too many', () => {
  const lines = plain.log().split('\n');
  expect(lines.some((line) => line.includes('connections refused') && line.includes(attacker))).toBe(true);
});
