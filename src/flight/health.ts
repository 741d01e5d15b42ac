import { AppError } from '../core/app-error.ts';
import { GrpcError } from '../protobuf/grpc-status.ts';
import { bytesField, readFields, utf8Field, varintField } from '../protobuf/protobuf.ts';
import type { Service } from './method.ts';

const servingStatus = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;

/** How a service fares; "" is the server as a whole. */
export type Health = 'SERVING' | 'NOT_SERVING';

export interface HealthService extends Service {
  set(service: string, health: Health): void;
  drain(): void;
}

/** `grpc.health.v1.Health`. When the listener stops, all services become NOT_SERVING, and those who watch are told and let go. */
export function createHealthService(services: readonly string[]): HealthService {
  const healths = new Map<string, Health>(services.map((service) => [service, 'SERVING']));
  const watchers = new Set<() => void>();
  let draining = false;

  const notify = (): void => {
    for (const wake of watchers) wake();
  };
  const nextChange = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        watchers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      watchers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });

  async function* watch(service: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let told: Health | 'SERVICE_UNKNOWN' | undefined;
    while (!signal.aborted) {
      const health = healths.get(service) ?? 'SERVICE_UNKNOWN';
      if (health !== told) {
        told = health;
        yield checkResponse(health);
        continue;
      }
      if (draining) throw new GrpcError('UNAVAILABLE', 'the server is stopping');
      await nextChange(signal);
    }
  }

  return {
    name: 'grpc.health.v1.Health',
    methods: {
      Check: {
        kind: 'unary',
        handle: (request) => {
          const service = requestedService(request);
          const health = healths.get(service);
          if (health === undefined) throw new AppError('not_found', `unknown service ${JSON.stringify(service)}`);
          return checkResponse(health);
        },
      },
      Watch: {
        kind: 'streaming',
        async *handle(requests, { signal }) {
          for await (const request of requests) return yield* watch(requestedService(request), signal);
        },
      },
      List: {
        kind: 'unary',
        handle: () =>
          [...healths].map(([service, health]) =>
            bytesField(1, Buffer.concat([bytesField(1, service), bytesField(2, checkResponse(health))])),
          ),
      },
    },
    set: (service, health) => {
      if (draining) return;
      healths.set(service, health);
      notify();
    },
    drain: () => {
      draining = true;
      for (const service of healths.keys()) healths.set(service, 'NOT_SERVING');
      notify();
    },
  };
}

function requestedService(request: Uint8Array): string {
  let service = '';
  for (const { number, value } of readFields(request)) if (number === 1) service = utf8Field(value);
  return service;
}

function checkResponse(health: keyof typeof servingStatus): Uint8Array {
  return varintField(1, servingStatus[health]);
}
