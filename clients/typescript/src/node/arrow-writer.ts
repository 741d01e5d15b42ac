import { encapsulated, endOfStream, tryReadMessageHead } from '@framehold/arrow-ipc';
import type { ArrowMessage } from './arrow-reader.ts';

const magic = Buffer.from('ARROW1');
const blockBytes = 24;
const metadataVersion5 = 4;

/** Arrow's streaming format (`.arrows`). */
export async function* arrowStream(messages: AsyncIterable<ArrowMessage>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const message of messages) yield* piecesOf(message);
  yield endOfStream;
}

/** Arrow's file format (`.arrow`), also known as Feather: the stream, and a footer with the place of each batch. */
export async function* arrowFile(messages: AsyncIterable<ArrowMessage>): AsyncGenerator<Uint8Array, void, undefined> {
  const start = Buffer.concat([magic, Buffer.alloc(2)]);
  yield start;
  let at = start.length;
  let schema: Uint8Array | undefined;
  const blocks: Record<'dictionary' | 'batch', Block[]> = { dictionary: [], batch: [] };
  for await (const message of messages) {
    const pieces = piecesOf(message);
    const headerBytes = pieces[0]?.length ?? 0;
    const kind = tryReadMessageHead(message.header)?.kind;
    if (kind === 'schema') schema = message.header;
    else if (kind !== undefined) blocks[kind].push({ at, headerBytes, bodyBytes: message.body.length });
    for (const piece of pieces) at += piece.length;
    yield* pieces;
  }
  yield endOfStream;
  if (schema === undefined) throw new Error('an Arrow stream without a schema');
  const footer = footerOf(schema, blocks.dictionary, blocks.batch);
  const length = Buffer.alloc(4);
  length.writeInt32LE(footer.length);
  yield Buffer.concat([footer, length, magic]);
}

/** The header, then the body, both padded to a multiple of 8. */
function piecesOf({ header, body }: ArrowMessage): Uint8Array[] {
  const padding = padded(body.length) - body.length;
  return [encapsulated(header, 8), ...(body.length > 0 ? [body] : []), ...(padding > 0 ? [Buffer.alloc(padding)] : [])];
}

function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

interface Block {
  readonly at: number;
  readonly headerBytes: number;
  readonly bodyBytes: number;
}

/**
 * The flatbuffer `Footer { version, schema, dictionaries, recordBatches }`. Offsets in flatbuffers are relative, so the
 * schema need not be written again: its message stands at the end as it came, and the field points into it.
 */
function footerOf(schema: Uint8Array, dictionaries: readonly Block[], batches: readonly Block[]): Buffer {
  const tableAt = 16;
  const dictionariesAt = 36;
  const batchesAt = dictionariesAt + 8 + dictionaries.length * blockBytes;
  const schemaAt = batchesAt + 4 + batches.length * blockBytes;
  const footer = Buffer.alloc(schemaAt + padded(schema.length));
  footer.writeUInt32LE(tableAt, 0);
  // The table of offsets: its own size, the table's, and where in that each of the four fields is.
  for (const [index, value] of [12, 18, 16, 4, 8, 12].entries()) footer.writeUInt16LE(value, 4 + 2 * index);
  footer.writeInt32LE(tableAt - 4, tableAt);
  const pointTo = (fieldAt: number, target: number): number => footer.writeUInt32LE(target - fieldAt, fieldAt);
  pointTo(tableAt + 4, schemaAt + (tryReadMessageHead(schema)?.header.at ?? 0));
  pointTo(tableAt + 8, dictionariesAt);
  pointTo(tableAt + 12, batchesAt);
  footer.writeInt16LE(metadataVersion5, tableAt + 16);
  writeBlocks(footer, dictionariesAt, dictionaries);
  writeBlocks(footer, batchesAt, batches);
  footer.set(schema, schemaAt);
  return footer;
}

function writeBlocks(footer: Buffer, vectorAt: number, blocks: readonly Block[]): void {
  footer.writeUInt32LE(blocks.length, vectorAt);
  blocks.forEach(({ at, headerBytes, bodyBytes }, index) => {
    const blockAt = vectorAt + 4 + index * blockBytes;
    footer.writeBigInt64LE(BigInt(at), blockAt);
    footer.writeInt32LE(headerBytes, blockAt + 8);
    footer.writeBigInt64LE(BigInt(bodyBytes), blockAt + 16);
  });
}
