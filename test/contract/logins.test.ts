import { connect } from 'node:net';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateToken } from '../../src/auth/token.ts';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { FlightClient } from '../support/flight-client.ts';
import { ask, sendRaw } from '../support/http-client.ts';

let closed: ClosedServer;

beforeAll(async () => {
  closed = await startClosedServer();
  await closed.as(closed.token('writer'), 'POST', '/imp?name=trades', 'price\n1\n2\n');
});

afterAll(() => closed[Symbol.asyncDispose]());

describe('a doubled Authorization', () => {
  test.each([
    ['the good one first', true],
    ['the good one second', false],
  ])('is 401 over HTTP, %s', async (_, isFirst) => {
    const good = `Authorization: Bearer ${closed.token('reader')}`;
    const wrong = 'authorization: Bearer nothing';
    const both = isFirst ? [good, wrong] : [wrong, good];
    const lines = ['GET /handles HTTP/1.1', 'Host: localhost', 'Connection: close', ...both];
    const answer = await sendRaw(closed.server.url, `${lines.join('\r\n')}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toContain('Authorization is given more than once');
  });

  test('is refused over gRPC', async () => {
    const good = `Bearer ${closed.token('reader')}`;
    const path = '/arrow.flight.protocol.FlightService/ListFlights';
    const socket = connect(closed.server.grpcAddress.port, '127.0.0.1');
    // Clients refuse to send it.
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(http2Frame(4, 0, 0, Buffer.alloc(0)));
    const fields: [string, string][] = [
      [':method', 'POST'],
      [':scheme', 'http'],
      [':authority', 'x'],
      [':path', path],
      ['content-type', 'application/grpc'],
      ['x-request-id', 'doubled'],
      ['authorization', good],
      ['authorization', good],
    ];
    socket.write(http2Frame(1, 4, 1, Buffer.concat(fields.map(([name, value]) => literalField(name, value)))));
    socket.write(http2Frame(0, 1, 1, Buffer.alloc(5)));
    const failure = () =>
      closed.server
        .log()
        .split('\n')
        .find((line) => line.includes('"doubled"'));
    await expect.poll(failure).toContain('unauthenticated');
    expect(failure()).toContain('Authorization is given more than once');
    socket.destroy();
  });
});

function http2Frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** HPACK: a literal that is not indexed, of names and values below 127 bytes. */
function literalField(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)]);
}

describe('failed logins', () => {
  let limited: ClosedServer;
  let flight: FlightClient;
  /** Another address than all others of this file. */
  let addresses = 0;
  const nextAddress = (): string => `127.0.9.${++addresses}`;

  beforeAll(async () => {
    limited = await startClosedServer({ settings: { 'auth.max_failed_logins': '10' } });
    flight = new FlightClient(limited.server.grpcAddress.port);
  });

  afterAll(async () => {
    flight[Symbol.dispose]();
    await limited[Symbol.asyncDispose]();
  });

  const from = (localAddress: string, token: string | undefined) =>
    ask(`${limited.server.url}/handles`, {
      localAddress,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });

  test('are 429 with Retry-After from the eleventh of an address on, and a good credential is taken all the same', async () => {
    const address = nextAddress();
    for (let n = 0; n < 10; n++) expect((await from(address, generateToken())).status).toBe(401);
    const refused = await from(address, generateToken());
    expect([refused.status, refused.json().code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await from(address, limited.token('reader'))).status).toBe(200);
    expect((await from(nextAddress(), generateToken())).status).toBe(401);
  });

  test('are not counted where no credential was sent', async () => {
    const address = nextAddress();
    for (let n = 0; n < 15; n++) expect((await from(address, undefined)).status).toBe(401);
  });

  test('over gRPC are UNAVAILABLE then', async () => {
    const wrong = { authorization: `Bearer ${generateToken()}` };
    const codes: number[] = [];
    for (let n = 0; n < 30; n++) codes.push((await flight.list('', wrong)).status.code);
    expect(codes.at(-1)).toBe(status.UNAVAILABLE);
    const last = await flight.list('', wrong);
    expect([last.code, last.status.metadata.get('framehold-retry-after').length]).toEqual(['rate_limited', 1]);
    expect((await flight.list('', limited.headers('reader'))).status.code).toBe(status.OK);
  });
});

describe('Cache-Control', () => {
  const page = '/exec?handle=trades&fmt=json';

  test.each([
    ['a page', 'GET', page],
    ['a list', 'GET', '/handles'],
    ['an error', 'GET', '/handles/nothing'],
    ['an export', 'GET', '/exp?handle=trades'],
    ['an export as Parquet', 'GET', '/exp?handle=trades&fmt=parquet'],
    ['ping', 'GET', '/ping'],
    ['OPTIONS', 'OPTIONS', '/exec'],
    ['the OpenAPI document', 'GET', '/openapi.json'],
  ])('of %s is private, no-cache', async (_, method, path) => {
    const answer = await closed.as(closed.token('reader'), method, path);
    expect(answer.headers['cache-control']).toBe('private, no-cache');
  });

  test('of a page lets its ETag be asked for again', async () => {
    const headers = closed.headers('reader');
    const first = await ask(`${closed.server.url}${page}`, { headers });
    const again = await ask(`${closed.server.url}${page}`, {
      headers: { ...headers, 'if-none-match': String(first.headers.etag) },
    });
    expect([again.status, again.headers['cache-control']]).toEqual([304, 'private, no-cache']);
  });

  test('of an answer with a secret forbids to store it', async () => {
    const made = await closed.as(closed.token('admin'), 'POST', '/tokens', '{"name":"x","role":"read"}');
    expect(made.headers['cache-control']).toBe('private, no-cache, no-store');
  });
});
