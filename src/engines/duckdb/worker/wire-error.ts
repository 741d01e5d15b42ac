import { DuckDbError, UnreadableType } from '@framehold/duckdb';
import { AppError } from '../../../core/errors/app-error.ts';
import { isFailedSync, storageError } from '../../../core/errors/storage-error.ts';
import type { WireError } from '../protocol/protocol.ts';
import { firstError } from './first-error.ts';
import { outOfMemory } from './resource-error.ts';

/** A job's error in the form for the parent process. */
export function wireError(thrown: unknown, { aborted }: Pick<AbortSignal, 'aborted'>): WireError {
  const error = reportedError(firstError(thrown));
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const cause = error instanceof AppError ? error.cause : error;
  const fatal = cause instanceof DuckDbError && cause.fatal;
  if (aborted) return { code: 'cancelled', message: 'cancelled', options: {}, detail, fatal };
  if (!(error instanceof AppError)) return { code: 'internal', message: 'internal error', options: {}, detail, fatal };
  const { code, message, hint, position, retryAfterSeconds } = error;
  // DuckDB may then hold so much memory that the next statement finds none.
  const isSpent = code === 'sql_out_of_memory';
  const under = cause instanceof Error ? `${detail}\n${cause.message}` : detail;
  const { syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  const options = { hint, position, retryAfterSeconds };
  return { code, message, options, detail: under, syscall, fatal: fatal || isSpent };
}

/** An AppError if the caller may see it, any other error unchanged. */
function reportedError(thrown: unknown): unknown {
  if (thrown instanceof RangeError && noMemory.test(thrown.message)) return outOfMemory(thrown);
  if (thrown instanceof UnreadableType) {
    return new AppError('unsupported_type', `a column's type ${thrown.typeName} is not supported`, { cause: thrown });
  }
  const error = storageError(thrown);
  if (error instanceof AppError || !isFailedSync(thrown)) return error;
  return new AppError('storage_read_only', 'the storage failed to keep a write', { cause: thrown });
}

/** V8's message when the system has no memory for a buffer. */
const noMemory = /allocation failed/;
