import { CodedError, type CodedErrorOptions } from '@framehold/columns';
import { InvalidArrow } from './flatbuffer-reader.ts';
import { type MessageHead, readMessageHead } from './message-head.ts';

/** The place of a message in its stream, for errors. */
export interface MessagePlace {
  /** From 1; the schema is the first. */
  readonly number: number;
  readonly byteOffset: number;
}

export interface ArrowMessage extends MessagePlace, Omit<MessageHead, 'bodyBytes'> {
  /** Aligned to 8 bytes, in memory that does not move. That of a batch may be used again for the next one. */
  readonly body: Uint8Array;
}

const continuation = 0xffff_ffff;
/** Opens the file format, which holds the messages of a stream between this and an index. */
const fileMagic = Buffer.from('ARROW1\0\0');
const maxMetadataBytes = 16 * 1024 * 1024;
/** A body is held whole. Its memory is taken at once, but costs nothing before bytes arrive. */
export const maxBodyBytes = 512 * 1024 * 1024;
/** Longer bodies have memory of their own, which is free after its last use. */
const mostSharedBytes = 16 * 1024 * 1024;

export function invalidAt(place: MessagePlace, what: string, options: CodedErrorOptions = {}): CodedError {
  return new CodedError(
    'invalid_input',
    `invalid Arrow stream: message ${place.number} at byte ${place.byteOffset}: ${what}`,
    options,
  );
}

/** Says where in the stream an error stands. */
export function readAt<T>(place: MessagePlace, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof InvalidArrow ? invalidAt(place, error.message, { cause: error }) : error;
  }
}

/**
 * Cuts an Arrow IPC stream or file into messages, one at a time. The body of a batch is valid until the next message is read:
 * fresh memory for each costs more than its processing. A piece of the input must be valid no longer than that.
 */
export async function* arrowMessages(input: AsyncIterable<Uint8Array>): AsyncGenerator<ArrowMessage, void, undefined> {
  await using bytes = new ByteReader(input);
  let batchMemory = new Uint8Array(0);
  const prefix = Buffer.alloc(8);
  let isFile = false;
  for (let number = 1; ; number++) {
    const place = { number, byteOffset: bytes.position };
    const got = await bytes.read(prefix);
    if (got === 0 && !isFile) return;
    if (number === 1 && !isFile && prefix.equals(fileMagic)) {
      isFile = true;
      number = 0;
      continue;
    }
    if (got === 0) throw invalidAt(place, 'the file ends without its end mark');
    const isMessage = prefix.readUInt32LE(0) === continuation;
    if (isFile && number === 1 && !isMessage) throw schemaAtEnd(place);
    if (!isMessage) throw invalidAt(place, 'it does not begin with FFFFFFFF');
    if (got < prefix.length) throw invalidAt(place, 'the stream ends inside it');
    const metadataBytes = prefix.readInt32LE(4);
    if (metadataBytes === 0) {
      if (!isFile && (await bytes.read(Buffer.alloc(1))) > 0) {
        throw invalidAt(place, 'bytes follow the end of the stream');
      }
      return;
    }
    if (metadataBytes < 0 || metadataBytes > maxMetadataBytes) {
      throw invalidAt(place, `its metadata claims ${metadataBytes} bytes (at most ${maxMetadataBytes})`);
    }
    const metadata = await readAll(bytes, newMemory(metadataBytes), place);
    const { bodyBytes, ...message } = openMessage(metadata, place);
    if (isFile && number === 1 && message.kind !== 'schema') throw schemaAtEnd(place);
    const isShared = message.kind === 'batch' && bodyBytes <= mostSharedBytes;
    if (isShared && batchMemory.length < bodyBytes) batchMemory = newMemory(bodyBytes);
    const memory = isShared ? batchMemory.subarray(0, bodyBytes) : newMemory(bodyBytes);
    const body = await readAll(bytes, memory, place);
    yield { ...place, ...message, body };
  }
}

/** For a file whose batches are found by its end alone, as Polars 2 and apache-arrow for JavaScript write it. */
function schemaAtEnd(place: MessagePlace): CodedError {
  return invalidAt(place, 'the file has its schema only at its end', {
    hint: "write the stream format instead (Polars: write_ipc_stream; apache-arrow: tableToIPC(table, 'stream'))",
  });
}

function openMessage(metadata: Uint8Array, place: MessagePlace): MessageHead {
  const head = readAt(place, () => readMessageHead(metadata));
  if (head.bodyBytes <= maxBodyBytes) return head;
  throw new CodedError('too_large', `message ${place.number} holds ${head.bodyBytes} bytes (at most ${maxBodyBytes})`, {
    hint: 'send the rows in smaller record batches',
  });
}

function newMemory(bytes: number): Uint8Array<ArrayBuffer> {
  return Buffer.allocUnsafeSlow(bytes);
}

async function readAll(bytes: ByteReader, target: Uint8Array, place: MessagePlace): Promise<Uint8Array> {
  if ((await bytes.read(target)) < target.length) throw invalidAt(place, 'the stream ends inside it');
  return target;
}

/** Exact amounts out of a stream of pieces. */
class ByteReader {
  position = 0;
  readonly #input: AsyncIterator<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);
  #done = false;

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#input = input[Symbol.asyncIterator]();
  }

  /** Fills the target; gives fewer bytes only where the stream ends. */
  async read(target: Uint8Array): Promise<number> {
    let filled = 0;
    while (filled < target.length) {
      if (this.#piece.length === 0) {
        if (this.#done) break;
        await this.#next();
        continue;
      }
      const taken = Math.min(this.#piece.length, target.length - filled);
      target.set(this.#piece.subarray(0, taken), filled);
      this.#piece = this.#piece.subarray(taken);
      filled += taken;
    }
    this.position += filled;
    return filled;
  }

  async #next(): Promise<void> {
    const next = await this.#input.next();
    if (next.done === true) this.#done = true;
    else this.#piece = next.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#done) await this.#input.return?.();
  }
}
