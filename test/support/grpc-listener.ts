import { setTimeout as sleep } from 'node:timers/promises';
import { createHealthService, type Service } from '@framehold/grpc';
import { identify } from '../../src/auth/identify.ts';
import { AppError } from '../../src/core/errors/app-error.ts';
import { silentLogger } from '../../src/core/logs/logger.ts';
import { type GrpcListener, type GrpcListenerOptions, startGrpcListener } from '../../src/grpc/listener.ts';

export interface TestListener extends GrpcListener {
  readonly port: number;
  /** Why the calls of `Hang` and `Flood` were aborted. */
  readonly aborted: string[];
  /** Bytes that the calls of `Flood` have caused to be sent. */
  floodedBytes(): number;
}

/** The listener on a free port, with the health service and one whose methods misbehave on demand. */
export async function startTestListener({
  isReady = () => true,
  ...options
}: Partial<GrpcListenerOptions> & { readonly isReady?: () => boolean } = {}): Promise<TestListener> {
  const health = createHealthService(
    new Map(['', 'arrow.flight.protocol.FlightService'].map((service) => [service, isReady])),
  );
  const aborted: string[] = [];
  let floodedBytes = 0;
  const onAbort = (signal: AbortSignal): void =>
    signal.addEventListener('abort', () => aborted.push(signal.reason.status));
  const service: Service = {
    name: 'test.Test',
    methods: {
      Echo: { kind: 'unary', handle: (request) => request },
      EchoAll: {
        kind: 'streaming',
        async *handle(requests) {
          for await (const request of requests) yield [request.subarray(0, 1), request.subarray(1)];
        },
      },
      None: { kind: 'streaming', async *handle() {} },
      Missing: {
        kind: 'unary',
        handle: () => {
          throw new AppError('handle_not_found', 'no frame "é"', { hint: 'put it first' });
        },
      },
      Broken: {
        kind: 'streaming',
        async *handle() {
          yield Buffer.from('one');
          throw new Error('/secret/path');
        },
      },
      Refuse: {
        kind: 'streaming',
        // biome-ignore lint/correctness/useYield: it fails before its first message
        async *handle() {
          throw new AppError('storage_full', 'no space left');
        },
      },
      RefuseSecond: {
        kind: 'streaming',
        idleTimeoutMs: 300_000,
        // biome-ignore lint/correctness/useYield: it fails before its first message
        async *handle(requests) {
          await requests[Symbol.asyncIterator]().next();
          throw new AppError('handle_exists', 'there is one already');
        },
      },
      Slow: {
        kind: 'unary',
        handle: async (request) => {
          await sleep(300);
          return request;
        },
      },
      Hang: {
        kind: 'unary',
        handle: (_, { signal }) => {
          onAbort(signal);
          return new Promise(() => {});
        },
      },
      Flood: {
        kind: 'streaming',
        async *handle(_, { signal }) {
          onAbort(signal);
          for (;;) {
            const piece = Buffer.alloc(256 * 1024);
            floodedBytes += piece.length;
            yield piece;
          }
        },
      },
    },
  };
  const listener = await startGrpcListener({
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    services: [health, service],
    identify,
    logger: silentLogger,
    ...options,
  });
  return { ...listener, port: listener.address.port, aborted, floodedBytes: () => floodedBytes };
}
