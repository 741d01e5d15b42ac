import { type Failure, GrpcError, type GrpcStatusName } from '@framehold/grpc';
import type { AppError, ErrorCode } from '../core/errors/app-error.ts';

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

/** The client's view of an error. */
export function failureOf(error: GrpcError | AppError): Failure {
  const { message } = error;
  if (error instanceof GrpcError) return { status: error.status, message };
  const { code, hint, position, retryAfterSeconds } = error;
  return {
    status: errorStatus[code],
    // Most drivers show their users the message alone.
    message: hint === undefined ? message : `${message} (${hint})`,
    trailers: {
      'framehold-code': code,
      ...(hint !== undefined && { 'framehold-hint': hint }),
      ...(position !== undefined && { 'framehold-position': position }),
      ...(retryAfterSeconds !== undefined && { 'framehold-retry-after': retryAfterSeconds }),
    },
  };
}
