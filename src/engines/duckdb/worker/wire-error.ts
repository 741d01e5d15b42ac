import { AppError } from '../../../core/app-error.ts';
import { isFailedSync, storageError } from '../../../core/storage-error.ts';
import type { WireError } from '../protocol/protocol.ts';
import { DuckDbError, outOfMemory } from './native/duckdb-error.ts';
import { firstError } from './native/first-error.ts';
import { UnreadableType } from './native/logical-type.ts';

/** What a job threw, as the parent gets it. */
export function wireError(thrown: unknown, { aborted }: Pick<AbortSignal, 'aborted'>): WireError {
  const error = toldError(firstError(thrown));
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const cause = error instanceof AppError ? error.cause : error;
  const fatal = cause instanceof DuckDbError && cause.fatal;
  if (aborted) return { code: 'cancelled', message: 'cancelled', options: {}, detail, fatal };
  if (!(error instanceof AppError)) return { code: 'internal', message: 'internal error', options: {}, detail, fatal };
  const { code, message, hint, position, retryAfterSeconds } = error;
  // After it DuckDB may hold on to so much that the next statement finds no memory.
  const isSpent = code === 'sql_out_of_memory';
  const under = cause instanceof Error ? `${detail}\n${cause.message}` : detail;
  const { syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  const options = { hint, position, retryAfterSeconds };
  return { code, message, options, detail: under, syscall, fatal: fatal || isSpent };
}

/** What a caller may hear of it as an AppError, anything else as it is. */
function toldError(thrown: unknown): unknown {
  if (thrown instanceof RangeError && noMemory.test(thrown.message)) return outOfMemory(thrown);
  if (thrown instanceof UnreadableType) {
    return new AppError('unsupported_type', `a column's type ${thrown.typeName} is not supported`, { cause: thrown });
  }
  const error = storageError(thrown);
  if (error instanceof AppError || !isFailedSync(thrown)) return error;
  return new AppError('storage_read_only', 'the storage failed to keep a write', { cause: thrown });
}

/** What V8 says when the system gives no memory for a buffer. */
const noMemory = /allocation failed/;
