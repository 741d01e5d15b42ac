import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { CodedError } from '@framehold/columns';
import { GrpcError, grpcStatus } from '../wire/grpc-status.ts';
import { MessageReader, messagePrefix } from '../wire/message-frames.ts';
import { streamChunks } from '../wire/stream-chunks.ts';

/** The limit of a length in four bytes: messages of a server have no other. */
const longestMessage = 2 ** 32;

/** A message in pieces, to be sent behind each other. */
export type Pieces = readonly Uint8Array[];

export interface GrpcCallOptions {
  /** Path of the gRPC method: `/service/Method`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
  /** A longer message is refused with `too_large`. Default: none is. */
  readonly maxMessageBytes?: number | undefined;
}

/**
 * The failure of a call: the server refused it; the connection broke in mid-transfer; or all was sent and no answer came, so that
 * the outcome is unknown.
 */
export type GrpcOutcome = 'refused' | 'broken' | 'unanswered';

export class GrpcCallError extends Error {
  override readonly name = 'GrpcCallError';
  readonly outcome: GrpcOutcome;
  /** The headers or trailers with the status of a refusal; for another outcome the received headers. */
  readonly #headers: IncomingHttpHeaders;

  constructor(outcome: GrpcOutcome, headers: IncomingHttpHeaders) {
    super(`the call was ${outcome}`);
    this.outcome = outcome;
    this.#headers = headers;
  }

  /** The number of the gRPC status; undefined without one. */
  get status(): number | undefined {
    const status = this.#headers['grpc-status'];
    return status === undefined ? undefined : Number(status);
  }

  /** Status of the HTTP answer, which a proxy may have given. */
  get httpStatus(): number | undefined {
    const status = this.#headers[':status'];
    return status === undefined ? undefined : Number(status);
  }

  /** A header as text, percent-decoded. */
  text(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === 'string' ? percentDecode(value) : undefined;
  }

  /** A header of bytes, whose name ends in `-bin`. */
  bytes(name: string): Uint8Array | undefined {
    const value = this.#headers[name];
    return typeof value === 'string' ? Buffer.from(value, 'base64') : undefined;
  }
}

/** One call: its requests, and the answers. Rejects with a GrpcCallError if the server refuses or goes away. */
export async function* grpcCall(
  session: ClientHttp2Session,
  requests: AsyncIterable<Pieces> | Iterable<Pieces>,
  options: GrpcCallOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path, headers, signal } = options;
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  const call = new CallState(stream, options.maxMessageBytes ?? longestMessage);
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
  readonly #maxMessageBytes: number;
  #status: IncomingHttpHeaders | undefined;
  #headers: IncomingHttpHeaders = {};
  #isSent = false;
  sourceFailed = false;

  constructor(stream: ClientHttp2Stream, maxMessageBytes: number) {
    this.#stream = stream;
    this.#maxMessageBytes = maxMessageBytes;
    stream.on('response', (headers) => {
      this.#headers = headers;
      // An error without any message has its status in the headers.
      this.#take(headers);
    });
    stream.on('trailers', (trailers) => this.#take(trailers));
    // `receive` throws the error, or there is no reader any more.
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
    const limits = { maxMessageBytes: this.#maxMessageBytes, encoding: undefined };
    try {
      yield* new MessageReader(streamChunks(this.#stream), limits);
    } catch (error) {
      if (error instanceof CodedError) throw error;
      if (error instanceof GrpcError || this.#status === undefined) throw this.#broken();
    }
  }

  assertOk(): void {
    const status = this.#status;
    if (status === undefined) throw this.#broken();
    if (Number(status['grpc-status']) !== grpcStatus.OK) throw new GrpcCallError('refused', status);
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

  #broken(): GrpcCallError {
    return new GrpcCallError(this.#isSent ? 'unanswered' : 'broken', this.#headers);
  }
}

function percentDecode(text: string): string {
  const bytes = text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}
