import { ConnectionError, unanswered } from './errors.ts';
import {
  blobPieces,
  countedPieces,
  HttpAnswer,
  type HttpRequest,
  onePiece,
  piecesOf,
  type RequestBody,
  type Transport,
} from './transport.ts';

/** Over `fetch`, which browsers and all other places for JavaScript have. */
export class FetchTransport implements Transport {
  readonly address: string;
  readonly #base: string;

  constructor(base: string) {
    const url = new URL(base);
    // Browsers refuse an address that has them.
    url.username = '';
    url.password = '';
    this.address = url.href.replace(/\/$/, '');
    this.#base = `${this.address}/`;
  }

  async send(request: HttpRequest): Promise<HttpAnswer> {
    let failure: { readonly error: unknown } | undefined;
    const onError = (error: unknown): void => {
      failure = { error };
    };
    try {
      return await this.#send({ ...request, body: watched(request.body, onError) });
    } catch (error) {
      // fetch reports no reason of its own.
      throw failure === undefined ? error : failure.error;
    }
  }

  async #send(request: HttpRequest): Promise<HttpAnswer> {
    const { body, onSent } = request;
    const Upload = uploader();
    if (body === undefined || onSent === undefined) return this.#fetch(request, await sendable(body));
    if (Upload !== undefined) return this.#upload(new Upload(), request, await sendable(body));
    return this.#fetch(request, await sendable(counted(body, onSent)));
  }

  close(): void {}

  async #fetch({ method, target, headers, signal }: HttpRequest, body: Sendable | undefined): Promise<HttpAnswer> {
    const init = {
      method,
      headers,
      // A cache may keep an answer, but must ask.
      cache: 'no-cache',
      ...(body !== undefined && { body }),
      ...(body instanceof ReadableStream && ({ duplex: 'half' } as const)),
      ...(signal !== undefined && { signal }),
    } as const;
    let response: Response;
    try {
      response = await fetch(this.#base + target, init);
    } catch (error) {
      signal?.throwIfAborted();
      throw notAnswered(this.address, error);
    }
    const pieces = response.body === null ? nothing() : piecesOf(response.body, { address: this.address, signal });
    return new HttpAnswer(response.status, response.headers, pieces);
  }

  /** fetch reports no progress. */
  #upload(
    upload: Upload,
    { method, target, headers, signal, onSent }: HttpRequest,
    body: Sendable,
  ): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = (): void => upload.abort();
      upload.open(method, this.#base + target);
      for (const [name, value] of Object.entries(headers)) upload.setRequestHeader(name, value);
      upload.responseType = 'arraybuffer';
      upload.upload.onprogress = ({ loaded }) => onSent?.(loaded);
      upload.upload.onload = ({ loaded }) => onSent?.(loaded);
      upload.onloadend = () => signal?.removeEventListener('abort', abort);
      upload.onabort = () => reject(signal?.reason);
      upload.onerror = () => {
        const hint = 'the server may have refused the file while it came, or may not run any more';
        reject(new ConnectionError('broken_connection', `the connection to ${this.address} broke off`, { hint }));
      };
      upload.onload = () => {
        const lines = upload.getAllResponseHeaders().trim().split('\r\n').filter(Boolean);
        const given = lines.map((line): [string, string] => {
          const at = line.indexOf(':');
          return [line.slice(0, at), line.slice(at + 1).trim()];
        });
        resolve(new HttpAnswer(upload.status, new Headers(given), onePiece(new Uint8Array(upload.response))));
      };
      signal?.addEventListener('abort', abort);
      upload.send(body);
    });
  }
}

const lostConnections = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Browsers give no reason. */
function notAnswered(address: string, error: unknown): ConnectionError {
  const { code = '' } = ((error as Error).cause ?? {}) as { readonly code?: string };
  if (lostConnections.has(code)) return unanswered(address, { cause: error });
  return new ConnectionError('unreachable', `the server at ${address} cannot be reached`, {
    hint: 'is it running, and may this page read from it (http.cors_origins)?',
    cause: error,
  });
}

type Sendable = string | Blob | FormData | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** The interface of XMLHttpRequest's upload, if there is one. */
interface Upload {
  responseType: string;
  readonly upload: { onprogress: ((event: Sent) => void) | null; onload: ((event: Sent) => void) | null };
  readonly status: number;
  readonly response: ArrayBuffer;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  onloadend: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
}

interface Sent {
  readonly loaded: number;
}

function uploader(): (new () => Upload) | undefined {
  return (globalThis as { readonly XMLHttpRequest?: new () => Upload }).XMLHttpRequest;
}

/** Browsers send a stream over HTTP/2 only: there it is collected before. */
async function sendable<Body extends RequestBody | undefined>(
  body: Body,
): Promise<Sendable | (Body extends undefined ? undefined : never)>;
async function sendable(body: RequestBody | undefined): Promise<Sendable | undefined> {
  if (body === undefined || typeof body === 'string' || body instanceof Blob || body instanceof FormData) return body;
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  const stream = streamOf(body);
  return uploader() === undefined ? stream : await new Response(stream).blob();
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return new HttpAnswer(200, new Headers(), body).stream();
}

/** The same body; errors of a stream's source are reported. */
function watched(body: RequestBody | undefined, onError: (error: unknown) => void): RequestBody | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Blob) return body;
  return body instanceof FormData || body instanceof Uint8Array ? body : watchedPieces(body, onError);
}

async function* watchedPieces(
  pieces: AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* pieces;
  } catch (error) {
    onError(error);
    throw error;
  }
}

/** The same, in pieces that are counted where it has some. */
function counted(body: RequestBody, onSent: (bytes: number) => void): RequestBody {
  if (typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData) return body;
  return countedPieces(body instanceof Blob ? blobPieces(body) : body, onSent);
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}
