import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly ms: number;
}

export interface ConnectionRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** One HTTP connection that stays open, as a pool of clients holds it. Requests on it wait for each other. */
export class Connection implements Disposable {
  readonly #url: string;
  readonly #agent: Agent;
  readonly #localAddress: string | undefined;

  /** `localAddress`: any of 127.0.0.0/8, so that the server takes it for another client. */
  constructor(url: string, localAddress?: string) {
    this.#url = url;
    this.#localAddress = localAddress;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1 });
  }

  ask(target: string, { body, ...options }: ConnectionRequest = {}): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const from = this.#localAddress === undefined ? {} : { localAddress: this.#localAddress };
      const outgoing = request(this.#url + target, { agent: this.#agent, ...from, ...options }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (piece: string) => {
          text += piece;
        });
        incoming.on('error', reject);
        incoming.on('end', () => {
          const { statusCode: status = 0, headers } = incoming;
          resolve({ status, headers, text, ms: performance.now() - startedAt });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  sql(statement: string, options: Omit<ConnectionRequest, 'method' | 'body'> = {}): Promise<Reply> {
    return this.ask('/sql', { ...options, method: 'POST', body: JSON.stringify({ sql: statement }) });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
