import type { OutgoingHttpHeaders } from 'node:http2';
import { type AppError, type ErrorCode, toAppError } from '../../core/errors/app-error.ts';
import { GrpcError, type GrpcStatusName, grpcStatus } from '../wire/grpc-status.ts';
import { percentEncode } from './percent-encode.ts';

export const errorStatus = {
  unauthenticated: 'UNAUTHENTICATED',
  forbidden: 'PERMISSION_DENIED',
  rate_limited: 'UNAVAILABLE',
  quota_exceeded: 'RESOURCE_EXHAUSTED',
  auth_unavailable: 'UNAVAILABLE',
  audit_unavailable: 'UNAVAILABLE',
  missing_parameter: 'INVALID_ARGUMENT',
  ambiguous_mode: 'INVALID_ARGUMENT',
  invalid_parameter: 'INVALID_ARGUMENT',
  unsupported_format: 'INVALID_ARGUMENT',
  invalid_limit: 'INVALID_ARGUMENT',
  invalid_handle: 'INVALID_ARGUMENT',
  handle_not_found: 'NOT_FOUND',
  handle_gone: 'NOT_FOUND',
  handle_exists: 'ALREADY_EXISTS',
  schema_mismatch: 'FAILED_PRECONDITION',
  frame_changed: 'ABORTED',
  producer_gap: 'FAILED_PRECONDITION',
  producer_fenced: 'PERMISSION_DENIED',
  invalid_input: 'INVALID_ARGUMENT',
  unsupported_type: 'INVALID_ARGUMENT',
  too_large: 'RESOURCE_EXHAUSTED',
  request_too_long: 'RESOURCE_EXHAUSTED',
  wrong_host: 'INVALID_ARGUMENT',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'INVALID_ARGUMENT',
  overloaded: 'UNAVAILABLE',
  tsdb_not_configured: 'FAILED_PRECONDITION',
  tsdb_unreachable: 'UNAVAILABLE',
  tsdb_timeout: 'DEADLINE_EXCEEDED',
  sql_error: 'INVALID_ARGUMENT',
  sql_forbidden: 'INVALID_ARGUMENT',
  sql_timeout: 'DEADLINE_EXCEEDED',
  sql_cancelled: 'CANCELLED',
  sql_out_of_memory: 'RESOURCE_EXHAUSTED',
  engine_crashed: 'UNAVAILABLE',
  engine_unreachable: 'UNAVAILABLE',
  engine_timeout: 'DEADLINE_EXCEEDED',
  storage_full: 'RESOURCE_EXHAUSTED',
  storage_read_only: 'FAILED_PRECONDITION',
  frame_damaged: 'DATA_LOSS',
  internal: 'INTERNAL',
} as const satisfies Record<ErrorCode, GrpcStatusName>;

export const okTrailers: OutgoingHttpHeaders = { 'grpc-status': grpcStatus.OK };

export function statusOf(error: GrpcError | AppError): GrpcStatusName {
  return error instanceof GrpcError ? error.status : errorStatus[error.code];
}

/** The trailers for any thrown error. Text in them is percent-encoded, as in `grpc-message`. */
export function errorTrailers(thrown: unknown): OutgoingHttpHeaders {
  if (thrown instanceof GrpcError) return statusTrailers(thrown.status, thrown.message);
  const error = toAppError(thrown);
  // Most drivers show their users the message alone.
  const shown = error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
  const trailers = statusTrailers(errorStatus[error.code], shown);
  trailers['framehold-code'] = error.code;
  if (error.hint !== undefined) trailers['framehold-hint'] = percentEncode(error.hint);
  if (error.position !== undefined) trailers['framehold-position'] = error.position;
  if (error.retryAfterSeconds !== undefined) trailers['framehold-retry-after'] = error.retryAfterSeconds;
  return trailers;
}

function statusTrailers(status: GrpcStatusName, message: string): OutgoingHttpHeaders {
  return { 'grpc-status': grpcStatus[status], 'grpc-message': percentEncode(message) };
}
