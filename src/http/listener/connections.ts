import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Logger } from '../../core/logs/logger.ts';
import { hasBody } from './unread-body.ts';

export interface ConnectionTimeouts {
  /** For the first byte of a connection. */
  readonly headerTimeoutMs: number;
  /** For a client that reads nothing of its answer. */
  readonly stallTimeoutMs: number;
}

export interface ConnectionOptions extends ConnectionTimeouts {
  /** True: a connection counts only after its TLS handshake. */
  readonly isTls: boolean;
}

/** The state of a client when it last took something. */
interface Progress {
  readonly takenBytes: number;
  /** Bytes of the current piece. */
  readonly queuedBytes: number;
  readonly atMs: number;
}

const looksPerStall = 4;

/** Open connections with the unfinished answers of each: more than one if the client pipelines. */
export class Connections {
  readonly #answers = new WeakMap<Socket, Set<ServerResponse>>();
  readonly #lastRequests = new WeakMap<Socket, IncomingMessage>();
  readonly #progress = new Map<Socket, Progress>();

  constructor(server: Server | HttpsServer, options: ConnectionOptions, logger: Logger) {
    const { headerTimeoutMs, stallTimeoutMs, isTls } = options;
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => this.#watch(socket, headerTimeoutMs));
    // Node looks at the progress of the write queue here, so a slow reader is not taken for a stalled one. Under TLS it looks at
    // a queue that moves only when all of a write was taken.
    server.setTimeout(stallTimeoutMs, (socket: Socket) => {
      if (this.isAnswering(socket)) {
        if (isTls || socket.writableLength === 0) return;
        logger.debug('the client left', { reason: `it took nothing for ${stallTimeoutMs} ms` });
      }
      socket.destroy();
    });
    const timer = setInterval(() => this.#cutStalled(stallTimeoutMs, logger), stallTimeoutMs / looksPerStall);
    server.once('close', () => clearInterval(timer));
  }

  /** Received bytes restart Node's clock: a client that sends an empty line now and then would never be cut off by that. */
  #cutStalled(stallTimeoutMs: number, logger: Logger): void {
    for (const [socket, before] of this.#progress) {
      const now = progressOf(socket);
      const isMoving = now.takenBytes !== before.takenBytes || now.queuedBytes !== before.queuedBytes;
      if (isMoving || socket.writableLength === 0) {
        this.#progress.set(socket, now);
      } else if (now.atMs - before.atMs >= stallTimeoutMs) {
        logger.debug('the client left', { reason: `it took nothing for ${stallTimeoutMs} ms` });
        socket.destroy();
      }
    }
  }

  has(socket: Socket): boolean {
    return this.#answers.has(socket);
  }

  isAnswering(socket: Socket): boolean {
    return (this.#answers.get(socket)?.size ?? 0) > 0;
  }

  /** Whether the connection may end with this answer: no other waits behind it, and no body that would be cut. */
  mayEndWith(request: IncomingMessage): boolean {
    return (this.#answers.get(request.socket)?.size ?? 0) <= 1 && (request.complete || !hasBody(request));
  }

  /** The next bytes begin a request. In the rest of an answered request they would be answered twice. */
  isBetweenRequests(socket: Socket): boolean {
    return !this.isAnswering(socket) && this.#lastRequests.get(socket)?.complete !== false;
  }

  /** From now until its `close` the answer is unfinished. Returns how many of the connection are. */
  add(request: IncomingMessage, response: ServerResponse): number {
    const { socket } = request;
    this.#lastRequests.set(socket, request);
    const answers = this.#answers.get(socket);
    answers?.add(response);
    response.once('close', () => answers?.delete(response));
    return answers?.size ?? 0;
  }

  #watch(socket: Socket, headerTimeoutMs: number): void {
    const answers = new Set<ServerResponse>();
    this.#answers.set(socket, answers);
    this.#progress.set(socket, progressOf(socket));
    // Node times the headers from a request's first byte, so a socket that never sends one needs a clock of its own.
    const timer = setTimeout(() => {
      if (socket.bytesRead === 0) socket.destroy();
    }, headerTimeoutMs);
    timer.unref();
    socket.once('close', () => {
      clearTimeout(timer);
      this.#progress.delete(socket);
      // Node notifies only the answer being sent; those queued behind it would wait for ever.
      setImmediate(() => {
        for (const response of answers) response.emit('close');
      });
    });
  }
}

interface StreamHandle {
  readonly writeQueueSize?: number;
  /** For a TLS stream: the stream below it. */
  readonly _parent?: StreamHandle;
}

function progressOf(socket: Socket): Progress {
  const handle = (socket as { _handle?: StreamHandle | null })._handle;
  return {
    takenBytes: socket.bytesWritten - socket.writableLength,
    // Node's own time-out reads it, too; otherwise a long piece would count only when all of it was taken.
    queuedBytes: (handle?._parent ?? handle)?.writeQueueSize ?? 0,
    atMs: performance.now(),
  };
}
