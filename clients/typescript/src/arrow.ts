import { type RecordBatch, RecordBatchReader, type Table, tableFromIPC, tableToIPC } from 'apache-arrow';
import type { Reader } from './selection.ts';

/** Rows as a table of apache-arrow: `await db.get('trades').read(arrow)`. */
export const arrow: Reader<Table> = {
  format: 'arrow',
  read: (bytes) => tableFromIPC(bytes),
};

/** Record batches as they come: `for await (const batch of await db.get('trades').read(arrowBatches))`. */
export const arrowBatches: Reader<AsyncIterable<RecordBatch>> = {
  format: 'arrow',
  read: async (bytes) => (await RecordBatchReader.from(bytes)) as AsyncIterable<RecordBatch>,
};

/** The bytes of a table, to be put: `await db.put('trades', arrowBytes(table))`. */
export function arrowBytes(table: Table): Uint8Array {
  return tableToIPC(table, 'stream');
}
