import { CodedError } from '@framehold/columns';
import { message, string } from '../protobuf/proto-message.ts';
import { bytesField, varintField } from '../protobuf/protobuf.ts';
import { GrpcError } from '../wire/grpc-status.ts';
import type { Service } from './method.ts';

const servingStatus = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;

type Health = keyof typeof servingStatus;

/** The name of a service. */
const maxMessageBytes = 64 * 1024;
/** Most time to wait for the request. */
const idleTimeoutMs = 10_000;

const CheckRequest = message({ service: string(1) });

/** Longest delay before watchers learn of a change. */
const lookMs = 1000;

/**
 * `grpc.health.v1.Health`; the service "" is the server as a whole. Each is SERVING while its function returns true, until the
 * listener stops: then watchers get the last state, and their calls end.
 */
export function createHealthService(services: ReadonlyMap<string, () => boolean>): Service {
  const watchers = new Set<() => void>();
  let draining = false;

  const healthOf = (service: string): Health => {
    const isReady = services.get(service);
    if (isReady === undefined) return 'SERVICE_UNKNOWN';
    return draining || !isReady() ? 'NOT_SERVING' : 'SERVING';
  };
  /** Resolves when it is time to look again. */
  const nextLook = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (draining || signal.aborted) return resolve();
      const timer = setTimeout(() => wake(), lookMs).unref();
      const wake = (): void => {
        clearTimeout(timer);
        watchers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      watchers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });

  async function* watch(service: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (let sent: Health | undefined; ; ) {
      const health = healthOf(service);
      if (health !== sent) yield checkResponse(health);
      sent = health;
      if (draining) break;
      await nextLook(signal);
      if (signal.aborted) return;
    }
    throw new GrpcError('UNAVAILABLE', 'the server is stopping');
  }

  const wakeAll = (): void => {
    for (const wake of watchers) wake();
  };

  return {
    name: 'grpc.health.v1.Health',
    isOpen: true,
    methods: {
      Check: {
        kind: 'unary',
        maxMessageBytes,
        handle: (request) => {
          const { service } = CheckRequest.decode(request);
          if (!services.has(service)) throw new CodedError('not_found', `unknown service ${JSON.stringify(service)}`);
          return checkResponse(healthOf(service));
        },
      },
      Watch: {
        kind: 'streaming',
        maxMessageBytes,
        idleTimeoutMs,
        async *handle(requests, { signal, waits }) {
          waits();
          for await (const request of requests) return yield* watch(CheckRequest.decode(request).service, signal);
        },
      },
      List: {
        kind: 'unary',
        maxMessageBytes,
        handle: () =>
          [...services.keys()].map((service) =>
            bytesField(1, Buffer.concat([bytesField(1, service), bytesField(2, checkResponse(healthOf(service)))])),
          ),
      },
    },
    announceStop: wakeAll,
    drain: () => {
      draining = true;
      wakeAll();
    },
  };
}

function checkResponse(health: Health): Uint8Array {
  return varintField(1, servingStatus[health]);
}
