import type { Message, MessageReader } from '@framehold/grpc';
import { PutResult } from '@framehold/grpc/flight';
import { parseProducer, refuseProducer } from '../core/callers/producer.ts';
import { appendBatches } from './append-batches.ts';
import type { Call } from './call.ts';
import { openFlightUpload } from './data/flight-upload.ts';
import type { FlightParts } from './get-flight-info.ts';
import { parseDescriptor } from './request/descriptor.ts';
import { parsePutOptions } from './request/put-options.ts';

/** Stores an upload as a frame. The answer comes when the frame is durable; with acks by the batch, one for each. */
export async function* doPut(
  { frames, sql }: FlightParts,
  requests: MessageReader,
  call: Call,
): AsyncGenerator<Message> {
  const upload = await openFlightUpload(requests);
  const { first } = upload;
  const descriptor = parseDescriptor(first.descriptor);
  const ofSql = descriptor.kind === 'command' ? sql.doPut(descriptor.command, upload, call) : undefined;
  if (ofSql !== undefined) {
    yield* ofSql;
    return;
  }
  const { ack, ...options } = parsePutOptions(descriptor, await upload.metadata(), call.metadata);
  const producer = parseProducer(call.metadata);
  if (options.mode !== 'append') refuseProducer(producer, 'nothing is appended');
  if (ack === 'batch') {
    const { principal, signal, lane } = call;
    yield* appendBatches(frames, options, upload, { principal, signal, lane, producer });
    return;
  }
  const held = await frames.put(
    call.principal,
    { ...options, producer, source: { kind: 'arrow', stream: upload.ipcStream() } },
    { signal: call.signal, lane: call.lane },
  );
  const { handle, rows, bytes, version, isRepeated } = held;
  const answer = { handle, rows, bytes, version, ...(isRepeated && { repeated: true }) };
  yield PutResult.encode({ appMetadata: Buffer.from(JSON.stringify(answer)) });
}
