import { FlatbufferTable, InvalidArrow } from './flatbuffer-reader.ts';

/** The metadata of an encapsulated message, without its body. */
export interface MessageHead {
  readonly kind: 'schema' | 'dictionary' | 'batch';
  /** Metadata version V4, where unions have a validity bitmap. */
  readonly isV4: boolean;
  /** The table of the schema, dictionary or record batch. */
  readonly header: FlatbufferTable;
  readonly bodyBytes: number;
  /** For a schema; 0 for other messages. */
  readonly fields: number;
  /** For a record batch; 0 for other messages. */
  readonly rows: number;
}

const kinds: Readonly<Record<number, MessageHead['kind']>> = { 1: 'schema', 2: 'dictionary', 3: 'batch' };
const metadataV4 = 3;
const metadataV5 = 4;

/** Throws InvalidArrow. */
export function readMessageHead(flatbuffer: Uint8Array): MessageHead {
  const message = FlatbufferTable.root(flatbuffer);
  const version = message.int16(0);
  if (version !== metadataV4 && version !== metadataV5) {
    throw new InvalidArrow(`metadata version ${version} is not V4 or V5`);
  }
  const kind = kinds[message.uint8(1)];
  if (kind === undefined) throw new InvalidArrow('it is neither a schema, a dictionary nor a record batch');
  const header = message.table(2);
  if (header === undefined) throw new InvalidArrow('it has no header');
  const bodyBytes = message.int64(3);
  if (bodyBytes < 0) throw new InvalidArrow(`its body claims ${bodyBytes} bytes`);
  const fields = kind === 'schema' ? header.count(1) : 0;
  const rows = kind === 'batch' ? header.int64(0) : 0;
  return { kind, isV4: version === metadataV4, header, bodyBytes, fields, rows };
}

/** Like `readMessageHead`, but undefined for unreadable metadata. For callers that leave the error to the engine. */
export function tryReadMessageHead(flatbuffer: Uint8Array): MessageHead | undefined {
  try {
    return readMessageHead(flatbuffer);
  } catch (error) {
    if (error instanceof InvalidArrow) return undefined;
    throw error;
  }
}
