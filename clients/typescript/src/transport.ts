import { broken } from './errors.ts';

export type RequestBody = string | Uint8Array | Blob | FormData | AsyncIterable<Uint8Array>;

export interface HttpRequest {
  readonly method: string;
  /** Below the address of the server, with its query string, without a slash before it. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestBody | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of bytes of the body sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** HTTP to one server. Rejects with a ConnectionError where no answer came, and with the reason of the signal. */
export interface Transport {
  /** For people: without credentials. */
  readonly address: string;
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

/** An answer whose headers have come. Its body is read once, in one of these ways. */
export class HttpAnswer implements AsyncIterable<Uint8Array> {
  readonly status: number;
  readonly headers: Headers;
  readonly #body: AsyncIterable<Uint8Array>;

  constructor(status: number, headers: Headers, body: AsyncIterable<Uint8Array>) {
    this.status = status;
    this.headers = headers;
    this.#body = body;
  }

  /** Where the server said it beforehand. */
  get totalBytes(): number | undefined {
    const length = this.headers.get('content-length');
    return length === null || this.headers.has('content-encoding') ? undefined : Number(length);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#body[Symbol.asyncIterator]();
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of this) {
      pieces.push(piece);
      length += piece.length;
    }
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.bytes()], { type: this.headers.get('content-type') ?? '' });
  }

  stream(): ReadableStream<Uint8Array> {
    const pieces = this[Symbol.asyncIterator]();
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void pieces.return?.(),
    });
  }

  /** Drops the unread rest. */
  async cancel(): Promise<void> {
    await this[Symbol.asyncIterator]().return?.();
  }
}

const blobPieceBytes = 256 * 1024;

/** Its own stream may give all at once. */
export async function* blobPieces(blob: Blob): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < blob.size; at += blobPieceBytes) {
    yield new Uint8Array(await blob.slice(at, at + blobPieceBytes).arrayBuffer());
  }
}

/** The same pieces. `onBytes` gets the number of received bytes. */
export async function* countedPieces(
  pieces: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const piece of pieces) {
    yield piece;
    bytes += piece.length;
    onBytes(bytes);
  }
}

export async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/** The pieces of a web stream. Not every browser can iterate over one. */
export async function* piecesOf(
  stream: ReadableStream<Uint8Array>,
  { address, signal }: { readonly address?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    isOver = true;
  } catch (error) {
    isOver = true;
    signal?.throwIfAborted();
    throw address === undefined ? error : broken(address, { cause: error });
  } finally {
    if (!isOver) await reader.cancel().catch(() => {});
  }
}
