import { isTenant, type Tenant } from '../callers/principal.ts';
import { AppError } from '../errors/app-error.ts';
import { type FrameName, sharedName } from '../names/frame-name.ts';
import { parseHandle } from '../names/handle.ts';
import { asciiLower } from '../text/ascii-lower.ts';
import { framesCatalog, framesSchema, mainSchema, type TableName, tableText } from './sql.ts';

/**
 * The schema of a table outside of the caller's own frames: the tenant that shares it, in any case. Of `a.t` the first part
 * parses as a schema, also if it is a database.
 */
export function sharedSchema({ catalog, schema }: TableName): string | undefined {
  const owner = schema === undefined ? undefined : asciiLower(schema);
  if (owner === undefined || owner === framesSchema || owner === mainSchema) return undefined;
  return catalog === undefined && owner === framesCatalog ? undefined : owner;
}

/** DuckDB's schema of the table: that of the caller's own frames, by either name, or of the tenant that shares it. */
export function schemaOf(table: TableName): string {
  const isMain = table.schema !== undefined && asciiLower(table.schema) === mainSchema;
  return isMain ? mainSchema : (sharedSchema(table) ?? framesSchema);
}

/** The frame of exactly this name. Throws `invalid_handle` where none can have it. */
export function frameNameOf(tenant: Tenant, table: TableName): FrameName {
  const handle = parseHandle(table.name);
  const owner = sharedSchema(table);
  if (owner === undefined || owner === tenant) return handle;
  if (!isTenant(owner)) throw notReadable(table);
  return sharedName(owner, handle);
}

export function notReadable(table: TableName, position = table.position): AppError {
  return new AppError('sql_forbidden', `${tableText(table)} is not a table that may be read here`, {
    hint: 'name a frame, as "x" or frames."x", or a table of the database analytics; SHOW TABLES lists the frames',
    position,
  });
}

export function notWritable(table: TableName, position = table.position): AppError {
  return new AppError('sql_forbidden', `${tableText(table)} is not a frame`, {
    hint: 'write to a frame, as "x" or frames."x"',
    position,
  });
}
