import { CodedError, type CodedErrorOptions } from '@framehold/columns';

/** Every error that a caller may see, over any door. The doors keep tables checked against this list. */
export const errorCodes = [
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'quota_exceeded',
  'auth_unavailable',
  'audit_unavailable',
  'missing_parameter',
  'ambiguous_mode',
  'invalid_parameter',
  'unsupported_format',
  'invalid_limit',
  'invalid_handle',
  'handle_not_found',
  'handle_gone',
  'handle_exists',
  'schema_mismatch',
  'frame_changed',
  'producer_gap',
  'producer_fenced',
  'invalid_input',
  'unsupported_type',
  'too_large',
  'request_too_long',
  'wrong_host',
  'not_found',
  'method_not_allowed',
  'overloaded',
  'tsdb_not_configured',
  'tsdb_unreachable',
  'tsdb_timeout',
  'sql_error',
  'sql_forbidden',
  'sql_timeout',
  'sql_cancelled',
  'sql_out_of_memory',
  'engine_crashed',
  'engine_unreachable',
  'engine_timeout',
  'storage_full',
  'storage_read_only',
  'frame_damaged',
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

function isErrorCode(code: string): code is ErrorCode {
  return (errorCodes as readonly string[]).includes(code);
}

/** Faults of the server, or of its environment, that an operator must see: never a caller's alone. */
const faults: ReadonlySet<ErrorCode> = new Set([
  'auth_unavailable',
  'audit_unavailable',
  'overloaded',
  'tsdb_unreachable',
  'tsdb_timeout',
  'engine_crashed',
  'engine_unreachable',
  'engine_timeout',
  'storage_full',
  'storage_read_only',
  'frame_damaged',
  'internal',
]);

export function isFault(code: ErrorCode): boolean {
  return faults.has(code);
}

export interface AppErrorOptions extends CodedErrorOptions {
  /** Offset in the caller's SQL text. */
  readonly position?: number | undefined;
  /** Seconds after which the same request may work. */
  readonly retryAfterSeconds?: number | undefined;
}

/** An error whose message may be shown to the caller unchanged. */
export class AppError extends CodedError<ErrorCode> {
  readonly position: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(code, message, options);
    this.name = 'AppError';
    this.position = options.position;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The same error in other words, or at another place. */
  with(changes: AppErrorOptions & { readonly message?: string }): AppError {
    const { code, message, hint, position, retryAfterSeconds, cause } = this;
    return new AppError(code, changes.message ?? message, { hint, position, retryAfterSeconds, cause, ...changes });
  }
}

/** Anything thrown, as an AppError: an unforeseen error becomes `internal`, its message kept for the log only. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  // Of a package, which has codes of ours.
  if (thrown instanceof CodedError) {
    const { code, message, hint, cause } = thrown;
    return new AppError(isErrorCode(code) ? code : 'invalid_input', message, { hint, cause });
  }
  if (isOutOfDescriptors(thrown)) return tooManyFiles(thrown);
  return new AppError('internal', 'internal error', { cause: thrown });
}

/** The part of an error that may be logged. Errors of statements quote them, and SQL is never logged. */
export function loggedError(error: Error): unknown {
  if (error instanceof AppError && (error.code === 'sql_error' || error.code === 'sql_forbidden')) return undefined;
  return error.cause ?? error;
}

/** Any file or connection that is opened may be the one too many. */
function isOutOfDescriptors(thrown: unknown): boolean {
  for (let at = thrown; at instanceof Error; at = at.cause) {
    if ('code' in at && (at.code === 'EMFILE' || at.code === 'ENFILE')) return true;
  }
  return false;
}

export function tooManyFiles(cause: unknown): AppError {
  return new AppError('overloaded', 'too many files are open', {
    hint: 'try again in a moment; the operator can raise the limit of open files (ulimit -n)',
    retryAfterSeconds: 1,
    cause,
  });
}

/** The time of a statement, or of a read, is over. */
export function workTimedOut(timeoutMs: number, cause?: unknown): AppError {
  return new AppError('sql_timeout', `the work took longer than ${timeoutMs / 1000} s`, {
    hint: 'ask for less at once, or let the operator raise sql.timeout',
    cause,
  });
}

export function serverStopping(): AppError {
  return new AppError('overloaded', 'the server is stopping', { hint: 'try again in a moment', retryAfterSeconds: 1 });
}

/** Codes of engine errors about the data itself. */
const dataCodes = new Set<ErrorCode>(['invalid_input', 'unsupported_type', 'frame_damaged']);

/** Whether an error is not about the data, so that the same may work later. */
export function isTransient(error: unknown): boolean {
  return error instanceof AppError && !dataCodes.has(error.code);
}
