import { sqlName } from '@framehold/columns';
import type { Principal, Tenant } from '../../core/callers/principal.ts';
import { sharedName } from '../../core/names/frame-name.ts';
import type { Handle } from '../../core/names/handle.ts';
import { type FrameTable, framesCatalog, framesSchema, type TableName } from '../../core/sql/sql.ts';
import { schemaOf, sharedSchema } from '../../core/sql/table-name.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';

/** The schema of a table in the engine. Undefined: that of the frames. */
export function engineSchema(table: TableName): string | undefined {
  const schema = schemaOf(table);
  return schema === framesSchema ? undefined : schema;
}

/** By the engine's name for it, in any case. */
export function tableKey({ schema, name }: Pick<FrameTable, 'name' | 'schema'>): string {
  return JSON.stringify([schema, asciiLower(name)]);
}

/** `"framehold"."owner"."handle"`: a name that means the same for every reader. */
export function fullName(frame: string): string {
  const at = frame.indexOf('/');
  return [framesCatalog, frame.slice(0, at), frame.slice(at + 1)].map(sqlName).join('.');
}

/** `owner/handle` of the frame that was found under a name. */
export function frameBehind(handle: Handle, { tenant }: Principal, table: TableName): string {
  return sharedName((sharedSchema(table) ?? tenant) as Tenant, handle);
}

/** Without the schema of one's own frames. */
export function shownName(table: TableName): string {
  const owner = sharedSchema(table);
  return owner === undefined ? table.name : `${owner}.${table.name}`;
}
