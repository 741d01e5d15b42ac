import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { expect, it } from 'vitest';
import { GrpcCallError, grpcCall, type Pieces } from '../client/grpc-call.ts';
import type { Share } from '../wire/capacity.ts';
import { GrpcError, grpcStatus } from '../wire/grpc-status.ts';
import { anybody, type CallHooks, type EndedCall } from './hooks.ts';
import { type Listener, startListener } from './listener.ts';
import type { Service } from './method.ts';

const greeter: Service<string> = {
  name: 'test.Greeter',
  methods: {
    Greet: {
      kind: 'unary',
      handle: (request, { principal }) => Buffer.concat([Buffer.from(`${principal} `), request]),
    },
    Echo: {
      kind: 'streaming',
      async *handle(requests) {
        for await (const request of requests) yield [request.subarray(0, 1), request.subarray(1)];
      },
    },
  },
};

async function* calling(
  listener: Listener,
  method: string,
  requests: readonly Pieces[],
  headers: Readonly<Record<string, string>> = {},
): AsyncGenerator<string> {
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${listener.address.port}`);
  try {
    const path = `/test.Greeter/${method}`;
    const answers = grpcCall(session, requests, { path, headers, signal: AbortSignal.timeout(10_000) });
    for await (const answer of answers) yield Buffer.from(answer).toString();
  } finally {
    session.close();
    await once(session, 'close');
  }
}

async function answersOf(...call: Parameters<typeof calling>): Promise<string[]> {
  const all: string[] = [];
  for await (const answer of calling(...call)) all.push(answer);
  return all;
}

const text = (message: string): Pieces => [Buffer.from(message)];

it('serves anybody where its user says so', async () => {
  await using listener = await startListener({ host: '127.0.0.1', port: 0, services: [greeter], connect: anybody });
  expect(await answersOf(listener, 'Echo', [text('one'), text('two')])).toEqual(['one', 'two']);
});

it('asks its user who calls, when there is a place, and says how a call has ended', async () => {
  const log: unknown[] = [];
  const place: Share = {
    tryTake: (units) => log.push(`place ${units}`) > 0,
    take: () => Promise.reject(new Error('never')),
    give: () => {},
    progress: () => {},
    settle: () => log.push('settled'),
    [Symbol.dispose]: () => log.push('given back'),
  };
  const outcomes: EndedCall[] = [];
  await using listener = await startListener({
    host: '127.0.0.1',
    port: 0,
    services: [greeter],
    connect: () => ({
      laneOf: () => 'unknown',
      begin: ({ path, metadata }): CallHooks<string> => ({
        requestId: 'r1',
        lane: 'ann',
        authenticate: () => {
          log.push(path);
          if (metadata.authorization === undefined) throw new GrpcError('UNAUTHENTICATED', 'who is it?');
          return metadata.authorization;
        },
        openPlace: () => place,
        acknowledge: () => void log.push('acknowledged'),
        sending: (message) => log.push(Buffer.from(message as Uint8Array).toString()),
        ended: (outcome) => outcomes.push(outcome),
      }),
    }),
  });
  const refused = answersOf(listener, 'Greet', [text('hello')]);
  await expect(refused).rejects.toThrow(GrpcCallError);
  const error = (await refused.catch((thrown) => thrown)) as GrpcCallError;
  expect(error.status).toBe(grpcStatus.UNAUTHENTICATED);
  expect(error.text('grpc-message')).toBe('who is it?');
  expect(error.text('x-request-id')).toBe('r1');
  await expect.poll(() => outcomes.map(({ status }) => status)).toEqual(['UNAUTHENTICATED']);
  log.length = 0;
  expect(await answersOf(listener, 'Greet', [text('hello')], { authorization: 'ann' })).toEqual(['ann hello']);
  await expect.poll(() => outcomes.at(-1)?.status).toBe('OK');
  await expect
    .poll(() => log)
    .toEqual(['/test.Greeter/Greet', 'settled', 'place 1', 'acknowledged', 'ann hello', 'given back']);
});
