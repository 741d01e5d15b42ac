import { encapsulated, endOfStream, tryReadMessageHead } from '@framehold/arrow-ipc';
import { lastField, type MessageReader } from '@framehold/grpc';
import { FlightData, type FlightDataMessage, flightDataBody } from '@framehold/grpc/flight';
import { AppError } from '../../core/errors/app-error.ts';
import type { FlightUpload } from './flight-sql-port.ts';
import { UploadCounts } from './upload-counts.ts';

/** The first message is held for as long as the upload takes. A schema of ten thousand columns has one. */
const longestFirstMessage = 16 * 1024 * 1024;

/** Dictionaries come before the first record batch, which may carry the upload's options. */
const mostBytesAhead = 16 * 1024 * 1024;
/** Memory of a message, beside its bytes. */
const messageCost = 1024;

/** Waits for the first message of an upload. */
export async function openFlightUpload(requests: MessageReader): Promise<FlightUpload> {
  const messages = new UploadMessages(requests);
  const first = await messages.first();
  /** Read by `metadata`. The body of the last one may still be incomplete. */
  const ahead: FlightDataMessage[] = [];
  let isMetadataLate = false;
  const counts = new UploadCounts();
  return {
    first,
    counts,
    keep: (bytes) => requests.keep(bytes),
    async metadata() {
      if (first.appMetadata.length > 0) return first.appMetadata;
      for (let held = 0; ; ) {
        const message = await messages.next();
        if (message === undefined) return first.appMetadata;
        if (message.dataHeader.length > 0) ahead.push(message);
        if (message.appMetadata.length > 0) return message.appMetadata;
        if (message.dataHeader.length === 0) continue;
        if (!isDictionary(message.dataHeader)) return message.appMetadata;
        held += messageCost + message.dataHeader.length + message.dataBody.length + messages.left;
        if (held > mostBytesAhead) {
          isMetadataLate = true;
          return message.appMetadata;
        }
        ahead[ahead.length - 1] = await messages.whole(message);
      }
    },
    async *ipcStream() {
      const counted = (message: FlightDataMessage): Iterable<Uint8Array> => {
        counts.add(message.dataHeader);
        return ipcMessage(message);
      };
      try {
        yield* counted(first);
        for (const message of ahead.splice(0)) yield* counted(message);
        yield* messages.restOfBody();
        for (let message = await messages.next(); message !== undefined; message = await messages.next()) {
          if (isMetadataLate) {
            if (message.appMetadata.length > 0) throw lateMetadata();
            if (message.dataHeader.length > 0) isMetadataLate = isDictionary(message.dataHeader);
          }
          yield* counted(message);
          yield* messages.restOfBody();
        }
        yield endOfStream;
      } finally {
        await requests.leave();
      }
    },
  };
}

/** The messages of an upload. Bodies, which may be large, are not joined: `dataBody` is the received part of one. */
class UploadMessages {
  readonly #requests: MessageReader;
  #left = 0;

  constructor(requests: MessageReader) {
    this.#requests = requests;
  }

  /** With its body, if it has any. */
  async first(): Promise<FlightDataMessage> {
    const piece = await this.#requests.piece();
    if (piece === undefined) {
      throw new AppError('invalid_input', 'the upload ended before its first message', {
        hint: 'the first message carries the descriptor and the schema; of a table without batches ADBC sends nothing: give it a record batch of no rows',
      });
    }
    const length = piece.bytes.length + piece.left;
    if (length > longestFirstMessage) {
      throw new AppError(
        'too_large',
        `the first message of the upload has ${length} bytes; it may have ${longestFirstMessage}`,
        { hint: 'the first message carries the descriptor and the schema, and no rows' },
      );
    }
    const first = checked(FlightData.decode(await this.#requests.whole(piece)));
    // The message may be much larger than its known part.
    if (piece.left > 0 && 2 * bytesOf(first) > length) {
      this.#requests.retain();
      return first;
    }
    this.#requests.drop();
    await this.#requests.keep(bytesOf(first));
    return copied(first);
  }

  /** Undefined at the end. The rest of its body, if any, must be read before the next one. */
  async next(): Promise<FlightDataMessage | undefined> {
    const piece = await this.#requests.piece();
    if (piece === undefined) return undefined;
    const { bytes, left } = piece;
    const body = left === 0 ? undefined : lastField(bytes, bytes.length + left, flightDataBody);
    if (body === undefined) return checked(FlightData.decode(await this.#requests.whole(piece)));
    this.#left = left;
    const head = FlightData.decode(bytes.subarray(0, body.from));
    return checked({ ...head, dataBody: bytes.subarray(body.bytesFrom) }, left);
  }

  /** Bytes of the last message's body that are still to come. */
  get left(): number {
    return this.#left;
  }

  /** The last message that was read, with its whole body, in memory of its own: a view would hold the bytes around it. */
  async whole(message: FlightDataMessage): Promise<FlightDataMessage> {
    const pieces = [message.dataBody];
    await this.#requests.keep(messageCost + message.dataHeader.length + message.dataBody.length);
    for await (const piece of this.restOfBody()) {
      await this.#requests.keep(piece.length);
      pieces.push(piece);
    }
    const dataHeader = Buffer.concat([message.dataHeader]);
    return { descriptor: undefined, dataHeader, appMetadata: Buffer.alloc(0), dataBody: Buffer.concat(pieces) };
  }

  async *restOfBody(): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.#left > 0) {
      const piece = await this.#requests.piece();
      if (piece === undefined) return;
      this.#left = piece.left;
      yield piece.bytes;
    }
  }
}

/** In memory of its own. */
function copied({ descriptor, dataHeader, appMetadata, dataBody }: FlightDataMessage): FlightDataMessage {
  const copy = (bytes: Uint8Array): Buffer => Buffer.concat([bytes]);
  return {
    descriptor: descriptor && copy(descriptor),
    dataHeader: copy(dataHeader),
    appMetadata: copy(appMetadata),
    dataBody: copy(dataBody),
  };
}

function bytesOf({ descriptor, dataHeader, appMetadata, dataBody }: FlightDataMessage): number {
  return (descriptor?.length ?? 0) + dataHeader.length + appMetadata.length + dataBody.length;
}

function isDictionary(header: Uint8Array): boolean {
  return tryReadMessageHead(header)?.kind === 'dictionary';
}

function lateMetadata(): AppError {
  return new AppError(
    'invalid_input',
    `app_metadata came behind more than ${mostBytesAhead} bytes of dictionaries, which is too late for the upload's options`,
    {
      hint: 'send it with the schema or in a message of its own before the rows, or use the headers framehold-mode and framehold-ttl',
    },
  );
}

function checked(message: FlightDataMessage, left = 0): FlightDataMessage {
  if (message.dataHeader.length === 0 && message.dataBody.length + left > 0) {
    throw new AppError('invalid_input', 'a message of the upload has a body but no header');
  }
  return message;
}

/** The message as Arrow IPC encapsulates it; nothing for one with metadata only. */
function* ipcMessage({ dataHeader, dataBody }: FlightDataMessage): Generator<Uint8Array> {
  if (dataHeader.length === 0) return;
  yield encapsulated(dataHeader, 8);
  if (dataBody.length > 0) yield dataBody;
}
