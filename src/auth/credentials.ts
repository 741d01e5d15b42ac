import { AppError } from '../core/errors/app-error.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The secret that a caller shows: a token of ours or a JWT. */
export interface Credential {
  readonly scheme: 'bearer' | 'basic';
  readonly secret: string;
}

/**
 * Reads `Authorization` as HTTP and gRPC clients send it: a Bearer token, or Basic with any user and the token as password.
 * Clients of old Flight send a token as `auth-token-bin`.
 */
export function readCredential(headers: Headers, rawHeaders: readonly string[] = []): Credential | undefined {
  const authorization = single(headers.authorization, 'Authorization');
  if (authorization !== undefined && countAuthorization(rawHeaders) > 1) throw doubled('Authorization');
  const old = single(headers['auth-token-bin'], 'auth-token-bin');
  if (authorization !== undefined && old !== undefined) throw doubled('Authorization and auth-token-bin');
  if (old !== undefined) return { scheme: 'bearer', secret: Buffer.from(old, 'base64').toString() };
  if (authorization === undefined) return undefined;
  const [scheme, value] = splitScheme(authorization.trim());
  switch (scheme.toLowerCase()) {
    case '':
      return undefined;
    case 'bearer':
    // The scheme of InfluxDB's clients.
    case 'token':
      return { scheme: 'bearer', secret: value };
    case 'basic':
      return { scheme: 'basic', secret: passwordOf(value) };
    default:
      // Text that is no name of a scheme may be the secret itself.
      throw unauthenticated(
        /^[a-z]{1,20}$/i.test(scheme)
          ? `the Authorization scheme ${JSON.stringify(scheme)} is not known`
          : 'the Authorization header begins with no known scheme',
        'use Bearer <token>, or Basic with the token as password',
      );
  }
}

/** Without a pattern for both parts: it would try every space of a long header against all that follow. */
function splitScheme(authorization: string): [scheme: string, value: string] {
  const end = authorization.search(/\s/);
  return end < 0 ? [authorization, ''] : [authorization.slice(0, end), authorization.slice(end).trim()];
}

/** Without padding, too: Go's clients send none. */
function passwordOf(value: string): string {
  const decoded = /^[A-Za-z0-9+/_-]*={0,2}$/.test(value) ? Buffer.from(value, 'base64').toString() : '';
  const colon = decoded.indexOf(':');
  if (colon >= 0) return decoded.slice(colon + 1);
  throw unauthenticated('the Basic credentials cannot be read', 'send base64 of user:token; the user may be anything');
}

function countAuthorization(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 'authorization'.length && name.toLowerCase() === 'authorization') count++;
  }
  return count;
}

function single(value: string | readonly string[] | undefined, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (value.length > 1) throw doubled(name);
  return value[0];
}

function doubled(what: string): AppError {
  return unauthenticated(`${what} is given more than once`, 'send one credential');
}

export function unauthenticated(message: string, hint: string): AppError {
  return new AppError('unauthenticated', message, { hint });
}
