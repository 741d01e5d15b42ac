import type { buildConnector, Client, Dispatcher } from 'undici';
import { guardSocket } from './guarded-socket.ts';

export interface UpstreamConnectionsOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly connectTimeoutMs: number;
  readonly maxConnections: number;
  readonly bodyIdleTimeoutMs: number;
}

/** A connection for one request; it is made where there is none, and again where it was lost. */
export interface UpstreamConnection {
  readonly dispatcher: Dispatcher;
  /** Lets others have it. */
  giveBack(): void;
}

/** At most `maxConnections`; never more callers than that use it at once. */
export class UpstreamConnections implements AsyncDisposable {
  readonly #maxConnections: number;
  readonly #open: (options: Client.Options) => Client;
  /** Unused connections, the one used last at the end. */
  readonly #idle: Client[] = [];
  readonly #used = new Set<Client>();

  private constructor(maxConnections: number, open: (options: Client.Options) => Client) {
    this.#maxConnections = maxConnections;
    this.#open = open;
  }

  /** Loading undici blocks for some 150 ms, so it waits until the starting code has had its turn. */
  static async load(options: UpstreamConnectionsOptions): Promise<UpstreamConnections> {
    await new Promise((resolve) => setImmediate(resolve));
    const undici = await import('undici');
    const common = {
      connect: guarded(undici.buildConnector({ timeout: options.connectTimeoutMs })),
      // UpstreamExchange has a timer of its own that also covers connecting; undici's are half a second coarse.
      headersTimeout: 0,
      bodyTimeout: options.bodyIdleTimeoutMs,
      // QuestDB closes idle connections after 5 s and says so; leaving well before it spares requests a race with its close.
      keepAliveTimeout: 2000,
      keepAliveMaxTimeout: 2000,
      keepAliveTimeoutThreshold: 1000,
    };
    const open = (own: Client.Options): Client => new undici.Client(options.origin, { ...common, ...own });
    return new UpstreamConnections(options.maxConnections, open);
  }

  /** A connection that serves request after request, or this request only. */
  take(use: 'kept' | 'once'): UpstreamConnection {
    const client = (use === 'kept' && this.#idle.pop()) || this.#another(use);
    this.#used.add(client);
    return {
      dispatcher: client,
      giveBack: () => {
        if (!this.#used.delete(client)) return;
        if (use === 'kept') this.#idle.push(client);
        else end(client);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#idle, ...this.#used].map((client) => client.destroy()));
  }

  #another(use: 'kept' | 'once'): Client {
    const [unused] = this.#idle;
    if (unused !== undefined && this.#idle.length + this.#used.size >= this.#maxConnections) {
      this.#idle.shift();
      end(unused);
    }
    return this.#open({ pipelining: use === 'kept' ? 1 : 0 });
  }
}

function end(client: Client): void {
  client.destroy().catch(() => {});
}

function guarded(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...outcome) => {
      if (outcome[0] === null) guardSocket(outcome[1]);
      callback(...outcome);
    });
}
