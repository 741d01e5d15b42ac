import { tryReadMessageHead } from '@framehold/arrow-ipc';
import type { ByteReader } from './byte-reader.ts';

const fileMagic = Buffer.from('ARROW1\0\0');
const continuation = Buffer.from([0xff, 0xff, 0xff, 0xff]);
/** Headers grow with the number of columns; this is enough for a hundred thousand. */
const maxHeaderBytes = 64 * 1024 * 1024;

/** A message of Arrow IPC. */
export interface ArrowMessage {
  /** The flatbuffer, perhaps with its padding. */
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

/** Whether the bytes begin like an Arrow IPC file or stream. */
export function isArrow(start: Uint8Array): boolean {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength);
  return bytes.subarray(0, 6).equals(fileMagic.subarray(0, 6)) || bytes.subarray(0, 4).equals(continuation);
}

/** The bytes are not, or no longer, Arrow IPC. The message completes "x.arrow …". */
export class ArrowFormatError extends Error {
  override readonly name = 'ArrowFormatError';
}

/** The messages of an Arrow IPC file or stream, in their order. The footer of a file is not needed and not read. */
export async function* readArrow(reader: ByteReader): AsyncGenerator<ArrowMessage, void, undefined> {
  const isFile = (await reader.peek(fileMagic.length)).equals(fileMagic);
  if (isFile) await reader.read(fileMagic.length);
  for (let isFirst = true; ; isFirst = false) {
    const prefix = await reader.read(8);
    if (prefix.length === 0 && !isFile) return;
    if (prefix.length < 8) throw new ArrowFormatError('is cut off');
    if (!prefix.subarray(0, 4).equals(continuation)) throw new ArrowFormatError('is not valid Arrow IPC');
    const headerBytes = prefix.readUInt32LE(4);
    if (headerBytes === 0) return;
    if (headerBytes > maxHeaderBytes) throw new ArrowFormatError('is not valid Arrow IPC');
    const header = await readWhole(reader, headerBytes);
    const head = tryReadMessageHead(header);
    if (head === undefined) throw new ArrowFormatError('is not valid Arrow IPC');
    if (isFirst && head.kind !== 'schema') {
      // As apache-arrow for JavaScript writes files: the schema only stands in the footer.
      throw new ArrowFormatError('does not begin with its schema; write it in the streaming format');
    }
    yield { header, body: await readWhole(reader, head.bodyBytes) };
  }
}

/** Flight carries a record batch as one message of at most this size. */
const maxBodyBytes = 256 * 1024 * 1024;

async function readWhole(reader: ByteReader, length: number): Promise<Buffer> {
  if (length > maxBodyBytes) {
    throw new ArrowFormatError(`has a record batch of ${length} bytes; write it in smaller batches, or as Parquet`);
  }
  const bytes = await reader.read(length);
  if (bytes.length < length) throw new ArrowFormatError('is cut off');
  return bytes;
}
