import { AppError } from '../../../core/errors/app-error.ts';
import type { WireError } from '../protocol/protocol.ts';

/** The error of a job whose process died. */
export function crashed(stderr: string): AppError {
  return new AppError('engine_crashed', 'the process that worked on this request ended unexpectedly', {
    hint: 'try again; if it happens again, the same input ends it each time',
    retryAfterSeconds: 1,
    cause: stderr,
  });
}

/** For a job without a time limit that must show progress. */
export function noProgress(ms: number): AppError {
  return new AppError('sql_timeout', `the work made no progress for ${ms / 1000} s`, {
    hint: 'send less at once, a Parquet file for example in more row groups',
  });
}

/** The error that a process reported for a job. */
export function fromWire(error: WireError): Error {
  if (error.code === 'cancelled') return new DOMException('the job was cancelled', 'AbortError');
  const cause = Object.assign(new Error(error.detail), error.syscall !== undefined && { syscall: error.syscall });
  return new AppError(error.code, error.message, { ...error.options, cause });
}
