import { arrowFields, schemaMessage, schemaMessageSteps } from '@framehold/arrow-ipc';
import { inTurns } from '@framehold/async';
import type { Column } from '@framehold/columns';

/** By the list itself: all requests for a version of a frame, or for the same statement again, have the same one. */
const known = new WeakMap<readonly Column[], Uint8Array>();

/** The encapsulated schema message of columns. */
export function arrowSchema(columns: readonly Column[]): Uint8Array {
  let schema = known.get(columns);
  if (schema === undefined) {
    schema = schemaMessage(arrowFields(columns));
    known.set(columns, schema);
  }
  return schema;
}

/** So many fields are encoded in some milliseconds. */
const fewFields = 200;

/** Before `arrowSchema` of columns that may be many: it knows the schema then, and others had their turns meanwhile. */
export async function prepareArrowSchema(columns: readonly Column[], lane: string): Promise<void> {
  if (columns.length <= fewFields || known.has(columns)) return;
  known.set(columns, await inTurns(schemaMessageSteps(arrowFields(columns)), lane));
}
