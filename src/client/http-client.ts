import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { ClientError, refusal, unreachable } from './client-error.ts';
import { type ClientTls, tlsFailure } from './client-tls.ts';

const connectTimeoutMs = 10_000;

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's address. */
  readonly path: string;
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

/** HTTP to one server. What it answers other than 2xx is thrown as a ClientError. */
export class HttpClient {
  readonly #base: URL;
  /** For people: without credentials. */
  readonly address: string;

  readonly #headers: OutgoingHttpHeaders;

  readonly #tls: ClientTls;

  /** `headers`: sent with every request. */
  constructor(base: string, headers: OutgoingHttpHeaders = {}, tls: ClientTls = {}) {
    this.#tls = tls;
    this.#base = new URL(`${base}/`);
    this.#headers = headers;
    this.address = `${this.#base.protocol}//${this.#base.host}${this.#base.pathname.slice(0, -1)}`;
  }

  get host(): string {
    return this.#base.hostname.replace(/^\[|\]$/g, '');
  }

  async json<T>(request: HttpRequest): Promise<T> {
    const pieces: Uint8Array[] = [];
    for await (const piece of await this.bytes(request)) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const value = parseJson(text);
    if (value === undefined) throw this.#stranger();
    return value as T;
  }

  /** The body of the answer, as it comes. Rejects when it breaks off. */
  async bytes(request: HttpRequest): Promise<AnswerBody> {
    const answer = await this.#send(request);
    if (answer.statusCode !== undefined && answer.statusCode >= 200 && answer.statusCode < 300) {
      const length = Number(answer.headers['content-length'] ?? Number.NaN);
      return Object.assign(this.#bodyOf(answer, request.signal), {
        totalBytes: Number.isNaN(length) ? undefined : length,
        headers: answer.headers,
      });
    }
    throw await this.#refusalOf(answer, request.signal);
  }

  #send(request: HttpRequest): Promise<IncomingMessage> {
    const { method = 'GET', path, query = {}, headers = {}, body, signal } = request;
    const url = new URL(path, this.#base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const open = url.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      // A connection of its own: a kept one may be closed by the server just as it is used again. But not announced as
      // such: a server that refuses early would close it under what we still send, and its answer be lost.
      const outgoing = open(url, {
        method,
        headers: { ...this.#headers, ...headers, connection: 'keep-alive' },
        signal,
        agent: false,
        ...this.#tls,
      });
      const isTls = url.protocol === 'https:';
      const progress = watchConnection(outgoing, isTls ? 'secureConnect' : 'connect');
      let isSent = false;
      outgoing.once('response', (answer) => {
        // It may come before all is sent; then nobody wants the rest.
        if (!isSent) answer.once('close', () => outgoing.destroy());
        resolve(answer);
      });
      outgoing.on('error', (error) => {
        if (signal.aborted) reject(signal.reason);
        else if (!progress.connected) reject(tlsFailure(this.address, error) ?? unreachable(this.address, error));
        else {
          const isUnknown = isSent && method !== 'GET';
          const failed = () => (isUnknown ? unanswered : broken)(this.address, isTls ? this.#tls : undefined);
          reject(tlsFailure(this.address, error) ?? failed());
        }
      });
      pump(body, outgoing).then(
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

  async *#bodyOf(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* answer as AsyncIterable<Uint8Array>;
    } catch {
      signal.throwIfAborted();
      throw broken(this.address);
    }
  }

  async #refusalOf(answer: IncomingMessage, signal: AbortSignal): Promise<ClientError> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#bodyOf(answer, signal)) pieces.push(piece);
    const body = parseJson(Buffer.concat(pieces).toString()) as Record<string, unknown> | undefined;
    if (typeof body?.error !== 'string') return this.#stranger(answer.statusCode);
    const { error, code, hint } = body;
    return refusal(error, {
      code: typeof code === 'string' ? code : undefined,
      hint: typeof hint === 'string' ? hint : undefined,
      retryAfter: answer.headers['retry-after'],
    });
  }

  #stranger(status?: number): ClientError {
    const what = status === undefined ? 'answered' : `answered ${status}, and`;
    return new ClientError('refused', `${this.address} ${what} not as Framehold does`, {
      hint: 'check the address: --server or FRAMEHOLD_SERVER',
    });
  }
}

export interface AnswerBody extends AsyncIterable<Uint8Array> {
  /** Where the server said it beforehand. */
  readonly totalBytes: number | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Whether the connection came about, and an end to waiting for it. */
function watchConnection(outgoing: ClientRequest, event: 'connect' | 'secureConnect'): { connected: boolean } {
  const progress = { connected: false };
  const timer = setTimeout(() => {
    outgoing.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
  }, connectTimeoutMs);
  outgoing.once('close', () => clearTimeout(timer));
  outgoing.once('socket', (socket) => {
    socket.once(event, () => {
      progress.connected = true;
      clearTimeout(timer);
    });
  });
  return progress;
}

/** Sends the body until it ends or the answer makes the rest pointless. */
async function pump(body: HttpRequest['body'], outgoing: ClientRequest): Promise<void> {
  if (body === undefined || typeof body === 'string') {
    outgoing.end(body);
    return;
  }
  for await (const chunk of body) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk)) await writable(outgoing);
  }
  await new Promise<void>((resolve) => outgoing.once('close', resolve).end(resolve));
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

/** `tls`: where no answer came, and TLS may be the reason. */
function broken(address: string, tls?: ClientTls): ClientError {
  return new ClientError('broken', `the connection to ${address} broke in mid-transfer`, certificateHint(tls));
}

function unanswered(address: string, tls?: ClientTls): ClientError {
  return new ClientError(
    'unanswered',
    `the connection to ${address} broke before its answer came`,
    certificateHint(tls),
  );
}

/** A server tells nobody why it refuses a certificate. */
function certificateHint(tls: ClientTls | undefined): { readonly hint?: string } {
  return tls?.cert === undefined ? {} : { hint: 'the server may not trust the certificate of --cert-file' };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
