import type { Answer, Api } from './api.ts';
import { ConnectionError, type FrameholdError, isRefusal, refusal } from './errors.ts';
import { mayRepeat, sleep } from './retry.ts';
import type { HttpAnswer, HttpRequest, RequestBody, Transport } from './transport.ts';

export interface HttpOptions {
  /** The caller's credential: a token or a JWT. */
  readonly token?: string | undefined;
  /** In which an operator acts. Default: the caller's own. */
  readonly tenant?: string | undefined;
  /** Most time to wait for the beginning of an answer, in milliseconds; not for that of an upload. Default: for ever. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is sent again where the server asks for it by `Retry-After`. Default: 3. */
  readonly retries?: number | undefined;
}

/** Remedies, in words of the client. */
export interface AnswerHints {
  /** It is not one of Framehold's. */
  readonly address: string;
  /** A hint of the server in these words. Default: unchanged. */
  readonly advice?: ((hint: string) => string) | undefined;
}

export interface Stoppable {
  readonly signal?: AbortSignal | undefined;
}

export interface RequestOptions extends Stoppable {
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: RequestBody | undefined;
  readonly onSent?: HttpRequest['onSent'];
}

type Segments<Name extends keyof Api> = string extends keyof Api[Name]['segments']
  ? { readonly segments?: never }
  : { readonly segments: Api[Name]['segments'] };

/** The input of one of the server's operations. A `body` is sent as JSON. */
export type CallOptions<Name extends keyof Api> = Stoppable &
  Segments<Name> & {
    readonly query?: Partial<Api[Name]['query']> | undefined;
    readonly body?: Api[Name]['body'] | undefined;
    readonly headers?: RequestOptions['headers'];
  };

const defaultRetries = 3;

/** Requests to one server. A status other than 2xx is thrown as a FrameholdError. */
export class Http {
  readonly #transport: Transport;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #retries: number;
  /** Most time to wait for the beginning of an answer. */
  readonly timeoutMs: number | undefined;
  readonly #hints: AnswerHints;

  constructor(
    transport: Transport,
    { token, tenant, timeoutMs, retries = defaultRetries }: HttpOptions = {},
    hints: AnswerHints = { address: 'check the address' },
  ) {
    this.#transport = transport;
    this.#headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(tenant !== undefined && { 'x-framehold-tenant': tenant }),
    };
    this.timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#hints = hints;
  }

  /** Of the server: for people. */
  get address(): string {
    return this.#transport.address;
  }

  /** By which the server knows the caller. */
  get credentials(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  /** One of the operations that answer in JSON. */
  async call<Name extends keyof Api>(name: Name, options: CallOptions<Name>): Promise<Answer<Name>> {
    const { segments = {}, query, body, headers, signal } = options as CallOptions<keyof Api>;
    const [method = '', path = ''] = name.split(' ');
    const answer = await this.request(method, filled(path, segments), {
      query: query as RequestOptions['query'],
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    return (await this.json(answer)) as Answer<Name>;
  }

  /** An answer that is a success. `path` begins with a slash. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<HttpAnswer> {
    const { query = {}, headers = {}, body, signal, onSent } = options;
    const request: HttpRequest = {
      method,
      target: targetOf(path, query),
      headers: { ...this.#headers, ...defined(headers) },
      body,
      signal,
      onSent,
    };
    for (let left = this.#retries; ; left -= 1) {
      const answer = await this.#send(request);
      if (answer.status >= 200 && answer.status < 300) return answer;
      const error = await this.#refusalOf(answer);
      if (left <= 0 || !mayRepeat(request, error)) throw error;
      await sleep((error.retryAfter ?? 0) * 1000, signal);
    }
  }

  /** Rejects where it is none. */
  async json(answer: HttpAnswer): Promise<unknown> {
    const text = await answer.text();
    try {
      return JSON.parse(text);
    } catch {
      throw this.unexpected();
    }
  }

  /** The answer is not one of Framehold's. */
  unexpected(status?: number): ConnectionError {
    const what = status === undefined ? 'answered' : `answered ${status}, and`;
    return new ConnectionError('unexpected_answer', `${this.address} ${what} not as Framehold does`, {
      status,
      hint: this.#hints.address,
    });
  }

  close(): void {
    this.#transport.close();
  }

  async #send(request: HttpRequest): Promise<HttpAnswer> {
    const { timeoutMs } = this;
    // A file may take hours.
    const isUpload = request.body !== undefined && typeof request.body !== 'string';
    if (timeoutMs === undefined || isUpload) return this.#transport.send(request);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    const signal = AbortSignal.any([late.signal, ...(request.signal === undefined ? [] : [request.signal])]);
    try {
      return await this.#transport.send({ ...request, signal });
    } catch (error) {
      if (!late.signal.aborted || request.signal?.aborted === true) throw error;
      throw new ConnectionError('no_answer', `no answer from ${this.address} within ${timeoutMs} ms`, { isSent: true });
    } finally {
      clearTimeout(timer);
    }
  }

  async #refusalOf(answer: HttpAnswer): Promise<FrameholdError> {
    const { status, headers } = answer;
    const retryAfter = headers.get('retry-after');
    const details = {
      status,
      requestId: headers.get('x-request-id') ?? undefined,
      retryAfter: retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
    };
    const body = parsed(await answer.text());
    return isRefusal(body) ? refusal(body, details, this.#hints.advice) : this.unexpected(status);
  }
}

/** `/handles/{handle}` with its segments in place. */
function filled(path: string, segments: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(segments[name] ?? ''));
}

function targetOf(path: string, query: NonNullable<RequestOptions['query']>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return `${path.slice(1)}${text === '' ? '' : `?${text}`}`;
}

function defined(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
