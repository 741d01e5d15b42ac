import { AppError } from '../core/app-error.ts';
import type { Handle } from '../core/handle.ts';
import type { TableName } from '../core/sql.ts';

/** Tables that only one session finds. Each is a frame under a handle that the server made. */
export interface TemporaryTables {
  /** Names in lower case. */
  readonly handles: ReadonlyMap<string, Handle>;
  /** Undefined: there is none of that name any more. */
  set(name: string, handle: Handle | undefined): void;
}

/** Where the session does not end before: what nobody reads for a day goes. */
export const temporaryTtlMs = 24 * 3_600_000;

/** The frame behind a name of the session, which goes before a frame of that name. */
export function temporaryHandle(tables: TemporaryTables | undefined, table: TableName): Handle | undefined {
  const isPlain = table.catalog === undefined && table.schema === undefined;
  return isPlain ? tables?.handles.get(table.name.toLowerCase()) : undefined;
}

/** The tables of the session, where there is one. */
export function ofSession(
  tables: TemporaryTables | undefined,
  { catalog, schema, name, position }: TableName,
): TemporaryTables {
  if (catalog !== undefined || schema !== undefined) {
    throw new AppError('sql_error', 'a temporary table is in no schema', { hint: `name it "${name}" alone`, position });
  }
  if (tables !== undefined) return tables;
  throw new AppError('sql_forbidden', 'CREATE TEMP TABLE needs a session, and there is none', {
    hint: 'a session of Flight SQL keeps temporary tables. Elsewhere keep the rows with a time to live: "keep": {"handle": …, "ttl": "15m"} of POST /sql',
  });
}

/** Another caller dropped the frame, or nobody read it for too long. */
export function temporaryGone({ name, position }: TableName, cause: AppError): AppError {
  return new AppError('handle_gone', `the temporary table ${JSON.stringify(name)} is gone`, {
    hint: 'it goes with the session, and when nobody reads it for a day; make it again',
    position,
    cause,
  });
}
