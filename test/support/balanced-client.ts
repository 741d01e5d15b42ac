import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from './http-client.ts';
import type { SpawnedFramehold } from './spawned-framehold.ts';

export interface BalancedAnswer {
  readonly status: number;
  readonly text: string;
}

/** A server as the balancer knows it, from its start to its end. */
interface Backend {
  readonly server: SpawnedFramehold;
  readonly agent: Agent;
  isReady: boolean;
}

/** How often the balancer asks whether requests should be sent to a server. */
const probeMs = 100;
/** A server that does not answer in this time is not ready. */
const probeTimeoutMs = 400;
/** A request that was put off for so long has failed. */
const patienceMs = 30_000;

/**
 * Sends requests as a load balancer with careful clients does: over connections that are kept, to servers whose `/readyz` says yes,
 * and once more where HTTP allows to repeat any request: the connection was refused, or the answer is 503 with `Retry-After`.
 */
export class BalancedClient implements Disposable {
  readonly #backends = new Set<Backend>();
  #turn = 0;

  /** Takes a server in, until it has ended. */
  add(server: SpawnedFramehold): void {
    const backend: Backend = { server, agent: new Agent({ keepAlive: true }), isReady: false };
    this.#backends.add(backend);
    void this.#probe(backend);
  }

  /** A ready server. Waits for it. */
  async pick(): Promise<SpawnedFramehold> {
    return (await this.#pick()).server;
  }

  /** Resolves when the server is ready. */
  async untilReady(server: SpawnedFramehold): Promise<void> {
    while (![...this.#backends].some((backend) => backend.server === server && backend.isReady)) await delay(5);
  }

  /** Rejects where a request was lost, or its answer broke off. */
  async send(
    method: string,
    path: string,
    { body, headers = {} }: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<BalancedAnswer> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const backend = await this.#pick();
      const answer = await sendOnce(backend, method, path, body, headers);
      if (answer === 'refused') {
        backend.isReady = false;
      } else if (answer.status === 503 && answer.headers['retry-after'] !== undefined) {
        await delay(Number(answer.headers['retry-after']) * 1000);
      } else {
        return { status: answer.status, text: answer.text };
      }
      if (performance.now() > deadline) throw new Error(`${method} ${path} was put off for ${patienceMs} ms`);
    }
  }

  [Symbol.dispose](): void {
    for (const { agent } of this.#backends) agent.destroy();
    this.#backends.clear();
  }

  async #pick(): Promise<Backend> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const ready = [...this.#backends].filter(({ isReady }) => isReady);
      const backend = ready[this.#turn++ % ready.length];
      if (backend !== undefined) return backend;
      if (performance.now() > deadline) throw new Error('no server is ready');
      await delay(5);
    }
  }

  async #probe(backend: Backend): Promise<void> {
    const { server, agent } = backend;
    while (this.#backends.has(backend) && !server.hasExited()) {
      const answer = await ask(`${server.url}/readyz`, { signal: AbortSignal.timeout(probeTimeoutMs) }).catch(
        () => undefined,
      );
      backend.isReady = answer?.status === 200;
      await delay(probeMs);
    }
    backend.isReady = false;
    this.#backends.delete(backend);
    agent.destroy();
  }
}

type SentAnswer = BalancedAnswer & Pick<IncomingMessage, 'headers'>;

function sendOnce(
  { server, agent }: Backend,
  method: string,
  path: string,
  body: string | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<SentAnswer | 'refused'> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${path}`, { method, agent, headers }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      incoming.on('error', fail);
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }));
    });
    const fail = (error: NodeJS.ErrnoException): void => {
      // Before anything was sent.
      if (error.code === 'ECONNREFUSED' && error.syscall === 'connect') resolve('refused');
      else reject(new Error(`${method} ${path} failed: ${error.message}`, { cause: error }));
    };
    outgoing.on('error', fail);
    outgoing.end(body);
  });
}
