const endOfStream = 0;
const prefixBytes = 8;
/** A longer head is not waited for. */
const maxHeadBytes = 2 ** 24;
const headerType = { schema: 1, recordBatch: 3 } as const;

/**
 * Counts the columns and rows of an Arrow IPC stream as its bytes go by. What it cannot read it leaves to the engine, which says what
 * is wrong with it.
 */
export class IpcCounts {
  columns = 0;
  rows = 0;
  #head: Buffer = Buffer.alloc(0);
  #bodyLeft = 0;
  #ended = false;

  async *counting(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      this.add(chunk);
      yield chunk;
    }
  }

  add(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0 && !this.#ended) {
      const skipped = Math.min(this.#bodyLeft, rest.length);
      this.#bodyLeft -= skipped;
      rest = rest.subarray(skipped);
      if (rest.length > 0) rest = this.#readHead(rest);
    }
  }

  /** Gives what follows the head, nothing when more of it is to come. */
  #readHead(bytes: Uint8Array): Uint8Array {
    const known = this.#head.length;
    const head =
      known === 0 ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : Buffer.concat([this.#head, bytes]);
    const flatbufferBytes = head.length < prefixBytes ? undefined : head.readUInt32LE(4);
    if (flatbufferBytes === endOfStream || (flatbufferBytes ?? 0) > maxHeadBytes) this.#ended = true;
    if (flatbufferBytes === undefined || head.length < prefixBytes + flatbufferBytes) {
      this.#head = Buffer.from(head);
      return bytes.subarray(bytes.length);
    }
    this.#head = Buffer.alloc(0);
    try {
      this.#bodyLeft = this.#count(head.subarray(prefixBytes, prefixBytes + flatbufferBytes));
    } catch {
      this.#ended = true;
    }
    return bytes.subarray(prefixBytes + flatbufferBytes - known);
  }

  /** Gives the length of the body. */
  #count(flatbuffer: Buffer): number {
    const message = flatbuffer.readUInt32LE(0);
    const typeAt = slot(flatbuffer, message, 1);
    const tableAt = slot(flatbuffer, message, 2);
    const bodyAt = slot(flatbuffer, message, 3);
    if (typeAt !== undefined && tableAt !== undefined) {
      const table = tableAt + flatbuffer.readUInt32LE(tableAt);
      const type = flatbuffer.readUInt8(typeAt);
      if (type === headerType.schema) {
        const fieldsAt = slot(flatbuffer, table, 1);
        if (fieldsAt !== undefined)
          this.columns = flatbuffer.readUInt32LE(fieldsAt + flatbuffer.readUInt32LE(fieldsAt));
      } else if (type === headerType.recordBatch) {
        const lengthAt = slot(flatbuffer, table, 0);
        if (lengthAt !== undefined) this.rows += Number(flatbuffer.readBigInt64LE(lengthAt));
      }
    }
    return bodyAt === undefined ? 0 : Number(flatbuffer.readBigInt64LE(bodyAt));
  }
}

/** Where a table of a flatbuffer has its field of that number; undefined when it is left out. */
function slot(flatbuffer: Buffer, table: number, number: number): number | undefined {
  const vtable = table - flatbuffer.readInt32LE(table);
  const entry = 4 + 2 * number;
  if (entry >= flatbuffer.readUInt16LE(vtable)) return undefined;
  const offset = flatbuffer.readUInt16LE(vtable + entry);
  return offset === 0 ? undefined : table + offset;
}
