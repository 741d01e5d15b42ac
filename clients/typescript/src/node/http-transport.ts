import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { broken, ConnectionError, unanswered } from '../errors.ts';
import { blobPieces, HttpAnswer, type HttpRequest, type Transport } from '../transport.ts';
import { defaultHints, type Hints, unreachable } from './hints.ts';
import { type ClientTls, tlsFailure } from './tls.ts';

const connectTimeoutMs = 10_000;
/** Shorter than servers wait: if a server closes a connection just as it is used again, the request gets no answer. */
const idleMs = 4000;

type SentBody = string | Uint8Array | AsyncIterable<Uint8Array> | undefined;

/** Over Node's own HTTP, which fetch is not enough for: it takes no certificates. */
export class HttpTransport implements Transport {
  readonly #base: URL;
  /** For people: without credentials. */
  readonly address: string;
  readonly #tls: ClientTls;
  readonly #hints: Hints;
  readonly #agent: HttpAgent;

  constructor(base: string, tls: ClientTls = {}, hints: Hints = defaultHints) {
    this.#base = new URL(`${base.replace(/\/$/, '')}/`);
    this.#tls = tls;
    this.#hints = hints;
    this.address = `${this.#base.protocol}//${this.#base.host}${this.#base.pathname.slice(0, -1)}`;
    this.#agent = this.#isTls
      ? new HttpsAgent({ keepAlive: true, timeout: idleMs, ...tls })
      : new HttpAgent({ keepAlive: true, timeout: idleMs });
  }

  /** Without the brackets of IPv6. */
  get host(): string {
    return this.#base.hostname.replace(/^\[|\]$/g, '');
  }

  get #isTls(): boolean {
    return this.#base.protocol === 'https:';
  }

  async send(request: HttpRequest): Promise<HttpAnswer> {
    const { body, headers } = await bodyOf(request);
    const answer = await this.#exchange({ ...request, headers }, body);
    return new HttpAnswer(answer.statusCode ?? 0, headersOf(answer), this.#bodyOf(answer, request.signal));
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange({ method, target, headers, signal, onSent }: HttpRequest, body: SentBody): Promise<IncomingMessage> {
    const isTls = this.#isTls;
    const open = isTls ? requestHttps : requestHttp;
    // An upload has a connection of its own. But it is not announced as such: a server that refuses early would close it while we
    // still send, and its answer be lost.
    const isUpload = typeof body === 'object';
    const connection = isUpload
      ? { agent: false, headers: { ...headers, connection: 'keep-alive' } }
      : { agent: this.#agent, headers };
    return new Promise((resolve, reject) => {
      const outgoing = open(new URL(target, this.#base), {
        method,
        ...connection,
        ...this.#tls,
        ...(signal !== undefined && { signal }),
      });
      const progress = watchConnection(outgoing, isTls ? 'secureConnect' : 'connect');
      let isSent = false;
      outgoing.once('response', (answer) => {
        // It may come before all is sent; then the rest is useless.
        if (!isSent) answer.once('close', () => outgoing.destroy());
        resolve(answer);
      });
      outgoing.on('error', (error) => reject(this.#failure(error, { method, signal, isSent, ...progress })));
      pump(body, outgoing, onSent).then(
        () => {
          isSent = true;
        },
        (error: unknown) => {
          reject(error);
          outgoing.destroy();
        },
      );
    });
  }

  #failure(
    error: NodeJS.ErrnoException,
    state: Pick<HttpRequest, 'method' | 'signal'> & { readonly isSent: boolean; readonly connected: boolean },
  ): unknown {
    const { method, signal, isSent, connected } = state;
    if (signal?.aborted === true) return signal.reason;
    const ofTls = tlsFailure(this.address, error, this.#hints);
    if (ofTls !== undefined) return ofTls;
    if (!connected) return unreachable(this.address, error, this.#hints.server);
    // A server gives no reason for the refusal of a certificate.
    const hint = this.#isTls && this.#tls.cert !== undefined ? this.#hints.refused : undefined;
    return (isSent && method !== 'GET' ? unanswered : broken)(this.address, { hint, cause: error });
  }

  async *#bodyOf(answer: IncomingMessage, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* answer as AsyncIterable<Uint8Array>;
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof ConnectionError ? error : broken(this.address, { cause: error });
    }
  }
}

/** Small bodies are sent whole, all others piece by piece. */
async function bodyOf({
  body,
  headers,
}: HttpRequest): Promise<{ readonly body: SentBody; readonly headers: HttpRequest['headers'] }> {
  if (body instanceof Blob) {
    return { body: blobPieces(body), headers: { ...headers, 'content-length': String(body.size) } };
  }
  if (!(body instanceof FormData)) return { body, headers };
  const form = new Response(body);
  const bytes = new Uint8Array(await form.arrayBuffer());
  return { body: bytes, headers: { ...headers, 'content-type': form.headers.get('content-type') ?? '' } };
}

function headersOf({ headers }: IncomingMessage): Headers {
  const found = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) found.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return found;
}

/** Whether the connection came about, and an end to waiting for it. */
function watchConnection(outgoing: ClientRequest, event: 'connect' | 'secureConnect'): { connected: boolean } {
  const progress = { connected: false };
  const timer = setTimeout(() => {
    outgoing.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
  }, connectTimeoutMs);
  const onConnection = (): void => {
    progress.connected = true;
    clearTimeout(timer);
  };
  outgoing.once('close', () => clearTimeout(timer));
  outgoing.once('socket', (socket) => {
    if (outgoing.reusedSocket) onConnection();
    else socket.once(event, onConnection);
  });
  return progress;
}

/** Sends the body until it ends or the answer makes the rest pointless. */
async function pump(body: SentBody, outgoing: ClientRequest, onSent: HttpRequest['onSent']): Promise<void> {
  if (body === undefined || typeof body === 'string') {
    outgoing.end(body);
    return;
  }
  let sent = 0;
  for await (const piece of body instanceof Uint8Array ? slices(body) : body) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(piece)) await writable(outgoing);
    sent += piece.length;
    onSent?.(sent);
  }
  await new Promise<void>((resolve) => outgoing.once('close', resolve).end(resolve));
}

const sliceBytes = 256 * 1024;

function* slices(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}

function writable(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      outgoing.off('drain', settle).off('close', settle);
      resolve();
    };
    if (outgoing.destroyed) settle();
    else outgoing.on('drain', settle).on('close', settle);
  });
}
