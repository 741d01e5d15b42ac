import { type AppError, type ErrorCode, toAppError } from '../../core/errors/app-error.ts';
import type { Exchange } from './exchange.ts';

export const httpStatus = {
  unauthenticated: 401,
  forbidden: 403,
  rate_limited: 429,
  quota_exceeded: 507,
  auth_unavailable: 503,
  audit_unavailable: 503,
  missing_parameter: 400,
  ambiguous_mode: 400,
  invalid_parameter: 400,
  unsupported_format: 400,
  invalid_limit: 400,
  invalid_handle: 400,
  handle_not_found: 404,
  handle_gone: 410,
  handle_exists: 409,
  schema_mismatch: 409,
  frame_changed: 409,
  producer_gap: 409,
  producer_fenced: 403,
  invalid_input: 400,
  unsupported_type: 400,
  too_large: 413,
  request_too_long: 431,
  wrong_host: 421,
  not_found: 404,
  method_not_allowed: 405,
  overloaded: 503,
  tsdb_not_configured: 412,
  tsdb_unreachable: 502,
  tsdb_timeout: 504,
  sql_error: 400,
  sql_forbidden: 403,
  sql_timeout: 504,
  sql_cancelled: 409,
  sql_out_of_memory: 503,
  engine_crashed: 503,
  engine_unreachable: 502,
  engine_timeout: 504,
  storage_full: 507,
  storage_read_only: 503,
  frame_damaged: 500,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;

export const jsonContentType = 'application/json; charset=utf-8';

/** The one shape of errors; the cause stays in the log. */
export function errorBody({ message, code, hint, position }: AppError, query: string | undefined): string {
  return JSON.stringify({ query, error: message, code, hint, position });
}

/** Answers with an error; where the answer has already begun, the connection is cut so that no client takes it for whole. */
export function sendError(
  exchange: Exchange,
  thrown: unknown,
  query: string | undefined,
  bodyOf: (error: AppError, exchange: Exchange) => string = (error) => errorBody(error, query),
): void {
  const error = toAppError(thrown);
  if (exchange.hasBegun || exchange.isClosed) {
    exchange.destroy();
    return;
  }
  const { headers } = exchange;
  const body = bodyOf(error, exchange);
  if (error.retryAfterSeconds !== undefined) headers.push('retry-after', String(error.retryAfterSeconds));
  if (error.code === 'unauthenticated') headers.push('www-authenticate', challengeTo(exchange));
  headers.push('content-type', jsonContentType, ...exchange.cacheControl('no-store'));
  headers.push('content-length', String(Buffer.byteLength(body)));
  exchange.send(httpStatus[error.code], body);
}

/** RFC 6750: the error is sent only to callers that sent a credential. */
function challengeTo({ requestHeaders }: Exchange): string {
  const error = requestHeaders.authorization === undefined ? '' : ', error="invalid_token"';
  return `Bearer realm="framehold"${error}`;
}
