import type { buildConnector, Dispatcher } from 'undici';
import { guardSocket } from './guarded-socket.ts';

export interface UpstreamPoolsOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly connectTimeoutMs: number;
  readonly maxConnections: number;
  readonly bodyIdleTimeoutMs: number;
}

export interface UpstreamPools extends AsyncDisposable {
  /** Connections that serve one request after another. */
  readonly kept: Dispatcher;
  /** Connections that serve one request each. */
  readonly singleUse: Dispatcher;
}

/** Loading undici blocks for some 150 ms, so it waits until whoever starts us has had its turn. */
export async function openUpstreamPools(options: UpstreamPoolsOptions): Promise<UpstreamPools> {
  await new Promise((resolve) => setImmediate(resolve));
  const undici = await import('undici');
  const connect = undici.buildConnector({ timeout: options.connectTimeoutMs });
  const common = {
    connections: options.maxConnections,
    connect: guarded(connect),
    // Exchange has a timer of its own that also covers connecting; undici's are half a second coarse.
    headersTimeout: 0,
    bodyTimeout: options.bodyIdleTimeoutMs,
  };
  // QuestDB closes idle connections after 5 s and says so; leaving well before it spares requests a race with its close.
  const keptOpen = { keepAliveTimeout: 2000, keepAliveMaxTimeout: 2000, keepAliveTimeoutThreshold: 1000 };
  const kept = new undici.Pool(options.origin, { ...common, ...keptOpen, pipelining: 1 });
  const singleUse = new undici.Pool(options.origin, { ...common, pipelining: 0 });
  return {
    kept,
    singleUse,
    async [Symbol.asyncDispose]() {
      await Promise.all([kept.destroy(), singleUse.destroy()]);
    },
  };
}

function guarded(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...outcome) => {
      if (outcome[0] === null) guardSocket(outcome[1]);
      callback(...outcome);
    });
}
