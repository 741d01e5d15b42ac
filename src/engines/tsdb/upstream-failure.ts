import { AppError } from '../../core/errors/app-error.ts';

const setting = 'tsdb.http_url';

type Failure = 'refused' | 'unresolved' | 'unanswered' | 'untrusted' | 'closed' | 'not-http' | 'too-slow' | 'stopping';

/** Codes of Node and undici. Most of OpenSSL's are recognised by their prefix instead. */
const failureByCode: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  EHOSTDOWN: 'refused',
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  UND_ERR_CONNECT_TIMEOUT: 'unanswered',
  ETIMEDOUT: 'unanswered',
  EPROTO: 'untrusted',
  CERT_HAS_EXPIRED: 'untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  ECONNRESET: 'closed',
  ECONNABORTED: 'closed',
  EPIPE: 'closed',
  UND_ERR_SOCKET: 'closed',
  UND_ERR_HEADERS_OVERFLOW: 'not-http',
  // Undici asserts its assumptions about an answer, such as a status from 100 up.
  ERR_ASSERTION: 'not-http',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'not-http',
  UND_ERR_HEADERS_TIMEOUT: 'too-slow',
  UND_ERR_BODY_TIMEOUT: 'too-slow',
  UND_ERR_CLOSED: 'stopping',
  UND_ERR_DESTROYED: 'stopping',
};

/** The caller's error for a request that failed before the external database's answer began. */
export function classifyUpstreamFailure(error: unknown, { written }: { readonly written: boolean }): AppError {
  if (error instanceof AppError) return error;
  const cause = withoutPayload(error);
  const failure = written ? failureOfConnected(error) : failureOf(error);
  switch (failure) {
    case 'refused':
      return unreachable('the external database refused the connection', cause, `check that it runs at ${setting}`);
    case 'unresolved':
      return unreachable('the name of the external database does not resolve', cause, `check the host in ${setting}`);
    case 'unanswered':
      return notConnected(cause);
    case 'untrusted':
      return unreachable('no TLS connection to the external database', cause, `check its certificate and ${setting}`);
    case 'stopping':
      return unreachable('the server is stopping', cause, 'send the request again');
    case 'closed':
      // No Retry-After: the statement may have been executed, and an INSERT must not be sent again blindly.
      return new AppError('tsdb_unreachable', 'the external database closed the connection before it answered', {
        hint: 'the statement may have been executed; it also closes where a request is longer than its buffer',
        cause,
      });
    case 'not-http':
      return notHttp(cause);
    case 'too-slow':
      return tooSlow(cause);
    case undefined:
      return new AppError('internal', 'internal error', { cause });
    default:
      return failure satisfies never;
  }
}

/** The kinds of answer that are not passed on: the caller can do nothing with them. */
export function refusalOfAnswer(status: number, transferEncoding?: string): AppError | undefined {
  // Any other coding would stay on the body, of which we say nothing to the client.
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') return notHttp();
  if (status === 401) {
    return new AppError('tsdb_unreachable', 'the external database refused our credentials', {
      hint: `set ${setting} to a URL with a user and password that it accepts`,
    });
  }
  if (status >= 300 && status < 400) {
    return new AppError('tsdb_unreachable', `the external database answered with a redirect (${status})`, {
      hint: `redirects are not followed; set ${setting} to the final address`,
    });
  }
  return undefined;
}

/** The error with which a body ends that the external database did not finish. */
export function classifyBrokenBody(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const cause = withoutPayload(error);
  return failureOf(error) === 'too-slow'
    ? new AppError('tsdb_timeout', 'the external database stopped in the middle of its answer', { cause })
    : new AppError('tsdb_unreachable', 'the external database broke off in the middle of its answer', { cause });
}

function notHttp(cause?: unknown): AppError {
  return new AppError('tsdb_unreachable', 'the external database answered something that is not HTTP', {
    hint: `check that ${setting} names its HTTP port`,
    cause,
  });
}

export function tooSlow(cause?: unknown): AppError {
  return new AppError('tsdb_timeout', 'the external database did not answer in time', {
    hint: 'the statement may still run there; narrow it, or raise FRAMEHOLD_TSDB_TIMEOUT',
    cause,
  });
}

export function notConnected(cause?: unknown): AppError {
  return unreachable('the external database did not accept a connection in time', cause, `check ${setting}`);
}

/** Whether the other side merely closed the connection, as happens to idle ones between requests. */
export function isClosedConnection(error: unknown): boolean {
  return failureOf(error) === 'closed';
}

function unreachable(message: string, cause: unknown, hint: string): AppError {
  return new AppError('tsdb_unreachable', message, { hint, retryAfterSeconds: 1, cause });
}

const beforeConnected: ReadonlySet<Failure | undefined> = new Set(['refused', 'unresolved', 'unanswered', 'untrusted']);

/** On an established connection, such codes mean no more than that it broke. */
function failureOfConnected(error: unknown): Failure | undefined {
  const failure = failureOf(error);
  return beforeConnected.has(failure) ? 'closed' : failure;
}

function failureOf(error: unknown): Failure | undefined {
  // undici leaves the code of most of these out.
  if (error instanceof Error && error.name === 'HTTPParserError') return 'not-http';
  const code = codeOf(error);
  if (code === undefined || code === 'UND_ERR_INVALID_ARG') return undefined;
  if (/^(ERR_TLS_|ERR_SSL_|CERT_)/.test(code)) return 'untrusted';
  return failureByCode[code] ?? 'refused';
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  // A host with several addresses, none of which took the connection.
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}

/** undici's parser errors carry the bytes that they choked on, and an upstream may echo our password there. */
function withoutPayload(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('something that is not an Error was thrown');
  const code = codeOf(error);
  return Object.assign(new Error(error.message), { code: code ?? error.name });
}
