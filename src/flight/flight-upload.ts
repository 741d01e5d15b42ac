import { AppError } from '../core/app-error.ts';
import { endOfStream } from '../encoding/arrow/schema-message.ts';
import { FlightData, type FlightDataMessage } from '../protobuf/flight-messages.ts';
import type { FlightUpload } from './flight-sql-port.ts';
import { UploadCounts } from './upload-counts.ts';

/** The first message is held for as long as the upload takes. A schema of ten thousand columns has one. */
const longestFirstMessage = 16 * 1024 * 1024;

/** Waits for the first message of an upload. */
export async function openUpload(requests: AsyncIterable<Uint8Array>): Promise<FlightUpload> {
  const iterator = requests[Symbol.asyncIterator]();
  const begun = await iterator.next();
  if (begun.done === true) {
    throw new AppError('invalid_input', 'the upload ended before its first message', {
      hint: 'the first message carries the descriptor and the schema; of a table without batches ADBC sends nothing: give it a record batch of no rows',
    });
  }
  if (begun.value.length > longestFirstMessage) {
    throw new AppError(
      'too_large',
      `the first message of the upload has ${begun.value.length} bytes; it may have ${longestFirstMessage}`,
      { hint: 'the first message carries the descriptor and the schema, and no rows' },
    );
  }
  const first = FlightData.decode(begun.value);
  const ahead: FlightDataMessage[] = [];
  const counts = new UploadCounts();
  return {
    first,
    counts,
    async metadata() {
      if (first.appMetadata.length > 0) return first.appMetadata;
      for (;;) {
        const step = await iterator.next();
        if (step.done === true) return first.appMetadata;
        const message = FlightData.decode(step.value);
        const { dataHeader, dataBody, appMetadata } = message;
        if (dataHeader.length > 0 || dataBody.length > 0) ahead.push(message);
        if (appMetadata.length > 0 || ahead.length > 0) return appMetadata;
      }
    },
    async *ipcStream() {
      const encapsulated = (message: FlightDataMessage): Iterable<Uint8Array> => {
        counts.add(message.dataHeader);
        return ipcMessage(message);
      };
      yield* encapsulated(first);
      for (const message of ahead.splice(0)) yield* encapsulated(message);
      for await (const message of { [Symbol.asyncIterator]: () => iterator })
        yield* encapsulated(FlightData.decode(message));
      yield endOfStream;
    },
  };
}

/** The message as Arrow IPC encapsulates it; nothing of one that carries metadata only. */
function* ipcMessage({ dataHeader, dataBody }: FlightDataMessage): Generator<Uint8Array> {
  if (dataHeader.length === 0) {
    if (dataBody.length > 0) throw new AppError('invalid_input', 'a message of the upload has a body but no header');
    return;
  }
  const padded = Math.ceil(dataHeader.length / 8) * 8;
  const head = Buffer.alloc(8 + padded);
  head.writeUInt32LE(0xffff_ffff, 0);
  head.writeUInt32LE(padded, 4);
  head.set(dataHeader, 8);
  yield head;
  if (dataBody.length > 0) yield dataBody;
}
