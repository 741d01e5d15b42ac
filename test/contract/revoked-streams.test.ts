import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { FlightClient, gather } from '../support/flight-client.ts';

let closed: ClosedServer;
let flight: FlightClient;

beforeAll(async () => {
  closed = await startClosedServer();
  flight = new FlightClient(closed.server.grpcAddress.port);
});

afterAll(async () => {
  flight[Symbol.dispose]();
  await closed[Symbol.asyncDispose]();
});

/** Never ends by itself. */
const endless = JSON.stringify({ sql: 'select count(*) from range(100000000000)' });
const withinMs = 5000;

async function knownToken(more: { readonly expiresAt?: number } = {}) {
  const made = await closed.makeToken('read', more);
  await closed.untilKnown(made.token);
  return made;
}

test('a statement whose token is revoked ends with 401 within 5 s', async () => {
  const { token, record } = await knownToken();
  const answer = closed.as(token, 'POST', '/sql', endless);
  const listed = async () => (await closed.as(token, 'GET', '/queries')).text;
  await expect.poll(listed).toContain('100000000000');
  await closed.records.revokeToken(record.id);
  const revokedAt = performance.now();
  const { status: code, json } = await answer;
  expect(performance.now() - revokedAt).toBeLessThan(withinMs);
  expect(code).toBe(401);
  expect(json()).toMatchObject({
    code: 'unauthenticated',
    error: 'the credential ended while the request was under way: the token is unknown or revoked',
  });
  const left = async () => (await closed.as(closed.token('admin'), 'GET', '/queries')).text;
  await expect.poll(left).not.toContain('100000000000');
});

test('a statement whose token expires ends with 401', async () => {
  const { token } = await knownToken({ expiresAt: Date.now() + 3000 });
  const answer = await closed.as(token, 'POST', '/sql', endless);
  expect([answer.status, answer.json().error]).toEqual([401, expect.stringContaining('expired')]);
});

test('a body that is being read is cut off when its token is revoked, and others go on', async () => {
  const query = encodeURIComponent('select * from range(1000000000)');
  const read = async (token: string): Promise<IncomingMessage> => {
    const headers = { authorization: `Bearer ${token}` };
    const outgoing = request(`${closed.server.url}/exec?fmt=json&engine=local&query=${query}`, {
      headers,
      agent: false,
    });
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return incoming;
  };
  const { token, record } = await knownToken();
  const revoked = await read(token);
  const other = await read(closed.token('reader') ?? '');
  expect([revoked.statusCode, other.statusCode]).toEqual([200, 200]);
  await closed.records.revokeToken(record.id);
  const revokedAt = performance.now();
  const failed = once(revoked, 'error');
  revoked.resume();
  await failed;
  expect(performance.now() - revokedAt).toBeLessThan(withinMs);
  expect([revoked.complete, other.destroyed]).toEqual([false, false]);
  other.destroy();
});

test('a stream over Flight ends as UNAUTHENTICATED when its token is revoked', async () => {
  const { token, record } = await knownToken();
  const ticket = JSON.stringify({ sql: 'select count(*) from range(100000000000)' });
  const ended = gather(flight.openGet(ticket, { authorization: `Bearer ${token}` }));
  await closed.records.revokeToken(record.id);
  const revokedAt = performance.now();
  const answer = await ended;
  expect(performance.now() - revokedAt).toBeLessThan(withinMs);
  expect([answer.status.code, answer.code]).toEqual([status.UNAUTHENTICATED, 'unauthenticated']);
});
