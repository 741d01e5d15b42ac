import { ApiError } from './api-error.ts';
import { expireSession, token } from './session-token.ts';

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly signal?: AbortSignal | undefined;
}

/** Asks the server that serves this page. Rejects with an ApiError for whatever is not a success. */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { signal, ...rest } = options;
  const headers: Record<string, string> = { ...options.headers };
  const asked = token.peek();
  if (asked !== undefined) headers.authorization = `Bearer ${asked}`;
  let response: Response;
  try {
    response = await fetch(path, { ...rest, headers, cache: 'no-cache', ...(signal !== undefined && { signal }) });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(0, 'unreachable', 'the server cannot be reached', { hint: 'is it running?' });
  }
  if (response.ok) return response;
  if (response.status === 401) expireSession(asked);
  throw await errorOf(response);
}

export async function getJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await request(path, options);
  return (await response.json()) as T;
}

export function sendJson<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
  const headers = { ...options.headers, 'content-type': 'application/json' };
  return getJson<T>(path, { method: 'POST', ...options, headers, body: JSON.stringify(body) });
}

/** A path with a query string of what is not undefined. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

async function errorOf(response: Response): Promise<ApiError> {
  return apiErrorOf(response.status, await response.text().catch(() => ''));
}

export function apiErrorOf(status: number, text: string): ApiError {
  try {
    const { error, code, hint, position } = JSON.parse(text) as Record<string, unknown>;
    return new ApiError(status, String(code ?? 'unknown'), String(error ?? text), {
      ...(typeof hint === 'string' && { hint }),
      ...(typeof position === 'number' && { position }),
    });
  } catch {
    return new ApiError(status, 'unknown', text === '' ? `the server answered ${status}` : text);
  }
}
