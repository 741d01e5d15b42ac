import { bytesField, varintField } from '@framehold/grpc';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { useFlightServer } from '../support/flight-server.ts';
import { GrpcClient } from '../support/grpc-client.ts';

const { client } = await useFlightServer(GrpcClient);

const methods = ['ListFlights', 'GetFlightInfo', 'GetSchema', 'DoGet', 'DoAction', 'ListActions', 'DoPut', 'Handshake'];
const pathOf = (method: string): string => `/arrow.flight.protocol.FlightService/${method}`;
const unforeseen: readonly number[] = [status.INTERNAL, status.UNKNOWN, status.DEADLINE_EXCEEDED, status.UNAVAILABLE];

/** Messages that are almost right: real ones with a few bytes changed, and noise. */
const actions = ['RenewFlightEndpoint', 'CancelFlightInfo', 'SetSessionOptions', 'framehold.drop', 'framehold.renew'];
const seeds = [
  bytesField(1, 'trades'),
  bytesField(1, '{"handle":"trades","columns":["a"],"from":1,"to":2}'),
  Buffer.concat([varintField(1, 1), bytesField(3, 'frames'), bytesField(3, 'trades')]),
  Buffer.concat([varintField(1, 2), bytesField(2, '{"handle":"trades"}')]),
  ...actions.map((type) =>
    Buffer.concat([bytesField(1, type), bytesField(2, bytesField(1, bytesField(1, bytesField(1, 'trades'))))]),
  ),
];
const mutated = fc
  .tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }))
  .map(([seed, changes]) => {
    const bytes = Buffer.from(seed);
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    return bytes;
  });
const message = fc.oneof(
  mutated,
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
);

it('whatever the bytes, a call ends with a status that was foreseen', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...methods),
      fc.array(message, { minLength: 1, maxLength: 3 }),
      async (method, all) => {
        const isUpload = method === 'DoPut' || method === 'Handshake';
        const { code } = await client.stream(pathOf(method), isUpload ? all : all.slice(0, 1), { deadlineMs: 10_000 });
        expect(unforeseen).not.toContain(code);
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);

it('a message of a million items is refused at once', async () => {
  const path = Buffer.alloc(2_000_000);
  for (let at = 0; at < path.length; at += 2) path[at] = 0x1a;
  const answer = await client.unary(pathOf('GetFlightInfo'), path, { deadlineMs: 10_000 });
  expect(answer.code).toBe(status.RESOURCE_EXHAUSTED);
});

it.each(methods.filter((method) => method !== 'DoPut'))('%s refuses a message over the limit', async (method) => {
  const answer = await client.stream(pathOf(method), [Buffer.alloc(4 * 1024 * 1024 + 1)], { deadlineMs: 10_000 });
  expect(answer.code).toBe(status.RESOURCE_EXHAUSTED);
});
