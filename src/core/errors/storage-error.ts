import { CodedError } from '@framehold/columns';
import { AppError, toAppError, tooManyFiles } from './app-error.ts';

/** Errors of the file system as AppErrors; others unchanged. */
export function storageError(error: unknown): unknown {
  if (error instanceof CodedError) return toAppError(error);
  switch (errnoOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new AppError('storage_full', 'the storage is full', {
        hint: 'drop frames or make room on the disk, then try again',
        cause: error,
      });
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return new AppError('storage_read_only', 'the storage cannot be written', { cause: error });
    case 'EMFILE':
    case 'ENFILE':
      return tooManyFiles(error);
    default:
      return error;
  }
}

/** The errno name of a system error, also of one that is the cause of another. */
export function errnoOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^E[A-Z0-9]+$/.test(at.code)) return at.code;
  }
  return undefined;
}

/** Whether the error, or its cause, was an fsync. */
export function isFailedSync(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('syscall' in at && (at.syscall === 'fsync' || at.syscall === 'fdatasync')) return true;
  }
  return false;
}
