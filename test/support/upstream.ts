import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { httpHead, type RequestHead } from './upstream-head.ts';

/** One request that reached the upstream, and the socket for any answer of a test. */
export interface Conversation {
  readonly request: RequestHead;
  /** Counts connections from 1; two requests with the same number shared one. */
  readonly connection: number;
  /** Bytes as given, sent before it resolves. */
  write(bytes: string | Uint8Array): Promise<void>;
  /** Sends FIN. */
  end(): void;
  /** Sends RST. */
  reset(): void;
  /** Resolves when the other side is gone. */
  readonly closed: Promise<void>;
}

export type Script = (conversation: Conversation) => unknown;

export interface Upstream extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Every request in order of arrival. */
  readonly requests: readonly RequestHead[];
  readonly connections: number;
  /** The next request that was not taken with next() yet. */
  next(): Promise<Conversation>;
  /** Replaces the handling of requests from now on. */
  script(script: Script): void;
  /** Resolves when no connection is open. */
  idle(): Promise<void>;
}

/** Takes requests and says nothing. */
export const silence: Script = () => {};

/** Starts a TCP server that reads HTTP request heads and answers exactly the bytes that the script writes. */
export async function startUpstream(script: Script = silence, { port = 0 } = {}): Promise<Upstream> {
  const sockets = new Map<Socket, Promise<void>>();
  const requests: RequestHead[] = [];
  const untaken: Conversation[] = [];
  const takers: ((conversation: Conversation) => void)[] = [];
  let current = script;
  let connections = 0;

  const server = createServer((socket) => {
    const connection = ++connections;
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        sockets.delete(socket);
        resolve();
      });
    });
    sockets.set(socket, closed);
    socket.on('error', () => {});
    let pending = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      pending += text;
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const conversation: Conversation = {
          request: httpHead(pending.slice(0, end)),
          connection,
          write: (bytes) =>
            new Promise((resolve, reject) => socket.write(bytes, (error) => (error ? reject(error) : resolve()))),
          end: () => socket.end(),
          reset: () => socket.resetAndDestroy(),
          closed,
        };
        pending = pending.slice(end + 4);
        requests.push(conversation.request);
        const taker = takers.shift();
        if (taker === undefined) untaken.push(conversation);
        else taker(conversation);
        // A test that cuts the connection makes the script's own writes fail, as it should.
        Promise.resolve(current(conversation)).catch(() => {});
      }
    });
  });

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    get connections() {
      return connections;
    },
    next: async () => untaken.shift() ?? new Promise((resolve) => takers.push(resolve)),
    script: (next) => {
      current = next;
    },
    async idle() {
      await Promise.all(sockets.values());
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.keys()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
