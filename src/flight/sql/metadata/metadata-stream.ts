import { type ArrowField, arrowTable, schemaMessage } from '@framehold/arrow-ipc';
import { lightBytes, ownTurn, WorkSlices } from '@framehold/async';
import type { Message } from '@framehold/grpc';
import { batchData, schemaData } from '../../data/flight-data.ts';

const batchRows = 1000;
const batchBytes = 512 * 1024;

type Row = readonly unknown[];

/** Rows as FlightData: the schema, then batches well under the 4 MiB that some clients take. */
export async function* metadataStream(
  fields: readonly ArrowField[],
  rows: AsyncIterable<Row> | Iterable<Row>,
  lane: string,
): AsyncGenerator<Message> {
  yield schemaData(schemaMessage(fields));
  let batch: Row[] = [];
  let bytes = 0;
  const slices = new WorkSlices(lane);
  for await (const row of rows) {
    await slices.rest();
    batch.push(row);
    for (const value of row) if (value instanceof Uint8Array) bytes += value.length;
    if (batch.length < batchRows && bytes < batchBytes) continue;
    if (bytes > lightBytes) await ownTurn(lane);
    yield batchData(arrowTable(fields, batch));
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batchData(arrowTable(fields, batch));
}
