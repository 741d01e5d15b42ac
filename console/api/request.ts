import type { Answer, Api } from '#client/api.ts';
import { FrameholdError } from '#client/errors.ts';
import { FetchTransport } from '#client/fetch-transport.ts';
import { type CallOptions, Http, type RequestOptions } from '#client/http.ts';
import type { HttpAnswer } from '#client/transport.ts';
import { parseExactJson } from './exact-json.ts';
import { expireSession, token } from './session-token.ts';

/** The server of this page, with the credential of the logged-in user. */
class SessionHttp extends Http {
  override async request(method: string, path: string, options: RequestOptions = {}): Promise<HttpAnswer> {
    const asked = token.peek();
    const authorization = asked === undefined ? undefined : `Bearer ${asked}`;
    try {
      return await super.request(method, path, { ...options, headers: { authorization, ...options.headers } });
    } catch (error) {
      if (error instanceof FrameholdError && error.status === 401) expireSession(asked);
      throw error;
    }
  }
}

let http: Http | undefined;

/** The page itself polls and retries. */
function server(): Http {
  http ??= new SessionHttp(new FetchTransport(location.origin), { retries: 0 });
  return http;
}

export interface PathOptions extends Omit<RequestOptions, 'query'> {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
}

/** One of the operations of the server that answer in JSON. */
export function call<Name extends keyof Api>(name: Name, options: CallOptions<Name>): Promise<Answer<Name>> {
  return server().call(name, options);
}

/** Rejects with a FrameholdError for every status but a success. */
export function request(path: string, { method = 'GET', ...options }: PathOptions = {}): Promise<HttpAnswer> {
  return server().request(method, path, options);
}

export async function getJson<T>(path: string, options: PathOptions = {}): Promise<T> {
  return (await (await request(path, options)).json()) as T;
}

/** Requests rows of unknown columns. */
export async function getExactJson<T>(path: string, options: PathOptions = {}): Promise<T> {
  const response = await request(path, options);
  return parseExactJson(await response.text()) as T;
}

export function sendJson<T>(path: string, body: unknown, options: PathOptions = {}): Promise<T> {
  const headers = { ...options.headers, 'content-type': 'application/json' };
  return getJson<T>(path, { method: 'POST', ...options, headers, body: JSON.stringify(body) });
}

/** A path with a query string of the values that are not undefined. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
