import { promisify } from 'node:util';
import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { GrpcClient, gather, healthClient } from '../support/grpc-client.ts';
import { startTestListener } from '../support/grpc-listener.ts';

const healthPath = '/grpc.health.v1.Health';

it('is told to a stock client, for the server and for a service', async () => {
  await using listener = await startTestListener();
  const client = healthClient(listener.port);
  const check = promisify(client.Check?.bind(client) as Stub);
  const list = promisify(client.List?.bind(client) as Stub);
  expect(await check({})).toEqual({ status: 'SERVING' });
  expect(await check({ service: 'arrow.flight.protocol.FlightService' })).toEqual({ status: 'SERVING' });
  await expect(check({ service: 'nobody' })).rejects.toMatchObject({ code: status.NOT_FOUND });
  expect(await list({})).toEqual({
    statuses: { '': { status: 'SERVING' }, 'arrow.flight.protocol.FlightService': { status: 'SERVING' } },
  });
  client.close();
});

it.each([
  ['the server', '', [1, 2]],
  ['a service that is not there', 'f', [3]],
])('of %s is watched: now, and once more if it changes when the server stops', async (_, service, healths) => {
  await using listener = await startTestListener();
  using client = new GrpcClient(listener.port);
  const messages = healths.map((health) => Buffer.from([8, health]));
  const call = client.open(`${healthPath}/Watch`, Buffer.from([10, service.length, ...Buffer.from(service)]));
  const seen: Buffer[] = [];
  call.on('data', (message: Buffer) => seen.push(message));
  const answer = gather(call);
  await expect.poll(() => seen).toEqual(messages.slice(0, 1));
  await listener.close({ graceMs: 5000 });
  expect(await answer).toMatchObject({ code: status.UNAVAILABLE });
  expect(seen).toEqual(messages);
});

it('of hundreds that watch at once is told to each', async () => {
  await using listener = await startTestListener();
  using client = new GrpcClient(listener.port);
  const calls = Array.from({ length: 300 }, () => client.open(`${healthPath}/Watch`, Buffer.alloc(0)));
  const answers = calls.map((call) => {
    call.once('data', () => call.cancel());
    return gather(call);
  });
  const codes = (await Promise.all(answers)).map(({ code }) => code);
  expect(codes.filter((code) => code !== status.CANCELLED)).toEqual([]);
});

it('of a client that watches no more is forgotten', async () => {
  await using listener = await startTestListener();
  using client = new GrpcClient(listener.port);
  const call = client.open(`${healthPath}/Watch`, Buffer.alloc(0));
  const answer = gather(call);
  call.once('data', () => call.cancel());
  expect(await answer).toMatchObject({ code: status.CANCELLED });
  await listener.close({ graceMs: 5000 });
});

it.each([
  ['a cut field', [10, 5, 0x66]],
  ['text that is not UTF-8', [10, 1, 0xff]],
  ['a number for text', [8, 1]],
  ['an endless varint', Array.from({ length: 12 }, () => 0xff)],
])('refuses a request with %s', async (_, request) => {
  await using listener = await startTestListener();
  using client = new GrpcClient(listener.port);
  const answer = await client.unary(`${healthPath}/Check`, Buffer.from(request));
  expect(answer).toMatchObject({ code: status.INVALID_ARGUMENT });
});

type Stub = (request: object, done: (error: Error | null, response?: object) => void) => void;
