import { AppError } from '../../../core/app-error.ts';
import type { WireError } from '../protocol/protocol.ts';

/** Of a job whose process is gone. */
export function crashed(stderr: string): AppError {
  return new AppError('engine_crashed', 'the process that worked on this request ended unexpectedly', {
    hint: 'try again; if it happens again, the same input ends it each time',
    retryAfterSeconds: 1,
    cause: stderr,
  });
}

/** What a process tells of a job that failed. */
export function fromWire(error: WireError): Error {
  if (error.code === 'cancelled') return new DOMException('the job was cancelled', 'AbortError');
  const cause = Object.assign(new Error(error.detail), error.syscall !== undefined && { syscall: error.syscall });
  return new AppError(error.code, error.message, { ...error.options, cause });
}
