import { anonymous } from '../core/principal.ts';
import { PutResult } from '../protobuf/flight-messages.ts';
import type { MessageReader } from '../protobuf/message-frames.ts';
import { parseDescriptor } from './descriptor.ts';
import { openUpload } from './flight-upload.ts';
import type { FlightParts } from './get-flight-info.ts';
import type { Call, Message } from './method.ts';
import { parsePutOptions } from './put-options.ts';

/** Keeps an upload as a frame. The one answer comes when the frame is on disk for good. */
export async function* doPut(
  { frames, sql }: FlightParts,
  requests: MessageReader,
  call: Call,
): AsyncGenerator<Message> {
  const upload = await openUpload(requests);
  const { first } = upload;
  const descriptor = parseDescriptor(first.descriptor);
  const ofSql = descriptor.kind === 'command' ? sql.doPut(descriptor.command, upload, call) : undefined;
  if (ofSql !== undefined) {
    yield* ofSql;
    return;
  }
  const options = parsePutOptions(descriptor, await upload.metadata(), call.metadata);
  const held = await frames.put(
    anonymous,
    { ...options, source: { kind: 'arrow', stream: upload.ipcStream() } },
    { signal: call.signal },
  );
  const { handle, rows, bytes, version } = held;
  yield PutResult.encode({ appMetadata: Buffer.from(JSON.stringify({ handle, rows, bytes, version })) });
}
