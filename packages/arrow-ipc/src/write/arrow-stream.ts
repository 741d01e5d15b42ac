import { type Column, joinBytes } from '@framehold/columns';
import { arrowFields } from '../types/arrow-columns.ts';
import type { ArrowField } from '../types/arrow-field.ts';
import { endOfStream, schemaMessage } from './schema-message.ts';
import { arrowTable } from './small-table.ts';

/** The Arrow IPC stream of encapsulated record batches. `schema`: the columns, or the encapsulated message of them. */
export async function* arrowIpcStream(
  schema: readonly Column[] | Uint8Array,
  batches: AsyncIterable<{ readonly bytes: Uint8Array }> | Iterable<{ readonly bytes: Uint8Array }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield schema instanceof Uint8Array ? schema : schemaMessage(arrowFields(schema));
  for await (const { bytes } of batches) yield bytes;
  yield endOfStream;
}

/** A whole Arrow IPC stream of a few rows of plain values, as `arrowTable` takes them. */
export function smallIpcStream(fields: readonly ArrowField[], rows: readonly (readonly unknown[])[]): Uint8Array {
  return joinBytes([schemaMessage(fields), arrowTable(fields, rows), endOfStream]);
}
