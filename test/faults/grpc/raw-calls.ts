import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { messagePrefix } from '@framehold/grpc';

export interface RawAnswer {
  /** Of HTTP; 0 where none came. */
  readonly httpStatus: number;
  /** Of gRPC; undefined where the stream was reset before its trailers. */
  readonly status: number | undefined;
  readonly message: string;
  readonly code: string | undefined;
  readonly body: Buffer;
}

/** Calls whose bodies are given byte by byte, over one connection that is opened again where the server has closed it. */
export class RawCalls implements Disposable {
  readonly #port: number;
  /** Opened so far. */
  connections = 0;
  #session: ClientHttp2Session | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Rejects where no answer comes in time. */
  send(path: string, body: Uint8Array, headers: IncomingHttpHeaders = {}, timeoutMs = 60_000): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const stream = this.#open().request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      });
      const pieces: Buffer[] = [];
      let httpStatus = 0;
      let trailers: IncomingHttpHeaders = {};
      const late = setTimeout(() => {
        reject(new Error(`${path} has no answer after ${timeoutMs} ms`));
        stream.destroy();
      }, timeoutMs);
      stream.on('response', (given) => {
        httpStatus = Number(given[':status']);
        if (given['grpc-status'] !== undefined) trailers = given;
      });
      stream.on('trailers', (given) => {
        trailers = given;
      });
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('error', () => {});
      stream.on('close', () => {
        clearTimeout(late);
        const status = trailers['grpc-status'] === undefined ? undefined : Number(trailers['grpc-status']);
        const code = trailers['framehold-code']?.toString();
        resolve({ httpStatus, status, message: messageOf(trailers), code, body: Buffer.concat(pieces) });
      });
      stream.end(body);
    });
  }

  #open(): ClientHttp2Session {
    const known = this.#session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    this.connections++;
    const session = connect(`http://127.0.0.1:${this.#port}`, { settings: { initialWindowSize: 1 << 22 } });
    session.on('error', () => {});
    session.on('goaway', () => {
      if (this.#session === session) this.#session = undefined;
    });
    this.#session = session;
    return session;
  }

  [Symbol.dispose](): void {
    this.#session?.destroy();
  }
}

/** Messages as gRPC frames them. */
export function framed(...messages: readonly Uint8Array[]): Buffer {
  return Buffer.concat(messages.flatMap((message) => [messagePrefix(message.length), message]));
}

/** What is in the frames of an answer. */
export function messagesIn(body: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at + 5 <= body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    messages.push(body.subarray(at + 5, end));
    at = end;
  }
  return messages;
}

function messageOf(trailers: IncomingHttpHeaders): string {
  try {
    return decodeURIComponent(trailers['grpc-message']?.toString() ?? '');
  } catch {
    return `not percent-encoded: ${trailers['grpc-message']?.toString()}`;
  }
}
