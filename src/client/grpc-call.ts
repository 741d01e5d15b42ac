import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { GrpcError, grpcStatus } from '../protobuf/grpc-status.ts';
import { messagePrefix, readMessages } from '../protobuf/message-frames.ts';
import { ClientError, refusal } from './client-error.ts';

const statusNames = new Map<number, string>(Object.entries(grpcStatus).map(([name, number]) => [number, name]));
/** What a server sends is as long as it says. */
const limits = { maxMessageBytes: 2 ** 32, encoding: undefined };

/** A message in pieces, to be sent behind each other. */
export type Pieces = readonly Uint8Array[];

export interface CallOptions {
  /** Of the gRPC method: `/service/Method`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For errors. */
  readonly address: string;
  readonly signal: AbortSignal;
}

/** One call: what it sends, and what comes back. Rejects with a ClientError where the server refuses or goes away. */
export async function* grpcCall(
  session: ClientHttp2Session,
  requests: AsyncIterable<Pieces> | Iterable<Pieces>,
  options: CallOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path, headers, signal } = options;
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  const call = new CallState(stream, options);
  const abort = (): void => stream.close(constants.NGHTTP2_CANCEL);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  const sending = call.send(requests);
  // Looked at below; it may fail long before.
  sending.catch(() => {});
  try {
    yield* call.receive();
    // Thrown first: a source that fails has cancelled the call.
    if (call.sourceFailed) await sending;
    call.assertOk();
  } catch (error) {
    signal.throwIfAborted();
    if (call.sourceFailed) await sending;
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    abort();
  }
}

class CallState {
  readonly #stream: ClientHttp2Stream;
  readonly #options: CallOptions;
  #status: IncomingHttpHeaders | undefined;
  #isSent = false;
  sourceFailed = false;

  constructor(stream: ClientHttp2Stream, options: CallOptions) {
    this.#stream = stream;
    this.#options = options;
    // An error without any message has its status in the headers.
    stream.on('response', (headers) => this.#take(headers));
    stream.on('trailers', (trailers) => this.#take(trailers));
    // Told by `receive`, or nobody listens any more.
    stream.on('error', () => {});
  }

  #take(headers: IncomingHttpHeaders): void {
    if (headers['grpc-status'] !== undefined) this.#status = headers;
  }

  async send(requests: AsyncIterable<Pieces> | Iterable<Pieces>): Promise<void> {
    try {
      for await (const pieces of requests) {
        if (this.#isOver()) return;
        await this.#write(pieces);
      }
      this.#stream.end();
      this.#isSent = true;
    } catch (error) {
      this.sourceFailed = true;
      this.#stream.close(constants.NGHTTP2_CANCEL);
      throw error;
    }
  }

  async *receive(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* readMessages(this.#stream as AsyncIterable<Buffer>, limits);
    } catch (error) {
      if (error instanceof GrpcError || this.#status === undefined) throw this.#broken();
    }
  }

  assertOk(): void {
    const status = this.#status;
    if (status === undefined) throw this.#broken();
    const code = Number(status['grpc-status']);
    if (code === grpcStatus.OK) return;
    const given = (name: string): string | undefined => {
      const value = status[name];
      return typeof value === 'string' ? percentDecode(value) : undefined;
    };
    const hint = given('framehold-hint');
    const message = given('grpc-message') ?? `the server answered ${statusNames.get(code) ?? code}`;
    throw refusal(hint === undefined ? message : message.replace(` (${hint})`, ''), {
      code: given('framehold-code'),
      hint,
      retryAfter: given('framehold-retry-after'),
    });
  }

  #isOver(): boolean {
    return this.#stream.destroyed || this.#stream.closed || this.#stream.readableEnded || this.#status !== undefined;
  }

  async #write(pieces: Pieces): Promise<void> {
    let bytes = 0;
    for (const piece of pieces) bytes += piece.length;
    this.#stream.cork();
    let more = this.#stream.write(messagePrefix(bytes));
    for (const piece of pieces) more = this.#stream.write(piece);
    this.#stream.uncork();
    if (!more) await this.#drained();
  }

  #drained(): Promise<void> {
    const stream = this.#stream;
    return new Promise((resolve) => {
      const settle = (): void => {
        stream.off('drain', settle).off('close', settle).off('trailers', settle).off('response', settle);
        resolve();
      };
      if (this.#isOver()) settle();
      else stream.on('drain', settle).on('close', settle).on('trailers', settle).on('response', settle);
    });
  }

  #broken(): ClientError {
    const { address } = this.#options;
    return this.#isSent
      ? new ClientError('unanswered', `the connection to ${address} broke before its answer came`)
      : new ClientError('broken', `the connection to ${address} broke in mid-transfer`);
  }
}

function percentDecode(text: string): string {
  const bytes = text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}
