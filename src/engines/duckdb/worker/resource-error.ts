import type { DuckDbError } from '@framehold/duckdb';
import { AppError, tooManyFiles } from '../../../core/errors/app-error.ts';

/** The caller's error for a fault of resources; undefined if the error is about the data. */
export function resourceError(error: DuckDbError): AppError | undefined {
  const { message } = error;
  // The text may be the caller's: a value that cannot be cast, or the argument of error().
  if (error.isCallers) return undefined;
  if (/No space left on device|Disk quota exceeded|max_temp_directory_size/.test(message)) {
    return new AppError('storage_full', 'the disk is full', { hint: 'free some space and try again', cause: error });
  }
  if (/Read-only file system|Permission denied|Operation not permitted/.test(message)) {
    return new AppError('storage_read_only', 'the storage cannot be written', { cause: error });
  }
  if (/Too many open files/.test(message)) return tooManyFiles(error);
  if (/^Out of Memory Error|bad_alloc|failed to allocate/i.test(message)) return outOfMemory(error);
  return undefined;
}

export function outOfMemory(cause: Error): AppError {
  return new AppError('sql_out_of_memory', 'the work needs more memory than a worker may use', {
    hint: 'ask for less at once, or let the operator raise sql.memory_gb',
    cause,
  });
}

/** The first sentence of DuckDB's message without its class, and without any path of ours. */
export function describeDataError(error: DuckDbError, path: string): string {
  const line = error.message.split('\n', 1)[0] ?? '';
  return line
    .replace(/^[A-Z][A-Za-z ]* Error: /, '')
    .replaceAll(`'${path}'`, 'the file')
    .replaceAll(`"${path}"`, 'the file')
    .replaceAll(path, 'the file')
    .trim();
}
