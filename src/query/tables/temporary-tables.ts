import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Definition } from '../../core/sql/definition.ts';
import type { Query, TableName } from '../../core/sql/sql.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';

/** Tables, views, macros and types that only one session finds. A table or view is held under a handle that the server made. */
export interface TemporaryTables {
  /** Names in lower case. */
  readonly handles: ReadonlyMap<string, Handle>;
  /** Undefined: there is none of that name any more. */
  set(name: string, handle: Handle | undefined): void;
  /** Macros and types, by their keys. */
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Undefined: there is none of that key any more. */
  define(key: string, definition: Definition | undefined): void;
}

/** For a session that does not end before: a table that is not read for a day is dropped. */
export const temporaryTtlMs = 24 * 3_600_000;

/** The frame behind a name of the session, which goes before a frame of that name. */
export function temporaryHandle(tables: TemporaryTables | undefined, table: TableName): Handle | undefined {
  const isPlain = table.catalog === undefined && table.schema === undefined;
  return isPlain ? tables?.handles.get(asciiLower(table.name)) : undefined;
}

/** The tables of the session, where there is one. */
export function ofSession(
  tables: TemporaryTables | undefined,
  what: 'TABLE' | 'VIEW' | 'MACRO' | 'TYPE',
  named?: TableName,
): TemporaryTables {
  if (named?.catalog !== undefined || named?.schema !== undefined) {
    const { name, position } = named;
    throw new AppError('sql_error', `a temporary ${what.toLowerCase()} is in no schema`, {
      hint: `name it "${name}" alone`,
      position,
    });
  }
  if (tables !== undefined) return tables;
  const instead =
    what === 'TABLE'
      ? 'keep the rows with a time to live: "keep": {"handle": …, "ttl": "15m"} of POST /sql'
      : `make a ${what.toLowerCase()} that stays, and drop it afterwards`;
  throw new AppError('sql_forbidden', `CREATE TEMP ${what} needs a session, and there is none`, {
    hint: `over Flight SQL keep the cookies of the server and set an option by SetSessionOptions, or send the token of a Handshake. Over HTTP ${instead}`,
  });
}

/** Refuses a query over temporary tables in a definition that outlives the session. */
export function refuseTemporary(
  reader: 'a view' | 'a macro',
  { tables }: Pick<Query, 'tables'>,
  session: TemporaryTables | undefined,
): void {
  const found = tables.find((read) => temporaryHandle(session, read) !== undefined);
  if (found === undefined) return;
  const { name, position } = found;
  throw new AppError('sql_forbidden', `${reader} cannot read the temporary table ${JSON.stringify(name)}`, {
    hint: `${reader} stays longer than the session: make a frame of it, CREATE TABLE "x" AS …`,
    position,
  });
}

/** A table or view of the session has that name already. */
export function temporaryExists({ name }: TableName): AppError {
  return new AppError('handle_exists', `the session has a temporary table or view ${JSON.stringify(name)}`, {
    hint: 'CREATE OR REPLACE TEMP … replaces it, INSERT INTO appends to a table',
  });
}

/** Another caller dropped the frame, or it was not read for too long. */
export function temporaryGone({ name, position }: TableName, cause: AppError): AppError {
  return new AppError('handle_gone', `the temporary table ${JSON.stringify(name)} is gone`, {
    hint: 'it goes with the session, and when nobody reads it for a day; make it again',
    position,
    cause,
  });
}
