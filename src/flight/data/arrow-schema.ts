import { arrowFields, schemaMessage, schemaMessageSteps } from '@framehold/arrow-ipc';
import { inTurns } from '@framehold/async';
import type { Column } from '@framehold/columns';

/** By the list itself: all requests for a version of a frame, or for the same statement again, have the same one. */
const known = new WeakMap<readonly Column[], Uint8Array>();

/** So many fields are encoded in some milliseconds. */
const fewFields = 200;

/** The encapsulated schema message of columns. Where they are many, others have their turns while it is made. */
export async function arrowSchema(columns: readonly Column[], lane: string): Promise<Uint8Array> {
  let schema = known.get(columns);
  if (schema === undefined) {
    const fields = arrowFields(columns);
    schema = columns.length > fewFields ? await inTurns(schemaMessageSteps(fields), lane) : schemaMessage(fields);
    known.set(columns, schema);
  }
  return schema;
}
