import type { ErrorCode } from '../../core/errors/app-error.ts';

/** Errors of reading a frame. */
export const frameErrors = [
  'invalid_handle',
  'handle_not_found',
  'handle_gone',
  'frame_damaged',
] as const satisfies readonly ErrorCode[];

/** With a statement. */
export const sqlErrors = [
  'sql_error',
  'sql_forbidden',
  'sql_timeout',
  'sql_cancelled',
  'sql_out_of_memory',
  'engine_crashed',
] as const satisfies readonly ErrorCode[];

/** With an engine of other machines. */
export const engineErrors = ['engine_unreachable', 'engine_timeout'] as const satisfies readonly ErrorCode[];

/** With the external database. */
export const tsdbErrors = [
  'tsdb_not_configured',
  'tsdb_unreachable',
  'tsdb_timeout',
] as const satisfies readonly ErrorCode[];

/** With a disk that is to take something. */
export const storageErrors = ['storage_full', 'storage_read_only'] as const satisfies readonly ErrorCode[];
