import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { httpHead, type RequestHead } from '../../support/upstream-head.ts';

/** A request that reached the upstream. Its SQL carries a number, by which it is known on both sides. */
export interface MarkedRequest {
  readonly marker: number;
  readonly head: RequestHead;
  readonly socket: Socket;
  /** Bytes as given; resolves when the kernel has them, or the connection is gone. */
  send(bytes: string | Uint8Array): Promise<void>;
}

export interface MarkedUpstream extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** How often each statement came. */
  readonly arrivals: ReadonlyMap<number, number>;
  readonly open: number;
  /** Connections that its clients hold now. To ask takes milliseconds. */
  held(): number;
  readonly connections: number;
}

export function markedSql(marker: number): string {
  return `select ${marker} as marker`;
}

/** The answer that an upstream in good order gives. */
export function markedAnswer(marker: number): string {
  const body = JSON.stringify({ marker });
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** A TCP server that reads heads of HTTP requests and says on the socket whatever `onRequest` says. */
export async function startMarkedUpstream(onRequest: (request: MarkedRequest) => unknown): Promise<MarkedUpstream> {
  const sockets = new Set<Socket>();
  const arrivals = new Map<number, number>();
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    connections++;
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let pending = '';
    socket.on('data', (bytes: Buffer) => {
      pending += bytes.toString('latin1');
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const head = httpHead(pending.slice(0, end));
        pending = pending.slice(end + 4);
        const marker = Number(/select (\d+) as marker/.exec(head.parameters.get('query') ?? '')?.[1]);
        arrivals.set(marker, (arrivals.get(marker) ?? 0) + 1);
        void onRequest({ marker, head, socket, send: (bytes) => send(socket, bytes) });
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    arrivals,
    get open() {
      return sockets.size;
    },
    held: () => connectionsTo(port),
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    const gone = (): void => resolve();
    socket.once('close', gone);
    socket.write(bytes, () => {
      socket.off('close', gone);
      resolve();
    });
  });
}

/** As the kernel has it of those who connect; what they have closed may still be open here. Established is state 1. */
function connectionsTo(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n');
  return lines.filter((line) => {
    const [, , to, state] = line.trim().split(/\s+/);
    return to?.endsWith(remote) && state === '01';
  }).length;
}
