import type { Column } from '../../core/data-type.ts';
import { arrowFields } from '../../encoding/arrow/types/arrow-columns.ts';
import { schemaMessage } from '../../encoding/arrow/write/schema-message.ts';

/** By the list itself: all who ask for a version of a frame, or for the same statement again, have the same one. */
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
